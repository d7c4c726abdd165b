#include "data/interner.hpp"

#include "base/hash.hpp"
#include "base/random_seed.hpp"

namespace wisecrowd {
namespace {

std::uint64_t process_seed() {
  static const std::uint64_t seed = random_seed();
  return seed;
}

}  // namespace

Interner::Interner() : slots_(64, Slot{0, kAbsent}) {}

std::uint64_t Interner::hash(std::string_view name) const noexcept { return hash_bytes(name, process_seed()); }

std::uint32_t Interner::intern(std::string_view name, std::uint64_t hash) {
  if ((std::size_t{size()} + 1) * 5 > slots_.size() * 3) grow();
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.id == kAbsent) {
      slot = {tag, size()};
      characters_.append(name);
      offsets_.push_back(characters_.size());
      return slot.id;
    }
    if (slot.tag == tag && (*this)[slot.id] == name) return slot.id;
  }
}

std::uint32_t Interner::find(std::string_view name) const noexcept {
  const std::uint64_t h = hash(name);
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(h >> 32);
  for (std::size_t at = h & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id == kAbsent) return kAbsent;
    if (slot.tag == tag && (*this)[slot.id] == name) return slot.id;
  }
}

void Interner::grow() {
  std::vector<Slot> larger(slots_.size() * 2, Slot{0, kAbsent});
  const std::size_t mask = larger.size() - 1;
  for (std::uint32_t id = 0; id < size(); ++id) {
    const std::uint64_t h = hash((*this)[id]);
    std::size_t at = h & mask;
    while (larger[at].id != kAbsent) at = (at + 1) & mask;
    larger[at] = {static_cast<std::uint32_t>(h >> 32), id};
  }
  slots_ = std::move(larger);
}

NameTable Interner::release() && { return {std::move(characters_), std::move(offsets_)}; }

}  // namespace wisecrowd
