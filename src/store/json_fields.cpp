#include "store/json_fields.hpp"

#include <fmt/core.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "wisecrowd/error.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd::store {
namespace {

template <class Io>
void estimate_fields(Io& io, Estimate& estimate) {
  io.field("value", estimate.value);
  io.field("low", estimate.low);
  io.field("high", estimate.high);
}

template <class Io>
void evaluation_fields(Io& io, Evaluation& evaluation) {
  io.field("tasks", evaluation.tasks);
  io.field("abstained", evaluation.abstained);
  io.field("accuracy", evaluation.accuracy);
  io.field("macro_f1", evaluation.macro_f1);
  io.field("log_loss", evaluation.log_loss);
  io.field("brier", evaluation.brier);
  io.field("ece", evaluation.ece);
}

template <class Io>
void left_out_fields(Io& io, LeftOutWorker& worker) {
  io.field("worker", worker.name);
  io.field("reason", worker.reason);
  io.field("why", worker.why);
  io.field("answers", worker.answers);
  io.field("kept", worker.kept);
}

template <class Io>
void warning_fields(Io& io, Warning& warning) {
  io.field("code", warning.code);
  io.field("message", warning.message);
  io.field_if(true, "remedy", warning.remedy);  // of an older version: part of the message
  io.field_if(true, "severity", warning.severity);
}

template <class Io, class Score>
void number_score_fields(Io& io, Score& score) {
  io.field("absolute_error", score.absolute_error);
  io.field("squared_error", score.squared_error);
  io.field("r_squared", score.r_squared);
  io.field("bias", score.bias);
  io.field("coverage", score.coverage);
}

template <class Io, class Evaluated>
void similarity_evaluation_fields(Io& io, Evaluated& evaluation) {
  io.field("items", evaluation.items);
  io.field("clusters", evaluation.clusters);
  io.field("true_clusters", evaluation.true_clusters);
  io.field("accuracy", evaluation.accuracy);
  io.field("nmi", evaluation.nmi);
  io.field("adjusted_rand", evaluation.adjusted_rand);
  io.field("pairs", evaluation.pairs);
  io.field("pair_precision", evaluation.pair_precision);
  io.field("pair_recall", evaluation.pair_recall);
  io.field("pair_f1", evaluation.pair_f1);
}

template <class Io, class Evaluated>
void number_evaluation_fields(Io& io, Evaluated& evaluation) {
  io.field("tasks", evaluation.tasks);
  io.field("missing", evaluation.missing);
  io.field("dimensions", evaluation.dimensions);
}

template <class Io, class Evaluated>
void comparison_evaluation_fields(Io& io, Evaluated& evaluation) {
  io.field("pairs", evaluation.pairs);
  io.field("accuracy", evaluation.accuracy);
  io.field("decisive_pairs", evaluation.decisive_pairs);
  io.field("ordered", evaluation.ordered);
  io.field("items", evaluation.items);
  io.field("kendall", evaluation.kendall);
  io.field("spearman", evaluation.spearman);
}

template <class Io, class Score>
void set_class_fields(Io& io, Score& score) {
  io.field("gold", score.gold);
  io.field("predicted", score.predicted);
  io.field("right", score.right);
}

template <class Io, class Evaluated>
void set_evaluation_fields(Io& io, Evaluated& evaluation) {
  io.field("tasks", evaluation.tasks);
  io.field("missing", evaluation.missing);
  io.field("exact_match", evaluation.exact_match);
  io.field("jaccard", evaluation.jaccard);
  io.field("hamming", evaluation.hamming);
  io.field("micro_f1", evaluation.micro_f1);
  io.field("micro_precision", evaluation.micro_precision);
  io.field("micro_recall", evaluation.micro_recall);
  io.field("macro_f1", evaluation.macro_f1);
  io.field("brier", evaluation.brier);
  io.field("classes", evaluation.classes);
}

template <class Io>
void span_score_fields(Io& io, SpanScore& score) {
  io.field("precision", score.precision);
  io.field("recall", score.recall);
  io.field("f1", score.f1);
}

template <class Io>
void span_count_fields(Io& io, SpanCounts& counts) {
  io.field("found", counts.found);
  io.field("gold", counts.truth);
  io.field("right", counts.right);
  io.field("found_touched", counts.found_touched);
  io.field("gold_touched", counts.truth_touched);
}

template <class Io>
void sequence_evaluation_fields(Io& io, SequenceEvaluation& evaluation) {
  io.field("documents", evaluation.documents);
  io.field("tokens", evaluation.tokens);
  io.field("token_accuracy", evaluation.token_accuracy);
  io.object("spans", [&](Io& counts) { span_count_fields(counts, evaluation.counts); });
  io.object("strict", [&](Io& score) { span_score_fields(score, evaluation.strict); });
  io.object("relaxed", [&](Io& score) { span_score_fields(score, evaluation.relaxed); });
  io.field("types", evaluation.types);
}

template <class Io>
void type_score_fields(Io& io, TypeScore& score) {
  io.object("spans", [&](Io& counts) { span_count_fields(counts, score.counts); });
  io.object("strict", [&](Io& own) { span_score_fields(own, score.strict); });
}

template <class Io>
void score_fields(Io& io, LearnScore& score) {
  io.field("chosen_epoch", score.chosen);
  io.field("last_epoch", score.last);
}

/// As `fields` names them.
template <class Value, class Fields>
void put_fields(Json& json, Value value, const Fields& fields) {
  Writer writer(json);
  fields(writer, value);
}
template <class Value, class Fields>
void get_fields(const Json& json, Value& value, const Fields& fields) {
  Reader reader(json);
  fields(reader, value);
}

}  // namespace

