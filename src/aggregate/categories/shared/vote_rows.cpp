#include "aggregate/categories/shared/vote_rows.hpp"

#include <algorithm>

#include "aggregate/categories/shared/constant_workers.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

VoteRows::VoteRows(const CategoryData& data, std::span<const std::uint32_t> voices, bool weighted)
    : data_(data), voices_(voices), weighted_(weighted), left_out_(data.answers.worker_count(), false) {
  if (!weighted) return;
  left_out_ = constancy_of(data).is_constant;
  // How often each agrees with the plain vote of those who are not left out. Gold has no say: it may be there to
  // evaluate only.
  const CategoryAnswers& answers = data.answers;
  std::vector<double> given(answers.worker_count(), 0.0), votes(answers.class_count());
  weight_.assign(answers.worker_count(), 0.0);
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    std::fill(votes.begin(), votes.end(), 0.0);
    for (std::size_t a = 0; a < labels.size(); ++a) votes[index(labels[a])] += left_out_[index(workers[a])] ? 0 : 1;
    const auto most = static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    for (std::size_t a = 0; a < labels.size(); ++a) {
      given[index(workers[a])] += 1;
      weight_[index(workers[a])] += index(labels[a]) == most ? 1 : 0;
    }
  }
  for (std::size_t w = 0; w < weight_.size(); ++w) weight_[w] = given[w] > 0 ? weight_[w] / given[w] : 0;
}

void VoteRows::add_votes(std::size_t task, std::span<double> out) const {
  const auto labels = data_.answers.labels_of(TaskId(task));
  const auto workers = data_.answers.workers_of(TaskId(task));
  const bool others = std::any_of(workers.begin(), workers.end(), [&](WorkerId w) { return !left_out_[index(w)]; });
  for (std::size_t a = 0; a < labels.size(); ++a) {
    if (others && left_out_[index(workers[a])]) continue;
    const auto together = voices_.empty() ? 1 : std::count_if(workers.begin(), workers.end(), [&](WorkerId other) {
      return voices_[index(other)] == voices_[index(workers[a])];
    });
    out[index(labels[a])] += 1 / static_cast<double>(together);
  }
}

/// As many votes as answers, shared out by weight.
void VoteRows::add_weighted_votes(std::size_t task, std::span<double> out) const {
  const auto labels = data_.answers.labels_of(TaskId(task));
  const auto workers = data_.answers.workers_of(TaskId(task));
  double all = 0, counted = 0;
  for (const WorkerId w : workers) {
    if (left_out_[index(w)]) continue;
    all += weight_[index(w)];
    counted += 1;
  }
  if (all <= 0) return add_votes(task, out);
  for (std::size_t a = 0; a < labels.size(); ++a) {
    if (!left_out_[index(workers[a])]) out[index(labels[a])] += counted * weight_[index(workers[a])] / all;
  }
}

void VoteRows::row(std::size_t task, std::span<double> out) const {
  const std::size_t classes = out.size();
  if (data_.task_priors.empty()) {
    std::fill(out.begin(), out.end(), 1 / static_cast<double>(classes));
  } else {
    std::copy_n(data_.task_priors.data() + task * classes, classes, out.data());
  }
  if (weighted_) {
    for (double& p : out) p *= 2;
    add_weighted_votes(task, out);
  }
  add_votes(task, out);
  normalise(out);
}

}  // namespace wisecrowd
