#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace wisecrowd {

/// Allocator for large arrays of plain values: 2 MB pages where the kernel grants them (random
/// access into hundreds of megabytes is otherwise bound by address translation), memory returned to
/// the system on release, and no zero-fill on resize.
template <class T>
class HugePageAllocator {
 public:
  using value_type = T;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePage) {
      void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      if (memory == nullptr) throw std::bad_alloc();
      return static_cast<T*>(memory);
    }
    const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* memory = std::aligned_alloc(kHugePage, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, rounded, MADV_HUGEPAGE);  // advice only: a refusal costs speed, not correctness
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }

  template <class U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(place)) U;  // default-initialised: left as it is for plain values
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) noexcept { return true; }
};

/// A vector whose new elements are NOT zeroed.
template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace wisecrowd
