#include "wisecrowd/state_result.hpp"

#include <algorithm>
#include <fstream>

#include "state/state_file.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/tempering.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kMostTested = 100'000;  // answers, as the default's test

bool has_code(const std::vector<Warning>& warnings, std::string_view code) {
  return std::any_of(warnings.begin(), warnings.end(), [&](const Warning& known) { return known.code == code; });
}

}  // namespace

bool is_state_file(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3", 16);  // with its NUL
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), ' ');
  return file && file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

std::vector<Warning> inspect_answers(const CategoryAnswers& answers, const RunContext& context) {
  std::vector<Warning> warnings = describe(answers).warnings;
  for (Warning& copies :
       dependence_warnings({.answers = answers}, find_dependence({.answers = answers}, {}, context))) {
    warnings.push_back(std::move(copies));
  }
  return warnings;
}

CategoryResult state_result(const CrowdState& state, const std::string& path, const std::string& command,
                            const RunContext& context) {
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = command;
  record.method = "dawid_skene";
  record.threads = context.threads();
  record.inputs.emplace_back("state", path);
  const GoldUse use = state.summary().gold_use;
  CrowdState::Whole whole = state.whole(context);
  CategoryData& data = whole.data;
  CategoryFit& fit = whole.aggregation;
  const Parameters parameters = batch_parameters(state.parameters(), std::max<std::size_t>(fit.class_count, 1));
  record.parameters.assign(parameters.all().begin(), parameters.all().end());
  // One model for states and batches: what is read is tempered as far as hidden answers ask for it, as the default
  // does. Workers are summarised by the model's own posterior.
  CategoryData seen = data;
  if (use != GoldUse::inference) seen.gold.clear();
  if (fit.class_count > 1 && data.answers.answer_count() > 0) {
    temper(seen, fit_tempering(seen, fit, record.method, parameters, kMostTested, context), fit, context);
  }
  // As the answers are now; what the last fit said of them may be old.
  record.data_warnings = describe(data.answers).warnings;
  std::erase_if(fit.warnings, [&](const Warning& warning) {
    return warning.code == "copied_workers" || has_code(record.data_warnings, warning.code);
  });
  for (const ClassId truth : data.gold) record.gold_tasks += truth != kNoClass ? 1 : 0;
  if (record.gold_tasks > 0) record.gold_use = use == GoldUse::inference ? "inference" : "evaluation";
  if (record.gold_use == "evaluation") {
    record.evaluation =
        evaluate(fit.labels, fit.posterior, data.gold, fit.class_count, {.tie_rule = fit.tie_rule}, context);
  }
  return make_result(std::move(data), std::move(fit), std::move(record), context);
}

}  // namespace wisecrowd