void put(Json& json, const std::string& value) { json = value; }
void put(Json& json, bool value) { json = value; }
void put(Json& json, double value) { json = value; }
void put(Json& json, std::uint64_t value) { json = value; }
void put(Json& json, unsigned value) { json = value; }
void put(Json& json, Hash value) { json = fmt::format("{:016x}", value.value); }
void put(Json& json, Status value) { json = std::string(to_string(value)); }
void put(Json& json, TieRule value) { json = std::string(to_string(value)); }
void put(Json& json, Severity value) { json = std::string(to_string(value)); }
void put(Json& json, const ParameterValue& value) {
  std::visit([&](const auto& held) { json = held; }, value);
}
void put(Json& json, const Estimate& value) {
  put_fields(json, value, [](auto& io, auto& v) { estimate_fields(io, v); });
}
void put(Json& json, const Evaluation& value) {
  put_fields(json, value, [](auto& io, auto& v) { evaluation_fields(io, v); });
}
void put(Json& json, const NumberScore& value) {
  put_fields(json, value, [](auto& io, auto& v) { number_score_fields(io, v); });
}
void put(Json& json, const NumberEvaluation& value) {
  put_fields(json, value, [](auto& io, auto& v) { number_evaluation_fields(io, v); });
}
void put(Json& json, const ComparisonEvaluation& value) {
  put_fields(json, value, [](auto& io, auto& v) { comparison_evaluation_fields(io, v); });
}
void put(Json& json, const SimilarityEvaluation& value) {
  put_fields(json, value, [](auto& io, auto& v) { similarity_evaluation_fields(io, v); });
}
void put(Json& json, const SetClassScore& value) {
  put_fields(json, value, [](auto& io, auto& v) { set_class_fields(io, v); });
}
void put(Json& json, const SetEvaluation& value) {
  put_fields(json, value, [](auto& io, auto& v) { set_evaluation_fields(io, v); });
}
void put(Json& json, const TypeScore& value) {
  put_fields(json, value, [](auto& io, auto& v) { type_score_fields(io, v); });
}
void put(Json& json, const SequenceEvaluation& value) {
  put_fields(json, value, [](auto& io, auto& v) { sequence_evaluation_fields(io, v); });
}
void put(Json& json, const Warning& value) {
  put_fields(json, value, [](auto& io, auto& v) { warning_fields(io, v); });
}
void put(Json& json, const LeftOutWorker& value) {
  put_fields(json, value, [](auto& io, auto& v) { left_out_fields(io, v); });
}
void put(Json& json, const LearnScore& value) {
  put_fields(json, value, [](auto& io, auto& v) { score_fields(io, v); });
}

void get(const Json& json, std::string& value) { value = json.get<std::string>(); }
void get(const Json& json, bool& value) { value = json.get<bool>(); }
void get(const Json& json, double& value) {
  value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}
