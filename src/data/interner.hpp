#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

/// Gives dense ids to names in order of first appearance. Open addressing; 8 bytes per slot, the characters kept
/// once. The hash is seeded per table, so crafted names cannot make it quadratic.
class Interner {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  Interner();

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  [[nodiscard]] std::uint64_t hash(std::string_view name) const noexcept;
  std::uint32_t intern(std::string_view name) { return intern(name, hash(name)); }
  /// `hash` must come from an Interner with the same seed.
  std::uint32_t intern(std::string_view name, std::uint64_t hash);
  [[nodiscard]] std::uint32_t find(std::string_view name) const noexcept;
  [[nodiscard]] std::string_view operator[](std::uint32_t id) const noexcept {
    return std::string_view(characters_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]);
  }
  [[nodiscard]] NameTable release() &&;
  [[nodiscard]] NameTable table() const { return {characters_, offsets_}; }

 private:
  struct Slot {
    std::uint32_t tag;
    std::uint32_t id;
  };
  void grow();

  std::vector<Slot> slots_;
  std::string characters_;
  std::vector<std::uint64_t> offsets_{0};
};

}  // namespace wisecrowd
