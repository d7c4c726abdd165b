#include <fmt/format.h>

#include <array>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room)                                          \
  namespace room {                                                      \
  MethodInfo info();                                                    \
  std::unique_ptr<NumberAggregator> make(const Parameters& parameters); \
  }
#include "aggregate/numbers/methods.def"
#undef WISECROWD_METHOD

namespace {

struct NumberEntry {
  std::string_view name;
  MethodInfo (*info)();
  std::unique_ptr<NumberAggregator> (*make)(const Parameters&);
};

constexpr std::array kNumberEntries = {
#define WISECROWD_METHOD(room) NumberEntry{#room, &room::info, &room::make},
#include "aggregate/numbers/methods.def"
#undef WISECROWD_METHOD
};

}  // namespace

std::span<const MethodInfo> number_methods() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> infos;
    for (const NumberEntry& entry : kNumberEntries) {
      infos.push_back(entry.info());
      infos.back().name = entry.name;
    }
    return infos;
  }();
  return all;
}

const MethodInfo& number_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodInfo& info : number_methods()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  for (const MethodInfo& other : aggregation_methods()) {
    if (other.name == name) {
      throw Error(ErrorCode::bad_parameter,
                  fmt::format("{} finds classes, but these answers are numbers: choose one of {}", name,
                              fmt::join(names, ", ")));
    }
  }
  throw Error(ErrorCode::bad_parameter, fmt::format("there is no method '{}' for answers that are numbers: choose {}",
                                                    name, fmt::join(names, ", ")));
}

std::string_view default_number_method() { return "median"; }

std::unique_ptr<NumberAggregator> make_number_aggregator(std::string_view name, const Parameters& parameters) {
  const MethodInfo& info = number_method(name);
  for (const NumberEntry& entry : kNumberEntries) {
    if (entry.name == info.name) return entry.make(parameters);
  }
  throw Error(ErrorCode::internal, "a method is listed but cannot be made");
}

NumberFit aggregate(const NumberData& data, std::string_view method, const Parameters& parameters,
                    const RunContext& context) {
  validate(data);
  return make_number_aggregator(method, parameters)->fit(data, context);
}

NumberFit aggregate(const NumberData& data, std::string_view method) {
  const std::string_view name = method.empty() ? default_number_method() : method;
  return aggregate(data, name, Parameters(number_method(name).parameters), RunContext());
}

}  // namespace wisecrowd