void get(const Json& json, std::uint64_t& value) { value = json.get<std::uint64_t>(); }
void get(const Json& json, unsigned& value) { value = json.get<unsigned>(); }
void get(const Json& json, Hash& value) {
  const auto text = json.get<std::string>();
  if (std::from_chars(text.data(), text.data() + text.size(), value.value, 16).ec != std::errc()) {
    throw Error(ErrorCode::bad_input, fmt::format("'{}' is no hash", text));
  }
}
void get(const Json& json, Status& value) {
  const auto name = json.get<std::string>();
  for (const Status status : {Status::converged, Status::iteration_limit, Status::cancelled}) {
    if (to_string(status) != name) continue;
    value = status;
    return;
  }
  throw Error(ErrorCode::bad_input, fmt::format("unknown status '{}'", name));
}
void get(const Json& json, TieRule& value) { value = tie_rule_named(json.get<std::string>()); }
void get(const Json& json, Severity& value) { value = severity_named(json.get<std::string>()); }
void get(const Json& json, ParameterValue& value) {
  if (json.is_boolean()) {
    value = json.get<bool>();
  } else if (json.is_number_integer()) {
    value = json.get<std::int64_t>();
  } else if (json.is_number() || json.is_null()) {
    double number = 0;
    get(json, number);
    value = number;
  } else {
    value = json.get<std::string>();
  }
}
void get(const Json& json, Estimate& value) {
  get_fields(json, value, [](auto& io, auto& v) { estimate_fields(io, v); });
}
void get(const Json& json, Evaluation& value) {
  get_fields(json, value, [](auto& io, auto& v) { evaluation_fields(io, v); });
}
void get(const Json& json, NumberScore& value) {
  get_fields(json, value, [](auto& io, auto& v) { number_score_fields(io, v); });
}
void get(const Json& json, NumberEvaluation& value) {
  get_fields(json, value, [](auto& io, auto& v) { number_evaluation_fields(io, v); });
}
void get(const Json& json, ComparisonEvaluation& value) {
  get_fields(json, value, [](auto& io, auto& v) { comparison_evaluation_fields(io, v); });
}
void get(const Json& json, SimilarityEvaluation& value) {
  get_fields(json, value, [](auto& io, auto& v) { similarity_evaluation_fields(io, v); });
}
void get(const Json& json, SetClassScore& value) {
  get_fields(json, value, [](auto& io, auto& v) { set_class_fields(io, v); });
}
void get(const Json& json, SetEvaluation& value) {
  get_fields(json, value, [](auto& io, auto& v) { set_evaluation_fields(io, v); });
}
void get(const Json& json, TypeScore& value) {
  get_fields(json, value, [](auto& io, auto& v) { type_score_fields(io, v); });
}
void get(const Json& json, SequenceEvaluation& value) {
  get_fields(json, value, [](auto& io, auto& v) { sequence_evaluation_fields(io, v); });
}
void get(const Json& json, Warning& value) {
  get_fields(json, value, [](auto& io, auto& v) { warning_fields(io, v); });
}
void get(const Json& json, LeftOutWorker& value) {
  get_fields(json, value, [](auto& io, auto& v) { left_out_fields(io, v); });
}
void get(const Json& json, LearnScore& value) {
  get_fields(json, value, [](auto& io, auto& v) { score_fields(io, v); });
}

void make_list(Json& json) { json = Json::array(); }
void make_object(Json& json) { json = Json::object(); }
void make_null(Json& json) { json = nullptr; }
Json& new_item(Json& list) { return list.emplace_back(); }
Json& new_entry(Json& object, const std::string& name) { return object[name]; }
bool has_entry(const Json& object, const char* name) { return object.contains(name); }
bool is_null(const Json& json) { return json.is_null(); }

const Json& entry(const Json& object, const char* name) { return object.at(name); }

std::vector<const Json*> items(const Json& list) {
  std::vector<const Json*> found;
  for (const Json& item : list) found.push_back(&item);
  return found;
}

std::vector<std::pair<std::string, const Json*>> entries(const Json& object) {
  std::vector<std::pair<std::string, const Json*>> found;
  for (auto at = object.begin(); at != object.end(); ++at) found.emplace_back(at.key(), &at.value());
  return found;
}

}  // namespace wisecrowd::store
