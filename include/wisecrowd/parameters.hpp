#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace wisecrowd {

using ParameterValue = std::variant<double, std::int64_t, bool, std::string>;

/// One parameter of a method. Command line, documentation, run record and bindings all read a table of these.
struct ParameterSpec {
  std::string name;
  ParameterValue default_value;  ///< its type is the parameter's type
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  ///< for text parameters: what may be said
  std::string help;
  std::vector<std::string> former_names;                            ///< from before it was renamed; still understood
  std::vector<std::pair<std::string, std::string>> former_choices;  ///< the same for choices: what was said, what is

  [[nodiscard]] static ParameterSpec real(std::string name, double value, double minimum, double maximum,
                                          std::string help);
  [[nodiscard]] static ParameterSpec integer(std::string name, std::int64_t value, double minimum, double maximum,
                                             std::string help);
  [[nodiscard]] static ParameterSpec choice(std::string name, std::string value, std::vector<std::string> choices,
                                            std::string help);
  [[nodiscard]] static ParameterSpec flag(std::string name, bool value, std::string help);
};

[[nodiscard]] std::string to_string(const ParameterValue& value);
/// True for its name and for a former one.
[[nodiscard]] bool is_called(const ParameterSpec& spec, std::string_view name);
/// "number >= 0", "one of a, b, c", …
[[nodiscard]] std::string describe_range(const ParameterSpec& spec);

/// A complete, checked assignment of a method's parameters.
class Parameters {
 public:
  /// All defaults.
  explicit Parameters(std::span<const ParameterSpec> specs);

  /// Sets from text, as after --set; throws bad_parameter naming what would have been right. A former name is
  /// understood, and noted.
  void set(std::string_view name, std::string_view text);
  void set_value(std::string_view name, ParameterValue value);

  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] const std::string& choice(std::string_view name) const;

  [[nodiscard]] const std::map<std::string, ParameterValue, std::less<>>& all() const noexcept { return values_; }
  /// For the user: "fading is now called decoupled_decay".
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  [[nodiscard]] const ParameterSpec& spec_of(std::string_view name) const;
  void note(std::string text);
  std::vector<ParameterSpec> specs_;
  std::map<std::string, ParameterValue, std::less<>> values_;
  std::vector<std::string> notes_;
};

}  // namespace wisecrowd
