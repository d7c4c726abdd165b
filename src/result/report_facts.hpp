#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd {

/// How often answers to the same task agree.
struct AgreementFacts {
  double share = 0, low = 0, high = 0;  ///< of pairs; 95 % interval with tasks as the units; NaN without pairs
  std::uint64_t pairs = 0;
  /// Per class: how often a second answer says the same when one answer says this class; NaN if never said twice over.
  std::vector<double> by_class;
  /// Per worker: how often its answer is the most frequent one of the others (ties share); NaN if it was always alone.
  std::vector<double> by_worker;
};

/// Scores on gold that the method did not see, in parts.
struct GoldFacts {
  Evaluation evaluation;
  struct Bin {
    double low = 0, high = 0;  ///< of the top probability
    double tasks = 0;
    double confidence = 0;  ///< mean top probability
    double accuracy = 0, accuracy_low = 0, accuracy_high = 0;
  };
  std::vector<Bin> bins;  ///< those that hold tasks
  /// Mean probability of the labels of gold tasks.
  [[nodiscard]] double mean_confidence() const {
    double sum = 0, tasks = 0;
    for (const Bin& bin : bins) {
      sum += bin.confidence * bin.tasks;
      tasks += bin.tasks;
    }
    return tasks > 0 ? sum / tasks : 0;
  }
  struct OfClass {
    double right = 0, predicted = 0, gold = 0;
  };
  std::vector<OfClass> classes;
};

/// What to do with workers, as far as there was time to find out.
struct AdviceFacts {
  std::vector<WorkerAssessment> workers;  ///< one per worker; only those in `judged` mean something
  std::vector<std::uint8_t> judged;
  std::size_t judged_count = 0;
  Drift drift;  ///< who got worse, if it is known when the answers were given
};

/// A part of the worker–task graph that shares no worker and no task with others.
struct GraphPart {
  std::size_t tasks = 0, workers = 0, answers = 0;
};

/// What a report says beyond what a CategoryResult holds, from the stages that know how to find it.
struct ReportFacts {
  Description description;
  AgreementFacts agreement;
  std::vector<GraphPart> parts;  ///< the 20 largest
  std::optional<GoldFacts> gold;
};

[[nodiscard]] ReportFacts report_facts(const CategoryResult& result, const Evaluation* evaluation,
                                       const RunContext& context);

/// Judges all workers if that is quick, else those of `most_wanted`, in this order, as far as it is.
[[nodiscard]] AdviceFacts advise(const CategoryResult& result, std::span<const std::uint32_t> most_wanted,
                                 const RunContext& context);

/// How right these workers were in the course of their answers, in at most so many stretches; none without times.
[[nodiscard]] std::vector<std::vector<DriftSegment>> timelines_of(const CategoryResult& result,
                                                                  std::span<const WorkerId> workers,
                                                                  std::size_t most_stretches,
                                                                  const RunContext& context);

}  // namespace wisecrowd
