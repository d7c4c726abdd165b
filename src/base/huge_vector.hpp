#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"

namespace wisecrowd {

/// Allocator for large arrays of plain values: 2 MB pages where the kernel grants them (random
/// access into hundreds of megabytes is otherwise bound by address translation), and no zero-fill on resize.
template <class T>
class HugePageAllocator {
 public:
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (!is_large(bytes)) {
      void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      if (memory == nullptr) throw std::bad_alloc();
      return static_cast<T*>(memory);
    }
    return static_cast<T*>(allocate_huge_pages(rounded_up(bytes)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    if (is_large(bytes)) {
      free_huge_pages(memory, rounded_up(bytes));
    } else {
      std::free(memory);
    }
  }

  template <class U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(place)) U;  // default-initialised: left as it is for plain values
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) noexcept { return true; }

 private:
  static constexpr std::size_t rounded_up(std::size_t bytes) noexcept {
    return (bytes + kHugePage - 1) / kHugePage * kHugePage;
  }
  /// Under the address sanitizer everything comes from malloc, which it watches.
  static constexpr bool is_large(std::size_t bytes) noexcept {
#if defined(__SANITIZE_ADDRESS__)
    return bytes == ~std::size_t{0};
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return bytes == ~std::size_t{0};
#else
    return bytes >= kHugePage;
#endif
#else
    return bytes >= kHugePage;
#endif
  }
};

/// A vector whose new elements are NOT zeroed.
template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace wisecrowd
