#include "features.hpp"
#include "hidden_scores.hpp"
#include "support.hpp"
#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/comparison_result.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn_comparisons.hpp"
#include "wisecrowd/online_comparisons.hpp"
#include "wisecrowd/preferences.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::python {
namespace {

using RealColumn = py::array_t<double, py::array::c_style | py::array::forcecast>;
using CodeColumn = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
using SmallColumn = py::array_t<std::uint8_t, py::array::c_style | py::array::forcecast>;

std::vector<double> reals_of(const RealColumn& column) { return {column.data(), column.data() + column.size()}; }

py::array_t<double> real_array(std::vector<double> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return to_array(std::move(values), {size});
}

/// Codes of items and workers, and outcomes 0 left, 1 right, 2 tie; ids follow the order of the names given.
ComparisonAnswers comparison_answers(const CodeColumn& left, const CodeColumn& right, const CodeColumn& workers,
                                     const SmallColumn& outcomes, const py::array& item_names,
                                     const py::array& worker_names, const std::string& duplicates, bool sides_known) {
  const auto rows = static_cast<std::size_t>(left.size());
  std::vector<ComparisonAnswer> answers;
  answers.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    answers.push_back({TaskId{0}, WorkerId{workers.data()[i]}, ItemId{left.data()[i]}, ItemId{right.data()[i]},
                       static_cast<Outcome>(outcomes.data()[i])});
  }
  return make_comparison_answers(answers, {names_from(item_names), names_from(worker_names)},
                                 duplicate_policy(duplicates), nullptr, sides_known);
}

/// Gold of pairs by their items: rows of first, second, outcome (as for the first).
ComparisonData data_with_gold(const ComparisonAnswers& answers, const std::optional<CodeColumn>& gold,
                              const std::optional<RealColumn>& gold_scores, const std::optional<RealColumn>& features,
                              const std::vector<std::string>& feature_names) {
  ComparisonData data{.answers = answers};
  if (gold) {
    data.gold.assign(answers.task_count(), std::nullopt);
    for (py::ssize_t i = 0; i + 2 < gold->size(); i += 3) {
      const std::uint32_t* const row = gold->data() + i;
      const ItemPair wanted{ItemId{std::min(row[0], row[1])}, ItemId{std::max(row[0], row[1])}};
      const auto pairs = answers.pairs();
      const auto at = std::lower_bound(pairs.begin(), pairs.end(), wanted, [](const ItemPair& a, const ItemPair& b) {
        return std::pair(a.first, a.second) < std::pair(b.first, b.second);
      });
      if (at == pairs.end() || !(*at == wanted)) continue;
      const auto outcome = static_cast<Outcome>(row[2]);
      data.gold[static_cast<std::size_t>(at - pairs.begin())] = row[0] < row[1] ? outcome : mirrored(outcome);
    }
  }
  if (gold_scores) data.gold_scores = reals_of(*gold_scores);
  if (features) data.features = {feature_names, reals_of(*features)};
  return data;
}

py::dict evaluation_dict(const ComparisonEvaluation& evaluation) {
  py::dict dict;
  dict["pairs"] = evaluation.pairs;
  dict["decisive_pairs"] = evaluation.decisive_pairs;
  dict["items"] = evaluation.items;
  const auto share = [&](const char* name, const std::optional<Estimate>& e) {
    if (!e) return;
    dict[name] = e->value;
    dict[(std::string(name) + "_low").c_str()] = e->low;
    dict[(std::string(name) + "_high").c_str()] = e->high;
  };
  share("accuracy", evaluation.accuracy);
  share("ordered", evaluation.ordered);
  if (evaluation.kendall) dict["kendall"] = *evaluation.kendall;
  if (evaluation.spearman) dict["spearman"] = *evaluation.spearman;
  return dict;
}

/// A fit with the data that it belongs to, kept for reports, questions and exports.
struct FittedComparisons {
  ComparisonData data;
  ComparisonFit fit;
  std::string method;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
  bool gold_seen = false;
  std::uint64_t seed = 0;

