#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common_options.hpp"
#include "wisecrowd/learn_result.hpp"
#include "wisecrowd/read_features.hpp"

namespace wisecrowd::app {

/// Which files hold the features.
struct FeatureFlags {
  std::string features;
  std::string tasks;
  std::uint64_t text_columns = FeatureOptions{}.text_columns;

  void add_to(Command& command, bool required, bool with_text_columns);
  [[nodiscard]] LearningFiles files(const std::string& labels, const std::string& gold, bool learn_from_gold) const;
  [[nodiscard]] std::optional<std::string> tasks_file() const;
};

/// Which network is trained.
struct NetworkFlags {
  std::string model;
  std::uint64_t hidden = NetworkSpec{}.hidden;
  std::uint64_t layers = NetworkSpec{}.layers;
  double dropout = NetworkSpec{}.dropout;

  void add_to(Command& command);
  /// The network for a learner; refuses a model that is no name and no file.
  [[nodiscard]] NetworkSpec spec(const LearnerInfo& info) const;
};

/// "mlp, 1 hidden layer of 128 units, dropout 0.5"
[[nodiscard]] std::string network_text(const NetworkSpec& network);

/// "400 rows of 2 numbers: 200 to train, 200 test"
[[nodiscard]] std::string rows_text(const LearnedRows& result);
/// "12 of 60, chosen by held-out likelihood (log P -0.512)"; `score` says what the number is.
[[nodiscard]] std::string epochs_text(const LearnedRows& result, const std::string& score);

/// Scores every part of the data that has gold the learner did not see. `with_tasks`: the answered tasks too.
[[nodiscard]] std::vector<LearnScore> score_learned(const LearningInput& input, const Learned& learned, bool with_tasks,
                                                    const RunContext& context);

struct LearnRequest {
  LearningFiles files;
  std::string method;  ///< empty: the default
  std::vector<std::string> settings;
  NetworkFlags network;
  CleaningRequest without;
  ReadOptions read;
  std::optional<std::string> out;
  bool torchscript = false;
};

struct LearnOutcome {
  LearnResult result;
  double fit_seconds = 0;
};

/// Reads, learns, scores, summarises, and writes if wanted.
[[nodiscard]] LearnOutcome run_learn(const LearnRequest& request, Session& session, Work& work);

}  // namespace wisecrowd::app
