#include <fmt/core.h>

#include "learn/shared/finite.hpp"
#include "learn/shared/number_learner_entry.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_LEARNER(room) \
  namespace room {              \
  NumberLearnerEntry learner(); \
  }
#include "learn/number_learners.def"
#undef WISECROWD_LEARNER

namespace {

const Registry<NumberLearnerEntry>& number_learners() {
  static const Registry<NumberLearnerEntry> all("learner of numbers", {
#define WISECROWD_LEARNER(room) {#room, &room::learner},
#include "learn/number_learners.def"
#undef WISECROWD_LEARNER
                                                                      });
  return all;
}

}  // namespace

std::span<const LearnerInfo> number_learning_methods() { return number_learners().infos(); }

const LearnerInfo& number_learning_method(std::string_view name) { return number_learners().info(name); }

std::string_view default_number_learning_method() { return number_learning_methods().front().name; }

LearnedNumbers learn_numbers(const NumberLearningData& data, std::string_view method, const Parameters& parameters,
                             const NetworkSpec& network, const RunContext& context) {
  validate(network);
  validate(data);
  LearnedNumbers learned = number_learners().make(method, parameters)->fit(data, network, context);
  for (const auto* values : {&learned.row_estimate, &learned.crowd.bias, &learned.crowd.scale, &learned.crowd.slope}) {
    if (all_finite(std::span<const double>(*values))) continue;
    throw Diverged(fmt::format("{} diverged, what it found is not finite: lower learning_rate", method));
  }
  return learned;
}

}  // namespace wisecrowd
