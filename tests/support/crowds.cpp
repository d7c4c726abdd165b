#include "support/crowds.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/rng.hpp"

namespace wisecrowd::testing {

SmallCrowd small_crowd(std::uint64_t seed, std::size_t tasks, std::size_t workers, std::size_t classes,
                       std::size_t answers_per_task) {
  Rng rng(seed);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < classes; ++k) names.push_back(fmt::format("c{}", k));
  CategoryAnswersBuilder builder(names);
  std::vector<double> accuracy(workers);
  for (double& a : accuracy) a = rng.uniform(0.35, 0.95);
  SmallCrowd crowd;
  for (std::size_t w = 0; w < workers; ++w) builder.add_worker(fmt::format("w{}", w));
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t z = rng.below(classes);
    crowd.truth.push_back(ClassId{static_cast<std::uint16_t>(z)});
    builder.add_task(fmt::format("t{}", t));
    std::vector<std::size_t> order(workers);
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span(order));
    for (std::size_t r = 0; r < std::min(answers_per_task, workers); ++r) {
      const std::size_t label = rng.bernoulli(accuracy[order[r]]) ? z : rng.below(classes);
      builder.add(fmt::format("t{}", t), fmt::format("w{}", order[r]), names[label]);
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

CategoryData golden_tiny() {
  constexpr int kEdges[][3] = {{0, 0, 0}, {0, 1, 0}, {0, 2, 1}, {1, 0, 1}, {1, 1, 1},
                               {2, 0, 1}, {2, 2, 0}, {3, 1, 0}, {3, 2, 0}};
  CategoryAnswersBuilder builder({"0", "1"});
  for (const auto& e : kEdges) builder.add(std::to_string(e[0]), std::to_string(e[1]), std::to_string(e[2]));
  return {builder.build(), {}, {}};
}

std::string source_folder() { return WISECROWD_SOURCE_DIR; }

std::optional<std::string> real_data_folder() {
  const char* given = std::getenv("WISECROWD_DATA");
  const std::string folder = given != nullptr ? given : source_folder() + "/../shared/data";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

}  // namespace wisecrowd::testing
