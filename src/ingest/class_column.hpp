#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "data/interner.hpp"
#include "ingest/arena.hpp"
#include "ingest/key_table.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd::ingest {

/// Turns the text of a label column into classes. This is the only place of the reader that knows that answers are
/// categories: other kinds of answers bring a column of their own.
class ClassColumn {
 public:
  /// An empty list: classes are taken from the data.
  explicit ClassColumn(const std::vector<std::string>& given);

  [[nodiscard]] bool is_given() const noexcept { return given_; }
  [[nodiscard]] std::uint32_t find(std::string_view label) const noexcept { return names_.find(label); }
  /// Throws, naming `file`, when there are more classes than ids.
  std::uint32_t add(std::string_view label, const std::string& file);
  [[nodiscard]] const Interner& names() const noexcept { return names_; }
  [[nodiscard]] std::string listed() const;

  /// The final order of classes: place[code] is the class id of a code.
  [[nodiscard]] std::vector<std::uint16_t> final_ids() const;
  [[nodiscard]] NameTable final_names() const;

 private:
  bool given_;
  Interner names_;
};

/// The labels that one chunk slot has met, with codes of its own; kept from window to window. Threads fill theirs
/// without meeting, and `merge` translates.
class ChunkClasses {
 public:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;  ///< not in the given class list

  explicit ChunkClasses(std::uint64_t hash_seed) : seed_(hash_seed) {}

  /// The chunk's own code of a label, or kUnknown.
  [[nodiscard]] std::uint32_t code(std::string_view label, const ClassColumn& column) {
    if (label.size() > PackedName::kMostBytes) return find_or_add(label, column);
    // Nearly all labels are short and few: the same place has held them before.
    const PackedName packed(label);
    Shortcut& shortcut =
        shortcuts_[((packed.words[0] ^ packed.words[1]) * 0x9E3779B97F4A7C15ULL) >> (64 - kShortcutBits)];
    if (shortcut.size != label.size() || shortcut.name.words[0] != packed.words[0] ||
        shortcut.name.words[1] != packed.words[1]) {
      const std::uint32_t found = find_or_add(label, column);
      if (found == kUnknown) return kUnknown;
      shortcut = {packed, label.size(), found};
    }
    return shortcut.code;
  }
  /// Adds what is new to the shared column; serial, in chunk order.
  void merge(ClassColumn& column, const std::string& file);
  /// The shared code of each own code.
  [[nodiscard]] const std::vector<std::uint16_t>& shared_codes() const noexcept { return shared_; }

 private:
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFE;
  struct Slot {
    std::uint64_t hash = 0;
    std::string_view label;
    std::uint32_t code = kEmpty;
  };
  std::uint32_t find_or_add(std::string_view label, const ClassColumn& column) {
    const std::uint64_t hash = hash_bytes(label, seed_);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.code == kEmpty) return add(label, hash, column);
      if (slot.hash == hash && slot.label == label) return slot.code;
    }
  }
  std::uint32_t add(std::string_view label, std::uint64_t hash, const ClassColumn& column);

  static constexpr unsigned kShortcutBits = 6;
  struct Shortcut {
    PackedName name;
    std::size_t size = 0;  // no label is empty
    std::uint32_t code = 0;
  };
  std::array<Shortcut, std::size_t{1} << kShortcutBits> shortcuts_{};
  std::uint64_t seed_;
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::vector<std::string_view> labels_;  // by own code
  std::vector<std::uint16_t> shared_;
  Arena text_;
};

}  // namespace wisecrowd::ingest
