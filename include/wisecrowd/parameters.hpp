#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wisecrowd {

using ParameterValue = std::variant<double, std::int64_t, bool, std::string>;

/// One parameter of a method, declared once. Command line, documentation, run record and bindings
/// all read this table.
struct ParameterSpec {
  std::string name;
  ParameterValue default_value;  ///< its type is the parameter's type
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  ///< for text parameters: what may be said
  std::string help;

  [[nodiscard]] static ParameterSpec real(std::string name, double value, double minimum, double maximum,
                                          std::string help);
  [[nodiscard]] static ParameterSpec integer(std::string name, std::int64_t value, double minimum, double maximum,
                                             std::string help);
  [[nodiscard]] static ParameterSpec choice(std::string name, std::string value, std::vector<std::string> choices,
                                            std::string help);
  [[nodiscard]] static ParameterSpec flag(std::string name, bool value, std::string help);
};

[[nodiscard]] std::string to_string(const ParameterValue& value);
/// "number >= 0", "one of a, b, c", …
[[nodiscard]] std::string describe_range(const ParameterSpec& spec);

/// A complete, checked assignment of a method's parameters.
class Parameters {
 public:
  /// All defaults.
  explicit Parameters(std::span<const ParameterSpec> specs);

  /// Sets from text, as after --set; throws bad_parameter naming what would have been right.
  void set(std::string_view name, std::string_view text);
  void set_value(std::string_view name, ParameterValue value);

  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] const std::string& choice(std::string_view name) const;

  [[nodiscard]] const std::map<std::string, ParameterValue, std::less<>>& all() const noexcept { return values_; }

 private:
  [[nodiscard]] const ParameterSpec& spec_of(std::string_view name) const;
  std::vector<ParameterSpec> specs_;
  std::map<std::string, ParameterValue, std::less<>> values_;
};

}  // namespace wisecrowd
