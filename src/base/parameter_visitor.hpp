#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/parameters.hpp"

namespace wisecrowd {

/// A method says once what its parameters are: a function goes through its options and tells a visitor the name, the
/// field, the range and the meaning of each,
///
///   void parameters(ParameterVisitor& v, Options& o) {
///     v.real("pseudo_count", o.pseudo_count, 0, 1e9, "answers added to every cell");
///     v.choice("ties", o.ties, kTieRuleNames, "which of equally probable classes becomes the label");
///   }
///
/// One visitor makes the table of parameters of it, with the defaults that Options{} has, another fills the options
/// from checked values.
class ParameterVisitor {
 public:
  virtual ~ParameterVisitor() = default;

  virtual void real(std::string_view name, double& value, double minimum, double maximum, std::string_view help) = 0;
  virtual void flag(std::string_view name, bool& value, std::string_view help) = 0;
  /// Another name of the last parameter, from before it was renamed: still understood, with a note.
  virtual void formerly(std::string_view name) = 0;
  /// The same for one of its choices.
  virtual void choice_formerly(std::string_view former, std::string_view now) = 0;

  template <class Integer>
  void integer(std::string_view name, Integer& value, double minimum, double maximum, std::string_view help) {
    auto number = static_cast<std::int64_t>(value);
    whole(name, number, minimum, maximum, help);
    value = static_cast<Integer>(number);
  }
  template <class Value, std::size_t count>
  void choice(std::string_view name, Value& value, const EnumNames<Value, count>& names, std::string_view help) {
    std::string text(name_in(names, value));
    one_of(name, text, names_in(names), help);
    value = value_in(names, name, text);
  }
  void choice(std::string_view name, std::string& value, std::vector<std::string> choices, std::string_view help) {
    one_of(name, value, std::move(choices), help);
  }

 protected:
  virtual void whole(std::string_view name, std::int64_t& value, double minimum, double maximum,
                     std::string_view help) = 0;
  virtual void one_of(std::string_view name, std::string& value, std::vector<std::string> choices,
                      std::string_view help) = 0;
};

/// Makes the table of parameters.
class ParameterDeclarer final : public ParameterVisitor {
 public:
  void real(std::string_view name, double& value, double minimum, double maximum, std::string_view help) override;
  void flag(std::string_view name, bool& value, std::string_view help) override;
  void formerly(std::string_view name) override;
  void choice_formerly(std::string_view former, std::string_view now) override;
  [[nodiscard]] std::vector<ParameterSpec> take() && { return std::move(specs_); }

 protected:
  void whole(std::string_view name, std::int64_t& value, double minimum, double maximum,
             std::string_view help) override;
  void one_of(std::string_view name, std::string& value, std::vector<std::string> choices,
              std::string_view help) override;

 private:
  std::vector<ParameterSpec> specs_;
};

/// Fills options from checked values.
class ParameterReader final : public ParameterVisitor {
 public:
  explicit ParameterReader(const Parameters& values) : values_(values) {}
  void real(std::string_view name, double& value, double minimum, double maximum, std::string_view help) override;
  void flag(std::string_view name, bool& value, std::string_view help) override;
  void formerly(std::string_view) override {}
  void choice_formerly(std::string_view, std::string_view) override {}

 protected:
  void whole(std::string_view name, std::int64_t& value, double minimum, double maximum,
             std::string_view help) override;
  void one_of(std::string_view name, std::string& value, std::vector<std::string> choices,
              std::string_view help) override;

 private:
  const Parameters& values_;
};

/// The table of parameters; `defaults` say what holds where nothing is set.
template <class Options>
[[nodiscard]] std::vector<ParameterSpec> declare_parameters(void (*parameters)(ParameterVisitor&, Options&),
                                                            std::type_identity_t<Options> defaults = {}) {
  ParameterDeclarer declarer;
  parameters(declarer, defaults);
  return std::move(declarer).take();
}

/// The options that these values mean.
template <class Options>
[[nodiscard]] Options read_parameters(void (*parameters)(ParameterVisitor&, Options&), const Parameters& values) {
  Options options;
  ParameterReader reader(values);
  parameters(reader, options);
  return options;
}

}  // namespace wisecrowd
