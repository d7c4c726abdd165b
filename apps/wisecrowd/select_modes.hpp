#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "learn_run.hpp"
#include "wisecrowd/asking.hpp"

namespace wisecrowd::app {

/// Everything that can be said to `select`; which part counts depends on what is asked for.
struct SelectOptions {
  std::string source;    ///< choose from a state, or from answers
  std::string replay;    ///< or play recorded answers again
  std::string simulate;  ///< or a generator
  std::string advise;    ///< or say what finished data need

  double budget = 0;
  std::string workers;
  std::string policy;
  std::string policies;
  std::vector<std::string> settings;
  std::string method;
  std::string gold;
  std::uint64_t seeds = ReplayOptions{}.seeds;
  std::uint64_t answers_per_round = 0;
  std::uint64_t most_answers = 0;
  std::uint64_t first_answers = 0;
  std::uint64_t candidates = 0;  // 0: by the number of pairs
  std::uint64_t round = 0;
  std::uint64_t crowd = 0, classes = 0;  // of a simulated crowd; 0: as the kind has it
  FeatureFlags features;                 // its `tasks`: the table of tasks, or how many there are in a simulated crowd
  NetworkFlags network;
  std::string loop;  ///< what a loop with features knows between two calls
  std::string out;
  bool json = false;
  bool force = false;
  ReadFlags read;
  RunFlags run;
};

/// Chooses what to ask within a budget.
void select_choices(const SelectOptions& options, Session& session);
/// The same by a policy that a network with features decides.
void select_live_questions(const SelectOptions& options, const SelectorInfo& policy, Session& session);
void select_by_replay(const SelectOptions& options, Session& session);
void select_advice(const SelectOptions& options, Session& session);

/// The selector of that name; a usage error suggests the nearest.
[[nodiscard]] const SelectorInfo& selector_named(const std::string& name);
[[nodiscard]] std::vector<std::string> selector_names();

}  // namespace wisecrowd::app
