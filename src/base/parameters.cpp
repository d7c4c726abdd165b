#include "wisecrowd/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/shares.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

[[noreturn]] void refuse(const ParameterSpec& spec, std::string_view text) {
  throw Error(ErrorCode::bad_parameter,
              fmt::format("parameter '{}' cannot be '{}': it takes {} (default {})", spec.name, text,
                          describe_range(spec), to_string(spec.default_value)));
}

template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

/// Shares are often written with two or three digits: 0.333,0.333,0.333.
constexpr double kSumOfSharesMayMissBy = 2e-3;

bool is_shares(const std::string& text) { return !shares_in(text).empty(); }

bool is_among(const std::vector<std::string>& choices, const std::string& text) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return true;
  return is_shares(text) && std::any_of(choices.begin(), choices.end(), is_shares);
}

}  // namespace

std::vector<double> shares_in(std::string_view text) {
  std::vector<double> shares;
  double sum = 0;
  while (true) {
    const std::size_t comma = text.find(',');
    double share = 0;
    if (!parse(text.substr(0, comma), share) || !(share > 0 && share <= 1)) return {};
    shares.push_back(share);
    sum += share;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return std::abs(sum - 1) <= kSumOfSharesMayMissBy ? shares : std::vector<double>();
}

ParameterSpec ParameterSpec::real(std::string name, double value, double minimum, double maximum, std::string help) {
  return {std::move(name), value, minimum, maximum, {}, std::move(help), {}, {}};
}
ParameterSpec ParameterSpec::integer(std::string name, std::int64_t value, double minimum, double maximum,
                                     std::string help) {
  return {std::move(name), value, minimum, maximum, {}, std::move(help), {}, {}};
}
ParameterSpec ParameterSpec::choice(std::string name, std::string value, std::vector<std::string> choices,
                                    std::string help) {
  ParameterSpec spec{std::move(name), std::move(value), {}, {}, {}, std::move(help), {}, {}};
  spec.choices = std::move(choices);
  return spec;
}
ParameterSpec ParameterSpec::flag(std::string name, bool value, std::string help) {
  return {std::move(name), value, {}, {}, {}, std::move(help), {}, {}};
}

std::string to_string(const ParameterValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value);
}

bool is_called(const ParameterSpec& spec, std::string_view name) {
  return spec.name == name ||
         std::find(spec.former_names.begin(), spec.former_names.end(), name) != spec.former_names.end();
}

std::string describe_range(const ParameterSpec& spec) {
  if (std::holds_alternative<bool>(spec.default_value)) return "true or false";
  if (std::holds_alternative<std::string>(spec.default_value)) {
    std::vector<std::string> names;
    std::string or_shares;
    for (const std::string& choice : spec.choices) {
      if (is_shares(choice)) {
        or_shares = ", or a positive share per class, in all 1, such as " + choice;
      } else {
        names.push_back(choice);
      }
    }
    return fmt::format("one of {}{}", fmt::join(names, ", "), or_shares);
  }
  const std::string_view kind = std::holds_alternative<double>(spec.default_value) ? "a number" : "an integer";
  if (std::isfinite(spec.minimum) && std::isfinite(spec.maximum)) {
    return fmt::format("{} from {} to {}", kind, spec.minimum, spec.maximum);
  }
  if (std::isfinite(spec.minimum)) return fmt::format("{} of at least {}", kind, spec.minimum);
  if (std::isfinite(spec.maximum)) return fmt::format("{} of at most {}", kind, spec.maximum);
  return std::string(kind);
}

Parameters::Parameters(std::span<const ParameterSpec> specs) : specs_(specs.begin(), specs.end()) {
  for (const auto& spec : specs_) values_[spec.name] = spec.default_value;
}

const ParameterSpec& Parameters::spec_of(std::string_view name) const {
  const auto found = std::find_if(specs_.begin(), specs_.end(), [&](const auto& s) { return is_called(s, name); });
  if (found != specs_.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& spec : specs_) names.push_back(spec.name);
  throw Error(ErrorCode::bad_parameter,
              names.empty() ? fmt::format("unknown parameter '{}': this method has none", name)
                            : fmt::format("unknown parameter '{}': this method has {}", name, fmt::join(names, ", ")));
}

void Parameters::set(std::string_view name, std::string_view text) {
  const ParameterSpec& spec = spec_of(name);
  if (std::holds_alternative<double>(spec.default_value)) {
    double value = 0;
    if (!parse(text, value)) refuse(spec, text);
    set_value(name, ParameterValue(value));
  } else if (std::holds_alternative<std::int64_t>(spec.default_value)) {
    std::int64_t value = 0;
    if (!parse(text, value)) refuse(spec, text);
    set_value(name, ParameterValue(value));
  } else if (std::holds_alternative<bool>(spec.default_value)) {
    if (text != "true" && text != "false") refuse(spec, text);
    set_value(name, ParameterValue(text == "true"));
  } else {
    set_value(name, ParameterValue(std::string(text)));
  }
}

void Parameters::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

void Parameters::set_value(std::string_view name, ParameterValue value) {
  const ParameterSpec& spec = spec_of(name);
  if (std::holds_alternative<double>(spec.default_value) && std::holds_alternative<std::int64_t>(value)) {
    value = static_cast<double>(std::get<std::int64_t>(value));
  }
  for (const auto& [former, now] : spec.former_choices) {
    if (value != ParameterValue(former)) continue;
    note(fmt::format("{}={} is now called {}", spec.name, former, now));
    value = now;
    break;
  }
  bool fits = value.index() == spec.default_value.index();
  if (const auto* real = std::get_if<double>(&value)) {
    fits = fits && std::isfinite(*real) && *real >= spec.minimum && *real <= spec.maximum;
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    const auto number = static_cast<double>(*integer);
    fits = fits && number >= spec.minimum && number <= spec.maximum;
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    fits = fits && is_among(spec.choices, *text);
  }
  if (!fits) refuse(spec, to_string(value));
  if (name != spec.name) note(fmt::format("{} is now called {}", name, spec.name));
  values_.insert_or_assign(spec.name, std::move(value));
}

namespace {

/// A method that asks for a parameter which its table does not declare so is wrong, not its user.
template <class Type>
const Type& value_of(const std::map<std::string, ParameterValue, std::less<>>& values, std::string_view name) {
  const auto found = values.find(name);
  const Type* value = found == values.end() ? nullptr : std::get_if<Type>(&found->second);
  if (value == nullptr) {
    throw Error(ErrorCode::internal, fmt::format("parameter '{}' is not declared, or not of the type asked for", name));
  }
  return *value;
}

}  // namespace

double Parameters::real(std::string_view name) const { return value_of<double>(values_, name); }
std::int64_t Parameters::integer(std::string_view name) const { return value_of<std::int64_t>(values_, name); }
bool Parameters::flag(std::string_view name) const { return value_of<bool>(values_, name); }
const std::string& Parameters::choice(std::string_view name) const { return value_of<std::string>(values_, name); }

}  // namespace wisecrowd
