#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/entry_info.hpp"
#include "wisecrowd/ids.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/worker_offer.hpp"

namespace wisecrowd {

/// Answers, task by task: those of task i are [offsets[i], offsets[i + 1]).
struct GivenAnswers {
  std::span<const AnswerIndex> offsets;  ///< tasks + 1, or none: not known
  std::span<const WorkerId> workers;
  std::span<const ClassId> labels;
  [[nodiscard]] bool empty() const noexcept { return offsets.empty(); }
};

/// What a selector sees of a crowd: posteriors, workers, who answered what. A view; the owner keeps the memory. Its
/// functions are called from several threads at once.
struct CrowdView {
  std::size_t class_count = 0;
  std::span<const double> posterior;  ///< tasks × classes, rows sum to 1
  /// The posterior is a mean over draws of all that is unknown. One that stands on an estimate of the tables is too
  /// sure of itself.
  bool posterior_is_averaged = false;
  /// Workers × truth × label: Dirichlet parameters (prior + expected counts). Their means are the tables, their sums
  /// say how well a table is known.
  std::span<const double> worker_counts;
  std::span<const std::uint32_t> task_answers;    ///< answers so far, per task
  std::span<const std::uint32_t> worker_answers;  ///< answers so far, per worker

  /// With these a pair is also worth what it tells of tasks that its worker has answered: expected_information.
  GivenAnswers answers;
  /// True for a worker who has answered the task already; nobody is asked twice. Empty: nobody has.
  std::function<bool(TaskId, WorkerId)> asked;
  /// Where not everybody can be asked on every task, as in a replay of recorded answers: those who can, and have not
  /// been. Empty: everyone who is available.
  std::function<std::span<const WorkerId>(TaskId)> askable;

  /// Passes × tasks × classes: what a network says in several passes with dropout. For bald and predictive_entropy,
  /// and for dalc where there are several.
  std::span<const double> passes;
  std::size_t pass_count = 0;
  /// Probability that this worker is right on this task, by a model of features. For dalc.
  std::function<double(TaskId, WorkerId)> reliability;

  [[nodiscard]] std::size_t task_count() const noexcept { return task_answers.size(); }
  [[nodiscard]] std::size_t worker_count() const noexcept { return worker_answers.size(); }
  [[nodiscard]] std::span<const double> posterior_of(TaskId task) const noexcept {
    return posterior.subspan(index(task) * class_count, class_count);
  }
  [[nodiscard]] std::span<const double> counts_of(WorkerId worker) const noexcept {
    return worker_counts.subspan(index(worker) * class_count * class_count, class_count * class_count);
  }
};

/// One pair to ask.
struct Choice {
  TaskId task;
  WorkerId worker;
  double expected_gain;  ///< nats: how much the answer is expected to tell of the truth, of this task and of others
  double cost;
};

/// How much to choose.
struct SelectionRequest {
  std::size_t pairs = 100;                                  ///< at most so many
  double budget = std::numeric_limits<double>::infinity();  ///< and at most this cost together
  std::span<const WorkerOffer> offers;                      ///< one per worker; empty: all at cost 1, without limits
  std::uint64_t round = 0;                                  ///< chance is drawn anew for every round
};

/// What was chosen, and why no more.
struct Selection {
  std::vector<Choice> choices;     ///< the most valuable first
  std::size_t settled = 0;         ///< tasks left out because they are sure enough
  std::size_t not_worth_cost = 0;  ///< tasks left out because no answer to them is worth its price
  std::size_t exhausted = 0;       ///< tasks left out because nobody is left to ask
  [[nodiscard]] double cost() const noexcept {
    double sum = 0;
    for (const Choice& choice : choices) sum += choice.cost;
    return sum;
  }
};

/// What a selector says about itself.
struct SelectorInfo : EntryInfo {
  bool needs_passes = false;       ///< CrowdView::passes
  bool needs_reliability = false;  ///< CrowdView::reliability
};

/// A way of choosing with its parameters fixed. The same view, request and seed give the same choices for any number
/// of threads.
class Selector {
 public:
  virtual ~Selector() = default;
  [[nodiscard]] virtual Selection choose(const CrowdView& crowd, const SelectionRequest& request,
                                         const RunContext& context) const = 0;
};

/// All selectors, in the order of selectors.def.
[[nodiscard]] std::span<const SelectorInfo> selectors();
/// Throws bad_parameter that lists the candidates when there is none of that name.
[[nodiscard]] const SelectorInfo& selector(std::string_view name);
/// The one that `select` uses when none is named.
[[nodiscard]] std::string_view default_selector();
[[nodiscard]] std::unique_ptr<Selector> make_selector(std::string_view name, const Parameters& parameters);

/// Checks the view and the request, makes the selector and lets it choose. Throws bad_input when sizes do not fit and
/// unsupported when the selector needs what the view does not have.
[[nodiscard]] Selection select(const CrowdView& crowd, const SelectionRequest& request, std::string_view selector,
                               const Parameters& parameters, const RunContext& context);

/// How much an answer is expected to tell of the truth, in nats: H(q) − E H(q | answer), for a table of truth × label.
[[nodiscard]] double expected_information(std::span<const double> posterior, std::span<const double> table);

}  // namespace wisecrowd
