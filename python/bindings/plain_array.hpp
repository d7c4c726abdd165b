#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace wisecrowd::python {

/// An array of plain values that nobody has set yet, in huge pages when it is large: the kernel takes longer to hand
/// out small pages than a pass over them takes.
template <class T>
class PlainArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  PlainArray() = default;
  explicit PlainArray(std::size_t size) : size_(size) {
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const std::size_t bytes = size * sizeof(T);
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
    const std::size_t rounded = (bytes / alignment + 1) * alignment;
    if (size > (~std::size_t{0} - kHugePage) / sizeof(T)) throw std::bad_alloc();
    values_.reset(static_cast<T*>(std::aligned_alloc(alignment, rounded)));
    if (values_ == nullptr) throw std::bad_alloc();
    if (alignment == kHugePage) madvise(values_.get(), rounded, MADV_HUGEPAGE);  // advice: a refusal costs speed alone
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return values_.get(); }
  [[nodiscard]] const T* data() const noexcept { return values_.get(); }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return values_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return values_.get()[i]; }

 private:
  struct Free {
    void operator()(T* values) const noexcept { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
  std::size_t size_ = 0;
};

}  // namespace wisecrowd::python
