#pragma once

#include "aggregate/method.hpp"

namespace wisecrowd {

/// All methods of a kind; its registry.cpp defines this and default_method_of, and ends with
/// WISECROWD_METHODS_OF(Kind).
template <class Kind>
[[nodiscard]] const Registry<Method<Kind>>& registry_of();

/// Throws bad_parameter: there is no such method for answers of this kind, though perhaps for another.
[[noreturn]] void refuse_method(std::string_view kind, std::string_view name, const std::vector<std::string>& names);

template <class Kind>
std::span<const MethodInfo> methods_of() {
  return registry_of<Kind>().infos();
}

template <class Kind>
const MethodInfo& method_of(std::string_view name) {
  if (const MethodInfo* const found = registry_of<Kind>().find(name)) return *found;
  refuse_method(Kind::name, name, registry_of<Kind>().names());
}

template <class Kind>
std::unique_ptr<Aggregator<Kind>> make_method(std::string_view name, const Parameters& parameters) {
  return registry_of<Kind>().make(method_of<Kind>(name).name, parameters);
}

template <DataOfKind Data>
typename Data::Kind::Fit aggregate(const Data& data, std::string_view method, const Parameters& parameters,
                                   const RunContext& context) {
  validate(data);
  return make_method<typename Data::Kind>(method, parameters)->fit(data, context);
}

#define WISECROWD_METHODS_OF(Kind)                                                                   \
  template std::span<const MethodInfo> methods_of<Kind>();                                           \
  template const MethodInfo& method_of<Kind>(std::string_view);                                      \
  template std::unique_ptr<Aggregator<Kind>> make_method<Kind>(std::string_view, const Parameters&); \
  template Kind::Fit aggregate<Kind::Data>(const Kind::Data&, std::string_view, const Parameters&, const RunContext&)

}  // namespace wisecrowd
