#include <fmt/format.h>

#include "learn/shared/finite.hpp"
#include "learn/shared/learner_entry.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_LEARNER(room) \
  namespace room {              \
  LearnerEntry learner();       \
  }
#include "learn/learners.def"
#undef WISECROWD_LEARNER

namespace {

const Registry<LearnerEntry>& learners() {
  static const Registry<LearnerEntry> all("learner",
                                          {
#define WISECROWD_LEARNER(room) {#room, &room::learner},
#include "learn/learners.def"
#undef WISECROWD_LEARNER
                                          },
                                          {{"auto", "auto_learner"}, {"automatic", "auto_learner"}});
  return all;
}

/// The last guard: whatever a learner does, no number that is not finite leaves it.
void require_finite(const Learned& learned, const std::string& name) {
  const CategoryFit& crowd = learned.crowd;
  const auto require = [&](const auto& values, const char* what) {
    using Number = typename std::remove_cvref_t<decltype(values)>::value_type;
    if (all_finite(std::span<const Number>(values))) return;
    throw Diverged(fmt::format("{} diverged, its {} are not finite: lower learning_rate and the sizes of other steps",
                               name, what));
  };
  require(learned.row_probabilities, "probabilities of rows");
  require(learned.final_row_probabilities, "probabilities of rows at the last epoch");
  require(crowd.posterior, "probabilities of tasks");
  require(learned.final_posterior, "probabilities of tasks at the last epoch");
  require(crowd.class_prior, "shares of the classes");
  require(crowd.confusion, "tables of the workers");
  require(crowd.skill, "skills of the workers");
  require(crowd.task_score, "scores of the tasks");
  require(crowd.trace, "losses");
  require(learned.answer_reliability, "reliabilities of answers");
}

}  // namespace

std::span<const LearnerInfo> learning_methods() { return learners().infos(); }

const LearnerInfo& learning_method(std::string_view name) { return learners().info(name); }

std::string_view default_learning_method() { return "auto_learner"; }

std::unique_ptr<Learner> make_learner(std::string_view name, const Parameters& parameters) {
  return learners().make(name, parameters);
}

Learned learn(const LearningData& data, std::string_view method, const Parameters& parameters,
              const NetworkSpec& network, const RunContext& context) {
  const LearnerInfo& info = learning_method(method);
  validate(network);
  require_learnable(info, data);
  if (info.linear_only && network.kind != "linear") {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} is defined for a linear classifier: choose the model linear", info.name));
  }
  Learned learned = make_learner(method, parameters)->fit(data, network, context);
  require_finite(learned, info.name);
  return learned;
}

}  // namespace wisecrowd