  [[nodiscard]] ComparisonResult result(ComparisonData with_gold, bool score) const {
    RunRecord record;
    record.version = WISECROWD_VERSION;
    record.method = method;
    record.seed = seed;
    record.parameters = parameters;
    record.gold_tasks = gold_count(with_gold);
    if (record.gold_tasks > 0) record.gold_use = gold_seen ? "inference" : "evaluation";
    ComparisonResult result = make_result(std::move(with_gold), fit, std::move(record));
    if (score) result.evaluation = evaluate_comparisons(fit.score, fit.pair_posterior, result.data);
    return result;
  }
};

py::dict fitted_dict(const FittedComparisons& fitted) {
  const ComparisonFit& fit = fitted.fit;
  const ComparisonAnswers& answers = fitted.data.answers;
  py::dict dict;
  dict["score"] = real_array(fit.score);
  dict["deviation"] = real_array(fit.deviation);
  dict["low"] = real_array(fit.low);
  dict["high"] = real_array(fit.high);
  dict["rank"] = real_array(fit.rank);
  dict["rank_low"] = real_array(fit.rank_low);
  dict["rank_high"] = real_array(fit.rank_high);
  dict["reliability"] = real_array(fit.reliability);
  dict["side_bias"] = real_array(fit.side_bias);
  dict["tie_rate"] = real_array(fit.tie_rate);
  dict["feature_effect"] = real_array(fit.feature_effect);
  dict["group_count"] = fit.group_count;
  dict["group_score"] = real_array(fit.group_score);
  dict["group_of_worker"] = real_array(fit.group_of_worker);
  dict["pair_posterior"] = real_array(fit.pair_posterior);
  std::vector<double> first, second;
  for (const ItemPair& pair : answers.pairs()) {
    first.push_back(static_cast<double>(index(pair.first)));
    second.push_back(static_cast<double>(index(pair.second)));
  }
  dict["pair_first"] = real_array(std::move(first));
  dict["pair_second"] = real_array(std::move(second));
  dict["iterations"] = fit.iterations;
  dict["seconds_per_iteration"] = fit.seconds_per_iteration;
  dict["status"] = to_str(to_string(fit.status));
  dict["explanation"] = fit.explanation;
  dict["learned"] = fit.learned;
  dict["warnings"] = to_list(fit.warnings);
  return dict;
}

FittedComparisons fit_comparisons(const ComparisonAnswers& answers, const std::string& method,
                                  const py::dict& parameters, const std::optional<CodeColumn>& gold,
                                  const std::optional<RealColumn>& features,
                                  const std::vector<std::string>& feature_names, std::uint64_t seed, unsigned threads,
                                  const py::object& progress) {
  const Parameters checked = parameters_from(method_of<Comparisons>(method).parameters, parameters);
  FittedComparisons fitted;
  fitted.data = data_with_gold(answers, gold, std::nullopt, features, feature_names);
  fitted.method = method;
  fitted.gold_seen = gold.has_value();
  fitted.seed = seed;
  for (const auto& [name, value] : checked.all()) fitted.parameters.emplace_back(name, value);
  Work work(seed, threads, progress);
  fitted.fit = work.run([&](const RunContext& context) { return aggregate(fitted.data, method, checked, context); });
  return fitted;
}

/// The fit, a score for every row of the features, and the network.
py::tuple learn_scores(const ComparisonAnswers& answers, const py::object& features, const CodeColumn& row_of_item,
                       const py::dict& parameters, const py::dict& network, std::uint64_t seed, unsigned threads,
                       const py::object& progress) {
  const Parameters checked = parameters_from(comparison_learner().parameters, parameters);
  const NetworkSpec spec = network_from(network);
  const Features rows = features_from(features);
  const std::vector<std::uint32_t> row_of(row_of_item.data(), row_of_item.data() + row_of_item.size());
  FittedComparisons fitted;
  fitted.data.answers = answers;
  fitted.method = comparison_learner().name;
  fitted.seed = seed;
  for (const auto& [name, value] : checked.all()) fitted.parameters.emplace_back(name, value);
  Work work(seed, threads, progress);
  ComparisonLearned learned = work.run([&](const RunContext& context) {
    return learn_comparisons(fitted.data, rows, {}, row_of, spec, comparison_learning_options(checked), context);
  });
  fitted.fit = std::move(learned.fit);
  return py::make_tuple(std::move(fitted), real_array(std::move(learned.row_score)),
                        std::const_pointer_cast<Regressor>(learned.scorer), learned.chosen_epoch);
}

