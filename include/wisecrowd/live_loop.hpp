#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/dalc_session.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/network_spec.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/worker_offer.hpp"

namespace wisecrowd {

/// How a loop over a living crowd learns and asks, fixed when it begins.
struct LiveSettings {
  LiveSettings();

  std::string policy = "dalc";  ///< dalc, bald or predictive_entropy
  Parameters loop;              ///< live_loop_parameters()
  Parameters model;             ///< of the learner "dalc"
  NetworkSpec network;
};
/// The parameters of the loop itself.
[[nodiscard]] const std::vector<ParameterSpec>& live_loop_parameters();
/// True for a policy that a network with features decides: dalc, bald, predictive_entropy.
[[nodiscard]] bool is_live_policy(std::string_view policy);

/// A question that was put to a worker and has not been answered yet.
struct PendingQuestion {
  std::string task, worker;
  double cost = 1;
  std::int64_t asked_at = 0;  ///< seconds since 1970
  bool given_up = false;      ///< no answer came in time: refunded, and not put to this worker again
};

/// What a loop knows between two rounds, by names, so that tasks and workers may come in any order.
struct LiveMemory {
  bool began = false;  ///< false: there were too few answers to learn from, questions were drawn by chance
  LiveSettings settings;
  std::vector<std::string> classes;
  FeatureRecipe recipe;              ///< how features became rows
  std::uint64_t round = 0;           ///< trainings so far
  std::uint64_t asked_in_round = 0;  ///< how often it was asked what to ask since the last training
  std::uint64_t answers_seen = 0;    ///< a hash of the answers that the last training saw
  std::vector<PendingQuestion> pending;
  std::uint64_t answered = 0, given_up = 0;  ///< questions so far
  double spent = 0, refunded = 0;

  /// The session: its tasks and workers are positions in these names. Empty until it began.
  DalcMemory session;
  std::vector<std::string> tasks, workers;
};

/// What to ask and on what terms.
struct LiveRequest {
  double budget = std::numeric_limits<double>::infinity();
  std::size_t questions = 100;          ///< at most so many
  std::span<const WorkerOffer> offers;  ///< one per worker of the data; empty: all at cost 1, without limits
  /// Where not everybody can be asked about every task: who can. Empty: everybody.
  std::function<bool(TaskId, WorkerId)> can_ask;
  std::int64_t now = 0;  ///< seconds since 1970
};

struct LiveQuestion {
  TaskId task;
  WorkerId worker;
  double doubt = 0;        ///< how unsure the task is, in nats; NaN where questions are drawn by chance
  double reliability = 0;  ///< probability that the worker is right on it; NaN by chance
  double cost = 1;
};

/// What a round of a loop did, and what it asks.
struct LiveRound {
  std::vector<LiveQuestion> questions;  ///< the most unsure task first
  bool by_chance = false;               ///< too few answers to learn from
  bool trained = false;                 ///< new answers were learned from
  std::uint64_t new_answers = 0;        ///< to questions of the loop
  std::uint64_t given_up = 0;           ///< questions that nobody answered in time
  double refunded = 0;                  ///< what these would have cost
  std::uint64_t waiting = 0;            ///< questions that may still be answered, those of this round aside
  std::size_t candidates = 0;           ///< tasks that might have been asked about
};

/// One round: learns from what was answered since the last one, gives up what was not answered in time, and chooses
/// questions. `data` holds all answers so far, a row for every task that may be asked about, and every worker who can
/// be asked; new tasks and workers may appear at any time. `memory` is taken up and brought up to date. The same
/// answers give the same questions for any number of threads, in whatever order tasks and workers became known.
[[nodiscard]] LiveRound next_live_round(const LearningData& data, LiveMemory& memory, const LiveRequest& request,
                                        const RunContext& context);

}  // namespace wisecrowd
