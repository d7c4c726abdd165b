#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "wisecrowd/answer_times.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/drift.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {

/// Whom to trust: all that is known of the workers of a crowd.
struct TrustStudy {
  Dependence dependence;
  std::vector<WorkerAssessment> workers;
  std::vector<std::uint32_t> group;  ///< of each worker: its place in dependence.groups, or kAlone
  AnswerOrder order = AnswerOrder::unknown;
  Drift drift;  ///< empty when the order is unknown

  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
};

/// What a method is to be given that need not look for groups again: they are in the data, or there are none.
struct KnownGroups {
  CategoryData data;
  Parameters parameters;
};
[[nodiscard]] KnownGroups knowing_groups(const CategoryData& data, Parameters parameters, const Dependence& found,
                                         bool uses_gold);

/// Puts together who is no use, who answers as one with whom, and who got worse, and what should be done about each.
/// `found` is what find_dependence says of the data; its tasks are listed if it was asked to. Throws unsupported when
/// the fit has no tables and they would take more than 2 GB.
[[nodiscard]] TrustStudy study_trust(const CategoryData& data, const CategoryFit& fit, Dependence found,
                                     const AnswerTimes& times, const RunContext& context);

/// Workers whose later answers are worse are to be checked, not simply kept.
void judge_drift(const Drift& drift, std::vector<WorkerAssessment>& workers);

/// What a group of workers is: "colluders", who contradict the others with one voice; "camp", one of those that hold
/// nearly everybody; "copies", who answer as one and are mostly right, or too few to tell; "given", named by the user.
[[nodiscard]] std::string_view kind_of_group(const Dependence& found, const DependentGroup& group);

/// Workers whom something should be done about, the most urgent first: those of groups that attack, then who should be
/// stopped, recoded, retrained, checked; within each, who gave most answers first.
[[nodiscard]] std::vector<std::uint32_t> workers_to_look_at(const TrustStudy& study);

/// How such a group answers and what was made of that, in sentences without names.
[[nodiscard]] std::string group_in_words(const Dependence& found, const DependentGroup& group);
/// How a worker got worse, in sentences that follow its name: "right in 33.3 %, from its answer 151 on; …".
[[nodiscard]] std::string alarm_in_words(const DriftAlarm& alarm, AnswerOrder order);

/// A time as it may be shown: a date and time of day, or a number; empty where only the order of rows is known.
[[nodiscard]] std::string time_in_words(double time, AnswerOrder order);

/// A column of a table: texts, numbers (NaN is a blank), counts or flags.
struct TableColumn {
  using Values =
      std::variant<std::vector<std::string>, std::vector<double>, std::vector<std::uint64_t>, std::vector<bool>>;
  std::string name;
  Values values;

  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, values);
  }
};
struct ValueTable {
  std::string name;  ///< "workers"
  std::vector<TableColumn> columns;

  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
};

/// The tables of a study: workers, pairs, groups, alarms, attacked_tasks. Files and data frames are made of them.
[[nodiscard]] std::vector<ValueTable> trust_tables(const CategoryAnswers& answers, const TrustStudy& study);

/// What cannot be known from the answers, and what was not looked at: sentences.
[[nodiscard]] std::vector<std::string> trust_limits(const CategoryData& data, const TrustStudy& study);

/// A study and how it came about.
struct TrustRun {
  CategoryData data;
  CategoryFit fit;
  AnswerTimes times;
  TrustStudy study;
  RunRecord record;
};
/// The labels that the workers were judged by, as the result of a run: what a report is made of.
[[nodiscard]] CategoryResult result_of(const TrustRun& run, const RunContext& context);

}  // namespace wisecrowd
