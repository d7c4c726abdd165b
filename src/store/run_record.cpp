#include "store/run_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/csv_rows.hpp"
#include "base/json_depth.hpp"
#include "result/rank_facts.hpp"
#include "store/json_fields.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::store {
namespace {

template <class Io>
void stage_fields(Io& io, RunRecord& record) {
  for (const char* role : {"init", "finish"}) {
    auto found = std::find_if(record.stages.begin(), record.stages.end(),
                              [&](const StageRecord& stage) { return stage.role == role; });
    io.object_if(found != record.stages.end(), role, [&](Io& entry) {
      StageRecord& stage = Io::kReads ? record.stages.emplace_back() : *found;
      stage.role = role;
      entry.field("method", stage.method);
      entry.field("parameters", stage.parameters);
      entry.field_if(!stage.handoff.empty(), "hands_over", stage.handoff);
    });
  }
}

template <class Io>
void data_fields(Io& io, StoredRecord& stored) {
  RunRecord& record = stored.record;
  Hash hash{record.data_hash};
  io.field("hash", hash);
  record.data_hash = hash.value;
  io.field("tasks", stored.tasks);
  io.field("workers", stored.workers);
  io.field("answers", stored.answers);
  if (stored.answers_kind == Numbers::name) {
    io.field("dimensions", stored.dimensions);
  } else if (stored.answers_kind == Comparisons::name) {
    io.field("items", stored.items);
  } else if (stored.answers_kind == Sequences::name) {
    io.field("tokens", stored.tokens);
    io.field("types", stored.span_types);
  } else if (stored.answers_kind == Similarities::name) {
    io.field("items", stored.similar_items);
  } else {
    io.field("classes", stored.classes);
    io.field_if(stored.ordered, "ordered", stored.ordered);
  }
  io.field("inputs", record.inputs);
  io.field_if(!record.reading.empty(), "reading", record.reading);
  io.object("gold", [&](Io& gold) {
    gold.field("tasks", record.gold_tasks);
    gold.field("used_for", record.gold_use);
  });
}

/// What every fit says of itself; `own` adds what its kind of answers has.
template <class Io, class Own>
void fit_fields(Io& io, FitSummary& fit, bool with_trace, const Own& own) {
  io.field("status", fit.status);
  io.field("iterations", fit.iterations);
  std::optional<std::string> objective;
  if (!fit.objective_name.empty()) objective = fit.objective_name;
  io.field("objective", objective);
  fit.objective_name = objective.value_or("");
  io.field_if(with_trace, "trace", fit.trace);
  std::optional<double> likelihood;
  if (fit.has_log_likelihood) likelihood = fit.log_likelihood;
  io.field("log_likelihood", likelihood);
  fit.has_log_likelihood = likelihood.has_value();
  fit.log_likelihood = likelihood.value_or(0);
  own();
  io.field("learned", fit.learned);
  io.field_if(!fit.explanation.empty(), "explanation", fit.explanation);
}

/// Of a run that an older version wrote: that of the method that had the last word.
TieRule tie_rule_of(const RunRecord& record) {
  const bool finished = !record.stages.empty() && record.stages.back().role == "finish";
  for (const auto& [name, value] : finished ? record.stages.back().parameters : record.parameters) {
    if (name == "ties") return tie_rule_named(to_string(value));
  }
  return TieRule::lowest;
}

template <class Io>
void category_fields(Io& io, StoredRecord& stored) {
  if constexpr (Io::kReads) stored.tie_rule = tie_rule_of(stored.record);
  io.field_if(true, "tie_rule", stored.tie_rule);
  io.field("class_prior", stored.class_prior);
}

template <class Io>
void set_fields(Io& io, StoredRecord& stored) {
  io.field("threshold", stored.set_threshold);
  io.field("class_prior", stored.class_prior);
}

template <class Io>
void learn_fields(Io& io, LearnSummary& learned) {
  NetworkSpec& network = learned.network;
  io.object("network", [&](Io& entry) {
    entry.field("kind", network.kind);
    entry.field_if(network.kind == "mlp", "hidden", network.hidden);
    entry.field_if(network.kind == "mlp", "layers", network.layers);
    entry.field_if(network.kind == "mlp" || network.kind == "cnn", "dropout", network.dropout);
  });
  io.object("features", [&](Io& features) {
    features.field("rows", learned.rows);
    features.field("shape", learned.row_shape);
    features.field("train", learned.train_rows);
    features.field("valid", learned.valid_rows);
    features.field("test", learned.test_rows);
  });
  io.field("epochs", learned.epochs);
  io.field("chosen_epoch", learned.chosen_epoch);
  std::vector<double> objective, held_out;
  for (const CurvePoint& point : learned.curve) {
    objective.push_back(point.objective);
    held_out.push_back(point.held_out);
  }
  io.object("learning_curve", [&](Io& curve) {
    curve.field("objective", objective);
    curve.field("held_out_log_probability", held_out);
  });
  learned.curve.clear();
  for (std::size_t e = 0; e < objective.size(); ++e) learned.curve.push_back({objective[e], held_out.at(e)});
}

/// Scores of the parts of the data, each under its name.
template <class Io>
void score_fields(Io& io, LearnSummary& learned, bool numbers) {
  if (numbers) {
    std::vector<std::pair<std::string, NumberEvaluation>> scores;
    for (const NumberLearnScore& score : learned.number_scores) scores.emplace_back(score.part, score.evaluation);
    io.field_if(!scores.empty(), "evaluation", scores);
    learned.number_scores.clear();
    for (auto& [part, score] : scores) learned.number_scores.push_back({part, std::move(score)});
    return;
  }
  std::vector<std::pair<std::string, LearnScore>> scores;
  for (const LearnScore& score : learned.scores) scores.emplace_back(score.part, score);
  io.field_if(!scores.empty(), "evaluation", scores);
  learned.scores.clear();
  for (auto& [part, score] : scores) {
    score.part = part;
    learned.scores.push_back(std::move(score));
  }
}

template <class Io>
void end_fields(Io& io, StoredRecord& stored) {
  std::vector<Warning> warnings = stored.record.data_warnings;
  warnings.insert(warnings.end(), stored.fit.warnings.begin(), stored.fit.warnings.end());
  io.field("warnings", warnings);
  auto timings = stored.record.timings;
  timings.emplace_back("per_iteration", stored.fit.seconds_per_iteration);
  io.field("timings", timings);
  if constexpr (Io::kReads) {
    stored.record.data_warnings = std::move(warnings);
    for (const auto& [stage, seconds] : timings) {
      if (stage == "per_iteration") {
        stored.fit.seconds_per_iteration = seconds;
      } else {
        stored.record.timings.emplace_back(stage, seconds);
      }
    }
  }
}

/// run.json, from its first field to its last.
template <class Io>
void record_fields(Io& io, StoredRecord& stored) {
  RunRecord& record = stored.record;
  if constexpr (Io::kReads) {
    if (io.has("network")) stored.learned.emplace();
  }
  io.field("version", record.version);
  io.field("command", record.command);
  io.field("method", record.method);
  io.field("parameters", record.parameters);
  stage_fields(io, record);
  io.field("seed", record.seed);
  io.field("threads", record.threads);
  io.field_if(true, "answers_kind", stored.answers_kind);  // older versions knew one kind
  io.object("data", [&](Io& data) { data_fields(data, stored); });
  // A learning curve holds the trace already.
  fit_fields(io, stored.fit, !stored.learned, [&] {
    if (stored.answers_kind == Categories::name) category_fields(io, stored);
    if (stored.answers_kind == Sets::name) set_fields(io, stored);
  });
  io.object_if(record.cleaning.has_value(), "without", [&](Io& entry) {
    if (!record.cleaning) record.cleaning.emplace();
    Cleaning& cleaning = *record.cleaning;
    entry.field("asked", cleaning.without);
    entry.field("answers", cleaning.answers);
    entry.field("kept", cleaning.kept);
    entry.field("notes", cleaning.notes);
    entry.field("workers", cleaning.workers);
  });
  io.object_if(record.abstain_below > 0, "abstention", [&](Io& abstention) {
    abstention.field("below", record.abstain_below);
    abstention.field("tasks", stored.abstained_tasks);
  });
  if (stored.learned) {
    learn_fields(io, *stored.learned);
    score_fields(io, *stored.learned, stored.answers_kind == Numbers::name);
  } else if (stored.answers_kind == Numbers::name) {
    io.field_if(stored.number_evaluation.has_value(), "evaluation", stored.number_evaluation);
  } else if (stored.answers_kind == Comparisons::name) {
    io.field_if(stored.comparison_evaluation.has_value(), "evaluation", stored.comparison_evaluation);
  } else if (stored.answers_kind == Similarities::name) {
    io.field_if(stored.similarity_evaluation.has_value(), "evaluation", stored.similarity_evaluation);
  } else if (stored.answers_kind == Sequences::name) {
    io.field_if(stored.sequence_evaluation.has_value(), "evaluation", stored.sequence_evaluation);
  } else if (stored.answers_kind == Sets::name) {
    io.field_if(stored.set_evaluation.has_value(), "evaluation", stored.set_evaluation);
  } else {
    io.field_if(record.evaluation.has_value(), "evaluation", record.evaluation);
    io.object_if(stored.rank_error.has_value(), "rank_evaluation", [&](Io& ranks) {
      ranks.field("rank_error", stored.rank_error);
      ranks.field("quadratic_kappa", stored.quadratic_kappa);
    });
  }
  end_fields(io, stored);
}

}  // namespace

