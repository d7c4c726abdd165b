#include <fmt/format.h>

#include "aggregate/method.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room) \
  namespace room {             \
  NumberMethod method();       \
  }
#include "aggregate/numbers/methods.def"
#undef WISECROWD_METHOD

namespace {

const Registry<NumberMethod>& all_number_methods() {
  static const Registry<NumberMethod> all("method", {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/numbers/methods.def"
#undef WISECROWD_METHOD
                                                    });
  return all;
}

}  // namespace

std::span<const MethodInfo> number_methods() { return all_number_methods().infos(); }

const MethodInfo& number_method(std::string_view name) {
  if (const MethodInfo* const found = all_number_methods().find(name)) return *found;
  const std::vector<std::string> names = all_number_methods().names();
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
  return all_number_methods().make(number_method(name).name, parameters);
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
