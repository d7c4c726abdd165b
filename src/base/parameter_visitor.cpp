#include "base/parameter_visitor.hpp"

namespace wisecrowd {

void ParameterDeclarer::real(std::string_view name, double& value, double minimum, double maximum,
                             std::string_view help) {
  specs_.push_back(ParameterSpec::real(std::string(name), value, minimum, maximum, std::string(help)));
}
void ParameterDeclarer::whole(std::string_view name, std::int64_t& value, double minimum, double maximum,
                              std::string_view help) {
  specs_.push_back(ParameterSpec::integer(std::string(name), value, minimum, maximum, std::string(help)));
}
void ParameterDeclarer::flag(std::string_view name, bool& value, std::string_view help) {
  specs_.push_back(ParameterSpec::flag(std::string(name), value, std::string(help)));
}
void ParameterDeclarer::one_of(std::string_view name, std::string& value, std::vector<std::string> choices,
                               std::string_view help) {
  specs_.push_back(ParameterSpec::choice(std::string(name), value, std::move(choices), std::string(help)));
}
void ParameterDeclarer::formerly(std::string_view name) { specs_.back().former_names.emplace_back(name); }

void ParameterDeclarer::choice_formerly(std::string_view former, std::string_view now) {
  specs_.back().former_choices.emplace_back(former, now);
}

void ParameterReader::real(std::string_view name, double& value, double, double, std::string_view) {
  value = values_.real(name);
}
void ParameterReader::whole(std::string_view name, std::int64_t& value, double, double, std::string_view) {
  value = values_.integer(name);
}
void ParameterReader::flag(std::string_view name, bool& value, std::string_view) { value = values_.flag(name); }
void ParameterReader::one_of(std::string_view name, std::string& value, std::vector<std::string>, std::string_view) {
  value = values_.choice(name);
}

}  // namespace wisecrowd
