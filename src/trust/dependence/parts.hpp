#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/category_data.hpp"

namespace wisecrowd::trust {

/// Workers and their tasks that share nothing with the rest of the crowd: a crowd of its own.
struct CrowdPart {
  CategoryData data;                   ///< answers, gold and trusted workers of the part, by ids of its own
  std::vector<std::uint32_t> tasks;    ///< of the whole crowd
  std::vector<std::uint32_t> workers;  ///< of the whole crowd
};

/// A crowd that may fall into parts. Who answers as one, and which side is right, is a question of each part alone.
class CrowdParts {
 public:
  explicit CrowdParts(const CategoryData& data);

  /// Everybody who answered belongs to one part, so there is nothing to take apart.
  [[nodiscard]] bool whole() const noexcept { return parts_ <= 1; }
  /// Parts in which two workers may have tasks enough in common.
  [[nodiscard]] std::size_t count() const noexcept { return worth_.size(); }
  [[nodiscard]] CrowdPart part(std::size_t n) const;
  [[nodiscard]] std::size_t answers(std::size_t n) const;
  /// How much of the crowd a part is: of its answers or of its pairs of answers to a task, whichever is more.
  [[nodiscard]] double share(std::size_t n) const;
  /// Pairs of workers of one part, in all parts together.
  [[nodiscard]] double pairs_of_workers() const noexcept { return pairs_of_workers_; }

 private:
  /// Pairs of answers to a task.
  [[nodiscard]] double pairs_at(std::size_t task) const;

  struct Place {
    std::size_t task_begin, task_end, worker_begin, worker_end;
  };

  const CategoryData& data_;
  std::size_t parts_ = 0;
  double pairs_of_workers_ = 0, pairs_of_answers_ = 0;
  std::vector<std::uint32_t> tasks_, workers_;  ///< by part
  std::vector<Place> worth_;
};

}  // namespace wisecrowd::trust
