#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "wisecrowd/entry_info.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

/// What a room offers to its registry: what it says about itself, and how it is made from checked parameters.
template <class InfoType, class ObjectType>
struct Entry {
  using Info = InfoType;      ///< derived from EntryInfo
  using Object = ObjectType;  ///< what is made: an aggregator, a learner, a selector

  Info info;
  std::unique_ptr<Object> (*make)(const Parameters&) = nullptr;

  /// `parameters` goes through the options that a `Made` is constructed from (see ParameterVisitor).
  template <class Made, auto parameters>
  [[nodiscard]] static Entry of(Info info) {
    info.parameters = declare_parameters(parameters);
    return {std::move(info), [](const Parameters& values) -> std::unique_ptr<Object> {
              return std::make_unique<Made>(read_parameters(parameters, values));
            }};
  }
  /// For those without parameters.
  template <class Made>
  [[nodiscard]] static Entry of(Info info) {
    return {std::move(info), [](const Parameters&) -> std::unique_ptr<Object> { return std::make_unique<Made>(); }};
  }
};

/// Throws bad_parameter: "there is no method 'x': choose a, b, c".
[[noreturn]] void refuse_entry(std::string_view what, std::string_view name, const std::vector<std::string>& names);

/// All rooms of a list (methods.def, learners.def, selectors.def), in its order.
template <class EntryType>
class Registry {
 public:
  using Info = typename EntryType::Info;
  using Object = typename EntryType::Object;
  /// A line of the list.
  struct Room {
    std::string_view name;
    EntryType (*entry)();
  };
  struct Alias {
    std::string_view other;
    std::string_view name;
  };

  /// `what` they are, for errors.
  Registry(std::string_view what, std::initializer_list<Room> rooms, std::initializer_list<Alias> aliases = {})
      : what_(what), aliases_(aliases) {
    for (const Room& room : rooms) {
      EntryType entry = room.entry();
      infos_.push_back(std::move(entry.info));
      infos_.back().name = room.name;
      makers_.push_back(entry.make);
    }
  }

  [[nodiscard]] std::span<const Info> infos() const noexcept { return infos_; }

  /// Also by an alias; null when there is none of that name.
  [[nodiscard]] const Info* find(std::string_view name) const noexcept {
    for (const Alias& alias : aliases_) {
      if (alias.other == name) name = alias.name;
    }
    const auto found = std::find_if(infos_.begin(), infos_.end(), [&](const Info& info) { return info.name == name; });
    return found == infos_.end() ? nullptr : &*found;
  }

  /// The same; throws bad_parameter that lists the candidates when there is none.
  [[nodiscard]] const Info& info(std::string_view name) const {
    if (const Info* const found = find(name)) return *found;
    refuse_entry(what_, name, names());
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Info& info : infos_) names.push_back(info.name);
    return names;
  }

  [[nodiscard]] std::unique_ptr<Object> make(std::string_view name, const Parameters& parameters) const {
    return makers_[static_cast<std::size_t>(&info(name) - infos_.data())](parameters);
  }

 private:
  std::string_view what_;
  std::vector<Alias> aliases_;
  std::vector<Info> infos_;
  std::vector<std::unique_ptr<Object> (*)(const Parameters&)> makers_;
};

}  // namespace wisecrowd
