#include "base/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

namespace wisecrowd {
namespace {

constexpr std::size_t kMostKept = std::size_t{256} << 20;

void* map_pages(std::size_t bytes) {
  // One page more, and the ends cut off, for the alignment.
  void* const mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > begin) munmap(mapped, aligned - begin);
  const std::uintptr_t end = begin + bytes + kHugePage;
  if (end > aligned + bytes) munmap(reinterpret_cast<void*>(aligned + bytes), end - aligned - bytes);
  void* const memory = reinterpret_cast<void*>(aligned);
  madvise(memory, bytes, MADV_HUGEPAGE);  // advice only: a refusal costs speed, not correctness
  return memory;
}

/// Free stretches by address; neighbours are one stretch.
class FreePages {
 public:
  /// The smallest stretch that is large enough, cut to size; or nullptr.
  void* take(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    auto best = stretches_.end();
    for (auto s = stretches_.begin(); s != stretches_.end(); ++s) {
      if (s->second >= bytes && (best == stretches_.end() || s->second < best->second)) best = s;
    }
    if (best == stretches_.end()) return nullptr;
    // From its end, so that the node of the rest can stay.
    const std::uintptr_t place = best->first + best->second - bytes;
    best->second -= bytes;
    if (best->second == 0) stretches_.erase(best);
    kept_ -= bytes;
    return reinterpret_cast<void*>(place);
  }
  /// False when it is not kept.
  bool put(void* memory, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (kept_ + bytes > kMostKept) return false;
    const auto place = reinterpret_cast<std::uintptr_t>(memory);
    try {
      auto [it, fresh] = stretches_.emplace(place, bytes);
      if (it != stretches_.begin()) {
        const auto before = std::prev(it);
        if (before->first + before->second == place) {
          before->second += bytes;
          stretches_.erase(it);
          it = before;
        }
      }
      const auto after = std::next(it);
      if (after != stretches_.end() && it->first + it->second == after->first) {
        it->second += after->second;
        stretches_.erase(after);
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    kept_ += bytes;
    return true;
  }
  [[nodiscard]] std::size_t kept() noexcept {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> stretches_;
  std::size_t kept_ = 0;
};

/// Never destroyed: vectors of static storage may outlive it otherwise.
FreePages& free_pages() {
  static FreePages& pages = *new FreePages;
  return pages;
}

}  // namespace

void* allocate_huge_pages(std::size_t bytes) {
  void* const kept = free_pages().take(bytes);
  return kept != nullptr ? kept : map_pages(bytes);
}

void free_huge_pages(void* memory, std::size_t bytes) noexcept {
  if (!free_pages().put(memory, bytes)) munmap(memory, bytes);
}

std::size_t kept_huge_pages_bytes() noexcept { return free_pages().kept(); }

}  // namespace wisecrowd
