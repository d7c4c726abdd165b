#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deliver/report/shared.hpp"
#include "result/report_facts.hpp"
#include "wisecrowd/report.hpp"

namespace wisecrowd::report {

/// The classes that have a place in the report's table: all, or with very many the largest.
class ShownClasses {
 public:
  explicit ShownClasses(const CategoryResult& result);
  [[nodiscard]] const std::vector<std::size_t>& ids() const noexcept { return ids_; }
  [[nodiscard]] std::size_t hidden() const noexcept { return place_.size() - ids_.size(); }
  /// A place in the table, or the name of a class that has none; null for kNoClass.
  [[nodiscard]] Json reference(ClassId id) const;
  [[nodiscard]] std::size_t reference_size(ClassId id) const;
  /// The places 0 … n − 1 of the table's n largest classes, for matrices.
  [[nodiscard]] std::vector<std::size_t> largest(std::size_t most) const;
  [[nodiscard]] std::string name(ClassId id) const;

  std::vector<std::uint64_t> answers;  ///< per class id
  std::vector<std::uint64_t> tasks;    ///< per class id: labelled with it

 private:
  NameTable names_;
  std::vector<std::size_t> ids_;
  std::vector<std::size_t> place_;  ///< per class id; kNone if it has none
};

/// Everything that the sections read, and where they say what they left out.
struct Source {
  const CategoryResult& result;  ///< with the digits of the files
  const ReportOptions& options;
  const RunContext& context;
  const ReportFacts& facts;
  ShownClasses classes;
  std::vector<ClassId> labels;              ///< as delivered
  std::vector<std::uint32_t> worker_order;  ///< the workers to show, who matter most first
  std::string workers_chosen_by;
  AdviceFacts advice;  ///< the same for what trust found, if it was asked
  mutable std::vector<std::string> sampling;

  [[nodiscard]] const CategoryAnswers& answers() const { return result.data.answers; }
  /// Of the label that was found, delivered or not.
  [[nodiscard]] double probability(std::size_t task) const {
    return result.aggregation.posterior[task * result.aggregation.class_count + index(result.aggregation.labels[task])];
  }
};

/// How many workers are to keep, to retrain, to look at, to stop.
struct AdviceCounts {
  std::size_t keep = 0, retrain = 0, recode = 0, check = 0, stop = 0, unsure = 0;
  std::size_t guessers = 0;  ///< of those to stop: whose answers hardly depend on the truth
  std::uint64_t answers_of_guessers = 0;
};
[[nodiscard]] AdviceCounts advice_counts(const Source& source);

/// Shares of labels that are sure, and of tasks that are torn.
struct Certainty {
  static constexpr double kSure = 0.95, kTorn = 0.6;
  std::size_t sure = 0, torn = 0;
  double expected_accuracy = 0, low = 0, high = 0;  ///< if the probabilities are right
};
[[nodiscard]] Certainty certainty(const Source& source);

/// Who is shown of many workers: those with most answers, the worst, the best, and some at random; and by what rule.
void choose_workers(Source& source);

// Each adds its keys to the document.
void add_run(const Source& source, Json& document);
void add_counts(const Source& source, Json& document);
void add_headlines(const Source& source, Json& document);
void add_warnings(const Source& source, Json& document);
void add_classes(const Source& source, Json& document);
void add_workers(const Source& source, Json& document);
void add_tasks(const Source& source, Json& document);
void add_graph(const Source& source, Json& document);
void add_convergence(const Source& source, Json& document);
void add_comparison(const Source& source, Json& document);
void add_gold(const Source& source, Json& document);
void add_learning(const Source& source, Json& document);
void add_savings(const Source& source, Json& document);
void add_fairness(const Source& source, Json& document);
void add_trust(const Source& source, Json& document);

}  // namespace wisecrowd::report
