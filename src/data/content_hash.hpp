#pragma once

#include <cstdint>

#include "base/hash.hpp"
#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// A fingerprint of answers: the same on every machine.
class ContentHash {
 public:
  ContentHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
  ~ContentHash() { XXH3_freeState(state_); }
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  void add(const void* data, std::size_t bytes) {
    const std::uint64_t size = bytes;
    XXH3_64bits_update(state_, &size, sizeof size);
    XXH3_64bits_update(state_, data, bytes);
  }
  void add_graph(const AnswerGraph& graph) {
    add(graph.task_offsets().data(), graph.task_offsets().size_bytes());
    add(graph.workers().data(), graph.workers().size_bytes());
  }
  void add_names(const NameTable& names) {
    const std::uint64_t count = names.size();
    XXH3_64bits_update(state_, &count, sizeof count);
    for (std::size_t i = 0; i < names.size(); ++i) add(names[i].data(), names[i].size());
  }
  [[nodiscard]] std::uint64_t value() const { return XXH3_64bits_digest(state_); }

 private:
  XXH3_state_t* state_;
};

}  // namespace wisecrowd
