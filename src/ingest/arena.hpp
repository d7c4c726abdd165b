#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace wisecrowd::ingest {

/// Text that stays where it is until the arena is reset.
class Arena {
 public:
  [[nodiscard]] char* allocate(std::size_t bytes) {
    if (bytes > room_) {
      const std::size_t size = std::max(bytes, kBlock);
      blocks_.push_back(std::make_unique<char[]>(size));
      next_ = blocks_.back().get();
      room_ = size;
    }
    room_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }
  [[nodiscard]] std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* place = allocate(text.size());
    std::memcpy(place, text.data(), text.size());
    return {place, text.size()};
  }
  void reset() noexcept {
    blocks_.clear();
    next_ = nullptr;
    room_ = 0;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace wisecrowd::ingest
