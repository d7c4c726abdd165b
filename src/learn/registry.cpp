#include <fmt/format.h>

#include <array>

#include "learn/shared/finite.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_LEARNER(room)                                \
  namespace room {                                             \
  LearnerInfo info();                                          \
  std::unique_ptr<Learner> make(const Parameters& parameters); \
  }
#include "learn/learners.def"
#undef WISECROWD_LEARNER

namespace {

struct Entry {
  std::string_view name;
  LearnerInfo (*info)();
  std::unique_ptr<Learner> (*make)(const Parameters&);
};

constexpr std::array kEntries = {
#define WISECROWD_LEARNER(room) Entry{#room, &room::info, &room::make},
#include "learn/learners.def"
#undef WISECROWD_LEARNER
};

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

std::span<const LearnerInfo> learning_methods() {
  static const std::vector<LearnerInfo> all = [] {
    std::vector<LearnerInfo> infos;
    for (const Entry& entry : kEntries) {
      infos.push_back(entry.info());
      infos.back().name = entry.name;
    }
    return infos;
  }();
  return all;
}

const LearnerInfo& learning_method(std::string_view name) {
  if (name == "auto" || name == "automatic") name = "auto_learner";
  std::vector<std::string_view> names;
  for (const LearnerInfo& info : learning_methods()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no learner '{}': choose {}", name, fmt::join(names, ", ")));
}

std::string_view default_learning_method() { return "auto_learner"; }

std::unique_ptr<Learner> make_learner(std::string_view name, const Parameters& parameters) {
  const LearnerInfo& info = learning_method(name);
  for (const Entry& entry : kEntries) {
    if (entry.name == info.name) return entry.make(parameters);
  }
  throw Error(ErrorCode::internal, "a learner is listed but cannot be made");
}

Learned learn(const LearningData& data, std::string_view method, const Parameters& parameters,
              const NetworkSpec& network, const RunContext& context) {
  const LearnerInfo& info = learning_method(method);
  validate(network);
  validate(data);
  if (data.crowd.has_gold() && !info.uses_gold) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} cannot learn from known truth: keep it for evaluation", info.name));
  }
  if (info.linear_only && network.kind != "linear") {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} is defined for a linear classifier: choose the model linear", info.name));
  }
  if (info.max_classes != 0 && data.crowd.answers.class_count() > info.max_classes) {
    throw Error(ErrorCode::unsupported, fmt::format("{} works for at most {} classes; these data have {}", info.name,
                                                    info.max_classes, data.crowd.answers.class_count()));
  }
  Learned learned = make_learner(method, parameters)->fit(data, network, context);
  require_finite(learned, info.name);
  return learned;
}

}  // namespace wisecrowd