StoredRecord stored_record(const CategoryResult& result) {
  const CategoryAnswers& answers = result.data.answers;
  StoredRecord stored;
  stored.record = result.record;
  stored.record.data_hash = answers.content_hash();
  stored.fit = result.aggregation;  // the summary alone
  stored.tie_rule = result.aggregation.tie_rule;
  stored.class_prior = result.aggregation.class_prior;
  stored.tasks = answers.task_count();
  stored.workers = answers.worker_count();
  stored.answers = answers.answer_count();
  for (std::size_t k = 0; k < answers.class_count(); ++k) stored.classes.emplace_back(answers.class_names()[k]);
  stored.ordered = is_ordered(answers);
  if (const auto ranks = rank_facts(result, RunContext())) {
    stored.rank_error = ranks->rank_error;
    stored.quadratic_kappa = ranks->quadratic_kappa;
  }
  if (result.record.abstain_below > 0) {
    const auto labels = delivered_labels(result.aggregation, result.record.abstain_below);
    stored.abstained_tasks = static_cast<std::uint64_t>(std::count(labels.begin(), labels.end(), kNoClass));
  }
  return stored;
}

StoredRecord stored_record(const LearnResult& result) {
  StoredRecord stored = stored_record(result.crowd);
  stored.learned = summary_of(result);
  return stored;
}

