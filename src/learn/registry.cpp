#include <fmt/format.h>

#include <array>

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
  return make_learner(method, parameters)->fit(data, network, context);
}

}  // namespace wisecrowd
