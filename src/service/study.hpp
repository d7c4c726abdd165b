#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "service/project.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/state_result.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd::service {

/// What is known of a worker from a look at all answers.
struct WorkerStudy {
  WorkerSummary summary;
  std::string advice, reason;  ///< empty: not judged
  double spammer = 0;          ///< probability that its answers do not depend on the truth
  std::uint32_t copies = 0;    ///< others who answer as one with it
  double agreement = 0;        ///< with the labels; NaN without
  double median_seconds = 0;   ///< per answer; NaN where nobody said
  double last_answer = 0;      ///< seconds since 1970
  /// Stretches of its answers in the order of time: how many, and the expected share of right ones.
  struct Stretch {
    std::uint64_t answers = 0;
    double accuracy = 0;
  };
  std::vector<Stretch> over_time;
};

/// How often two workers gave the same answer to the same task.
struct PairAgreement {
  std::size_t first = 0, second = 0;  ///< places in Study::matrix_workers
  std::uint64_t same = 0, both = 0;
};

/// What takes a look at all answers, made in the background now and then. It says as of which position it is.
struct Study {
  std::int64_t position = 0, refitted_at = 0;
  std::uint64_t tasks = 0, answered = 0, answers = 0, workers = 0, sure = 0, gold = 0;
  double expected_accuracy = 0;  ///< mean probability of the labels of answered tasks; NaN without
  /// Answers that are likely to be needed until every known task is sure; NaN when nothing is known of workers.
  double answers_needed = 0;
  double answers_per_hour = 0;  ///< of the last day; NaN with fewer than two
  std::map<std::string, WorkerStudy> by_worker;
  std::vector<Alert> alerts;
  std::vector<std::string> matrix_workers;  ///< those who gave most answers
  std::vector<PairAgreement> pairs;
};

[[nodiscard]] std::shared_ptr<const Study> make_study(const Project& project, const RunContext& context);

/// Answers that a task of this posterior is likely to need until one class has probability `sure`: the log odds that
/// are missing over those that an answer brings on average.
[[nodiscard]] double answers_until_sure(std::span<const double> posterior, double sure, double gain_per_answer);
/// Log odds that an answer is expected to bring, by the tables of workers who gave so many answers; 0 without any.
[[nodiscard]] double gain_per_answer(std::span<const double> tables, std::span<const WorkerSummary> workers,
                                     std::span<const double> class_prior);

}  // namespace wisecrowd::service
