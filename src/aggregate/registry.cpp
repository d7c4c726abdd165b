#include <fmt/format.h>

#include <array>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room)                                    \
  namespace room {                                                \
  MethodInfo info();                                              \
  std::unique_ptr<Aggregator> make(const Parameters& parameters); \
  }
#include "aggregate/methods.def"
#undef WISECROWD_METHOD

namespace {

struct Entry {
  std::string_view name;
  MethodInfo (*info)();
  std::unique_ptr<Aggregator> (*make)(const Parameters&);
};

constexpr std::array kEntries = {
#define WISECROWD_METHOD(room) Entry{#room, &room::info, &room::make},
#include "aggregate/methods.def"
#undef WISECROWD_METHOD
};

}  // namespace

std::span<const MethodInfo> aggregation_methods() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> infos;
    for (const Entry& entry : kEntries) {
      infos.push_back(entry.info());
      infos.back().name = entry.name;
    }
    return infos;
  }();
  return all;
}

const MethodInfo& aggregation_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodInfo& info : aggregation_methods()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no method '{}': choose {}", name, fmt::join(names, ", ")));
}

std::string_view default_aggregation_method() { return "hierarchical_dawid_skene"; }

std::unique_ptr<Aggregator> make_aggregator(std::string_view name, const Parameters& parameters) {
  static_cast<void>(aggregation_method(name));  // throws for an unknown name
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.make(parameters);
  }
  throw Error(ErrorCode::internal, "a method is listed but cannot be made");
}

Aggregation aggregate(const Dataset& data, std::string_view method, const Parameters& parameters,
                      const RunContext& context, const Start& start) {
  const MethodInfo& info = aggregation_method(method);
  validate(data);
  if (data.answers.has_repeats() && !info.allows_repeats) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} cannot use repeated answers of a worker to a task: read the data "
                            "with duplicates keep-last",
                            info.name));
  }
  if (info.max_classes != 0 && data.answers.class_count() > info.max_classes) {
    throw Error(ErrorCode::unsupported, fmt::format("{} works for at most {} classes; these data have {}", info.name,
                                                    info.max_classes, data.answers.class_count()));
  }
  if (info.max_workers != 0 && data.answers.worker_count() > info.max_workers) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} compares all workers with each other and takes at most {}; these data have {}",
                            info.name, info.max_workers, data.answers.worker_count()));
  }
  if (!start.empty()) {
    if (!info.uses_start) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("{} does not iterate, so it cannot start from another method", info.name));
    }
    if (start.posterior.size() != data.answers.task_count() * data.answers.class_count()) {
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("a start needs a probability for each of {} tasks × {} classes, not {} numbers",
                              data.answers.task_count(), data.answers.class_count(), start.posterior.size()));
    }
  }
  return make_aggregator(method, parameters)->fit(data, context, start);
}

Aggregation aggregate(const Dataset& data, std::string_view method) {
  const std::string_view name = method.empty() ? default_aggregation_method() : method;
  return aggregate(data, name, Parameters(aggregation_method(name).parameters), RunContext());
}

}  // namespace wisecrowd
