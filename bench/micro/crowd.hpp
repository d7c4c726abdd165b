#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "data/build.hpp"

namespace wisecrowd::bench {

struct CrowdSize {
  std::size_t tasks;
  std::size_t workers;
  std::size_t classes;
  std::size_t answers_per_task;
};

inline NameTable numbered(std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = std::to_string(i);
  return NameTable(names);
}

/// Answers in random file order, three in four of them right.
inline std::vector<AnswerPiece> draw_pieces(const CrowdSize& size, std::size_t pieces) {
  Rng rng(7);
  const std::size_t total = size.tasks * size.answers_per_task;
  std::vector<std::uint32_t> tasks(total);
  for (std::size_t i = 0; i < total; ++i) tasks[i] = static_cast<std::uint32_t>(i % size.tasks);
  rng.shuffle(std::span(tasks));
  std::vector<AnswerPiece> out(pieces);
  for (std::size_t i = 0; i < total; ++i) {
    AnswerPiece& piece = out[i * pieces / total];
    const bool right = rng.bernoulli(0.75);
    piece.tasks.push_back(tasks[i]);
    piece.workers.push_back(static_cast<std::uint32_t>(rng.below(size.workers)));
    piece.labels.push_back(static_cast<std::uint16_t>(right ? tasks[i] % size.classes : rng.below(size.classes)));
  }
  return out;
}

inline CategoryAnswerNames names_of(const CrowdSize& size) {
  return {numbered(size.tasks), numbered(size.workers), numbered(size.classes)};
}

}  // namespace wisecrowd::bench
