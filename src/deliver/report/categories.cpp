#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::report {
namespace {

/// What the answered tasks score, if that was measured.
const Evaluation* evaluation_of(const CategoryResult& result, const ReportOptions& options) {
  if (result.record.evaluation) return &*result.record.evaluation;
  if (!options.learned) return nullptr;
  for (const LearnScore& score : options.learned->scores) {
    if (score.part == "answered_tasks") return &score.chosen;
  }
  return nullptr;
}

}  // namespace

Json categories_document(const CategoryResult& given, const ReportOptions& options, const RunContext& context) {
  const CategoryResult result = rounded_for_files(given, context);
  const ReportFacts facts = report_facts(result, evaluation_of(result, options), context);
  Source source{.result = result,
                .options = options,
                .context = context,
                .facts = facts,
                .classes = ShownClasses(result),
                .labels = delivered_labels(result.aggregation, result.record.abstain_below),
                .worker_order = {},
                .workers_chosen_by = {},
                .advice = {},
                .sampling = {}};
  choose_workers(source);
  Json document = document_head(result.record, options);
  for (const auto add :
       {add_run, add_counts, add_warnings, add_headlines, add_classes, add_workers, add_tasks, add_graph,
        add_convergence, add_comparison, add_gold, add_learning, add_savings, add_fairness, add_trust}) {
    if (context.cancelled()) throw Cancelled();
    add(source, document);
  }
  document["sampling"] = source.sampling;
  return document;
}

}  // namespace wisecrowd::report