namespace {

/// What the records of all kinds but categories have in common.
template <class Kind, class ResultOfKind>
StoredRecord begun_record(const ResultOfKind& result) {
  StoredRecord stored;
  stored.record = result.record;
  stored.fit = result.fit;  // the summary alone
  stored.answers_kind = Kind::name;
  stored.tasks = result.data.answers.task_count();
  stored.workers = result.data.answers.worker_count();
  stored.answers = result.data.answers.answer_count();
  return stored;
}

}  // namespace

StoredRecord stored_record(const NumberResult& result) {
  const NumberAnswers& answers = result.data.answers;
  StoredRecord stored = begun_record<Numbers>(result);
  for (std::size_t d = 0; d < answers.dimensions(); ++d) stored.dimensions.emplace_back(answers.dimension_names()[d]);
  stored.number_evaluation = result.evaluation;
  return stored;
}

StoredRecord stored_record(const NumberLearnResult& result) {
  StoredRecord stored = stored_record(result.crowd);
  stored.learned = summary_of(result);
  return stored;
}

StoredRecord stored_record(const ComparisonResult& result) {
  const ComparisonAnswers& answers = result.data.answers;
  StoredRecord stored = begun_record<Comparisons>(result);
  stored.items = answers.item_count();
  stored.comparison_evaluation = result.evaluation;
  return stored;
}

StoredRecord stored_record(const SimilarityResult& result) {
  const SimilarityAnswers& answers = result.data.answers;
  StoredRecord stored = begun_record<Similarities>(result);
  stored.similar_items = answers.item_count();
  stored.similarity_evaluation = result.evaluation;
  return stored;
}

StoredRecord stored_record(const SetResult& result) {
  const SetAnswers& answers = result.data.answers;
  StoredRecord stored = begun_record<Sets>(result);
  stored.set_threshold = result.fit.threshold;
  stored.class_prior = result.fit.class_prior;
  for (std::size_t k = 0; k < answers.class_count(); ++k) stored.classes.emplace_back(answers.class_names()[k]);
  stored.set_evaluation = result.evaluation;
  return stored;
}

StoredRecord stored_record(const SequenceResult& result) {
  const SequenceAnswers& answers = result.data.answers;
  StoredRecord stored = begun_record<Sequences>(result);
  stored.tokens = answers.token_count();
  for (std::size_t x = 0; x < answers.type_names().size(); ++x) stored.span_types.emplace_back(answers.type_names()[x]);
  stored.sequence_evaluation = result.evaluation;
  return stored;
}

Json record_json(StoredRecord stored) {
  Json json;
  Writer writer(json);
  record_fields(writer, stored);
  return json;
}

StoredRecord read_record(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / kRunRecord).string();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) {
    const bool replay = std::filesystem::exists(std::filesystem::path(folder) / "summary.json", unknown);
    throw Error(
        ErrorCode::io,
        fmt::format("'{}' holds no run.json: {}", folder,
                    replay ? "it is no result, but perhaps a replay; name the folder of a result, and give this "
                             "one with `replay`"
                           : "name a folder that wisecrowd aggregate or learn wrote with `out`"));
  }
  const std::string text = read_text_file(path);
  try {
    if (nests_too_deep(text)) throw std::invalid_argument("its lists are nested too deeply");
    const Json json = Json::parse(text);
    if (json.is_object() && json.value("kind", Json()) == "judges") {
      throw Error(ErrorCode::bad_input, fmt::format("'{}' is a look at judges and no result: its report is written by "
                                                    "judges itself",
                                                    folder));
    }
    if (json.is_object() && json.value("kind", Json()) == "fairness") {
      throw Error(ErrorCode::bad_input, fmt::format("'{}' is a look at fairness and no result: name the folder of a "
                                                    "result of the same answers, and give this one with `fairness`",
                                                    folder));
    }
    StoredRecord stored;
    Reader reader(json);
    record_fields(reader, stored);
    return stored;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    throw Error(ErrorCode::bad_input, fmt::format("'{}' cannot be understood ({}): write the result again with this "
                                                  "version of wisecrowd",
                                                  path, problem.what()));
  }
}

}  // namespace wisecrowd::store
