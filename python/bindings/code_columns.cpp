#include <memory>

#include "coding.hpp"
#include "many_names.hpp"

namespace wisecrowd::python {

std::vector<std::optional<std::size_t>> code_strings(std::span<const std::span<Object* const>> columns,
                                                     std::span<Coded> results, const Team& team) {
  std::vector<std::optional<std::size_t>> foreign(columns.size());
  std::vector<std::unique_ptr<ManyNames>> many(columns.size());
  std::vector<std::function<void(unsigned)>> jobs;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (ManyNames::fits(columns[c])) {
      many[c] = std::make_unique<ManyNames>(columns[c], team);
    } else {
      jobs.emplace_back([&, c](unsigned) { foreign[c] = code_strings(columns[c], results[c]); });
    }
  }
  // The columns with few names, one job each, go first: they are the longest jobs.
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!many[c]) continue;
    for (std::size_t b = 0; b < many[c]->blocks(); ++b) {
      jobs.emplace_back([&, c, b](unsigned worker) { many[c]->deal(b, worker); });
    }
  }
  team.run(jobs.size(), [&](std::size_t job, unsigned worker) { jobs[job](worker); });
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (many[c]) foreign[c] = many[c]->finish(results[c]);
    many[c].reset();
  }
  return foreign;
}

}  // namespace wisecrowd::python
