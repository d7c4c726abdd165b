#include "select/shared/indirect_information.hpp"

namespace wisecrowd::selecting {

std::vector<double> indirect_information(const CrowdView& crowd, std::span<const double> posterior) {
  const std::size_t classes = crowd.class_count;
  std::vector<double> told(crowd.worker_count() * classes, 0);
  if (crowd.answers.empty()) return told;
  // How open tasks are, by worker, truth and what the worker said; the tables come in once per cell.
  std::vector<double> openness(crowd.worker_counts.size(), 0);
  for (std::size_t i = 0; i < crowd.task_count(); ++i) {
    for (std::size_t a = crowd.answers.offsets[i]; a < crowd.answers.offsets[i + 1]; ++a) {
      double* const cells =
          openness.data() + index(crowd.answers.workers[a]) * classes * classes + index(crowd.answers.labels[a]);
      for (std::size_t k = 0; k < classes; ++k) {
        const double q = posterior[i * classes + k];
        cells[k * classes] += q * (1 - q);
      }
    }
  }
  for (std::size_t row = 0; row < told.size(); ++row) {
    const auto counts = crowd.worker_counts.subspan(row * classes, classes);
    double sum = 0;
    for (const double count : counts) sum += count;
    for (std::size_t l = 0; l < classes; ++l) {
      const double variance = (sum - counts[l]) / (counts[l] * (sum + 1) * (sum + 1));
      told[row] += 0.5 * variance * openness[row * classes + l];
    }
  }
  return told;
}

}  // namespace wisecrowd::selecting