py::list compare_comparisons(const ComparisonAnswers& answers, const std::vector<std::string>& methods,
                             std::size_t folds, double share, std::uint64_t seed, unsigned threads) {
  return compare_by_hidden_answers<Comparisons>(ComparisonData{.answers = answers}, methods, folds, share, seed,
                                                threads);
}

py::str comparison_report(const FittedComparisons& fitted, const std::optional<CodeColumn>& gold,
                          const std::optional<RealColumn>& gold_scores, const std::string& title, bool as_json,
                          unsigned threads) {
  const bool learned = fitted.method == comparison_learner().name;
  const EntryInfo& info = learned ? static_cast<const EntryInfo&>(comparison_learner())
                                  : static_cast<const EntryInfo&>(method_of<Comparisons>(fitted.method));
  ReportOptions options;
  options.title = title;
  options.method_title = info.title;
  options.method_summary = info.summary;
  const bool given = gold || gold_scores;
  ComparisonData data = given ? data_with_gold(fitted.data.answers, gold, gold_scores, std::nullopt, {}) : fitted.data;
  Work work(fitted.seed, threads, py::none());
  const std::string text = work.run([&](const RunContext& context) {
    const ComparisonResult result = fitted.result(std::move(data), given);
    return as_json ? report_json(result, options, context) : report_html(result, options, context);
  });
  return to_str(text);
}

py::list questions(const FittedComparisons& fitted, std::size_t count, std::uint64_t seed) {
  Work work(seed, 0, py::none());
  const auto chosen = work.run(
      [&](const RunContext& context) { return OnlineCrowdBt(fitted.data.answers, fitted.fit).choose(count, context); });
  py::list rows;
  for (const PairQuestion& question : chosen) {
    rows.append(py::make_tuple(index(question.left), index(question.right), index(question.worker), question.gain));
  }
  return rows;
}

template <auto loss>
double flipped_loss(double margin, double flip) {
  return loss(margin, flip);
}

}  // namespace

void define_comparisons(py::module_& module) {
  py::class_<ComparisonAnswers>(module, "ComparisonAnswers")
      .def_property_readonly("fingerprint", &ComparisonAnswers::content_hash)
      .def("__len__", [](const ComparisonAnswers& a) { return a.answer_count(); });
  py::class_<FittedComparisons>(module, "FittedComparisons")
      .def("as_dict", &fitted_dict)
      .def("report", &comparison_report)
      .def("questions", &questions)
      .def("evaluate",
           [](const FittedComparisons& fitted, const std::optional<CodeColumn>& gold,
              const std::optional<RealColumn>& gold_scores) {
             return evaluation_dict(
                 evaluate_comparisons(fitted.fit.score, fitted.fit.pair_posterior,
                                      data_with_gold(fitted.data.answers, gold, gold_scores, std::nullopt, {})));
           })
      .def("preferences",
           [](const FittedComparisons& fitted, const std::vector<std::pair<std::string, std::string>>& texts) {
             std::vector<ItemText> items;
             for (const auto& [prompt, text] : texts) items.push_back({prompt, text});
             return to_str(preferences_jsonl(fitted.result(fitted.data, false), items));
           });
  module.def("comparison_answers", &comparison_answers);
  module.def("comparison_methods", [] {
    py::list list;
    for (const MethodInfo& info : methods_of<Comparisons>()) list.append(info_of(info));
    return list;
  });
  module.attr("default_comparison_method") = std::string(default_method_of<Comparisons>());
  module.def("fit_comparisons", &fit_comparisons);
  module.def("comparison_learner", [] { return info_of(comparison_learner()); });
  module.def("learn_comparisons", &learn_scores);
  module.def("compare_comparisons", &compare_comparisons);
  module.def("dpo_loss", py::vectorize(dpo_loss));
  module.def("conservative_dpo_loss", py::vectorize(flipped_loss<conservative_dpo_loss>));
  module.def("robust_dpo_loss", py::vectorize(flipped_loss<robust_dpo_loss>));
}

}  // namespace wisecrowd::python
