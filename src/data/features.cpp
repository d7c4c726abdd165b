#include "wisecrowd/features.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::bad_input, message); }

void validate_sparse(const Features& features) {
  if (features.offsets.size() != features.rows + 1 || features.offsets.front() != 0 ||
      features.offsets.back() != features.indices.size() || features.indices.size() != features.values.size() ||
      !std::is_sorted(features.offsets.begin(), features.offsets.end())) {
    refuse("sparse features whose offsets, indices and values do not fit each other");
  }
  for (std::size_t r = 0; r < features.rows; ++r) {
    for (std::uint64_t e = features.offsets[r]; e < features.offsets[r + 1]; ++e) {
      if (features.indices[e] >= features.columns() ||
          (e > features.offsets[r] && features.indices[e] <= features.indices[e - 1])) {
        refuse(fmt::format("row {} of the sparse features has column {} out of order, or beyond the {} there are", r,
                           features.indices[e], features.columns()));
      }
    }
  }
}

/// `names` of the rows, if they are known.
void refuse_not_finite(const Features& features, const NameTable* names) {
  const auto& values = features.is_sparse() ? features.values : features.dense;
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad == values.end()) return;
  const auto at = static_cast<std::uint64_t>(bad - values.begin());
  std::size_t row = at / features.columns();
  std::size_t column = at % features.columns();
  if (features.is_sparse()) {
    row = static_cast<std::size_t>(std::upper_bound(features.offsets.begin(), features.offsets.end(), at) -
                                   features.offsets.begin()) -
          1;
    column = features.indices[at];
  }
  refuse(fmt::format("features of row {}{}, column {}: value {}: features must be finite numbers, neither NaN nor inf",
                     row, names == nullptr ? "" : fmt::format(" (task '{}')", (*names)[row]), column, *bad));
}

void validate_features(const TaskFeatures& data, const AnswerGraph& answers) {
  const Features& features = data.features;
  if (features.shape.empty() || features.shape.size() > 3 || features.columns() == 0) {
    refuse(fmt::format("features have {} dimensions per row: rows of numbers or images are wanted",
                       features.shape.size()));
  }
  if (features.is_sparse()) {
    validate_sparse(features);
  } else if (features.dense.size() != features.rows * features.columns()) {
    refuse(fmt::format("features hold {} numbers; {} rows × {} columns need {}", features.dense.size(), features.rows,
                       features.columns(), features.rows * features.columns()));
  }
  if (data.row_names.size() != features.rows || data.split.size() != features.rows) {
    refuse(fmt::format("{} rows of features have {} names and {} splits: give one of each per row", features.rows,
                       data.row_names.size(), data.split.size()));
  }
  if (data.row_of_task.size() != answers.task_count()) {
    refuse(fmt::format("{} tasks have {} rows assigned: give one per task, kNoRow where there are no features",
                       answers.task_count(), data.row_of_task.size()));
  }
  std::vector<bool> taken(features.rows, false);
  for (std::size_t t = 0; t < data.row_of_task.size(); ++t) {
    const std::uint32_t row = data.row_of_task[t];
    if (row == kNoRow) continue;
    const auto name = answers.task_names()[t];
    if (row >= features.rows)
      refuse(fmt::format("task '{}' has row {}, but there are only {}", name, row, features.rows));
    if (taken[row]) refuse(fmt::format("task '{}' has row {}, which belongs to another task already", name, row));
    taken[row] = true;
  }
  refuse_not_finite(features, &data.row_names);
}

}  // namespace

void validate(const LearningData& data) {
  validate(data.crowd);
  if (!data.crowd.task_priors.empty()) refuse("learning makes its own task priors: leave them empty");
  validate_features(data, data.crowd.answers);
}

void validate(const NumberLearningData& data) {
  validate(data.crowd);
  if (data.crowd.has_gold()) refuse("learners of numbers do not learn from known truth: keep it for evaluation");
  validate_features(data, data.crowd.answers);
}

void require_finite(const Features& features) { refuse_not_finite(features, nullptr); }

std::size_t scale_count(const Features& features) {
  if (!features.is_image()) return features.columns();
  return features.shape.size() > 2 ? features.shape[2] : 1;
}

Scaling standardise(const Features& features, std::span<const std::uint32_t> use) {
  Scaling scaling;
  if (features.is_sparse()) return scaling;
  const std::size_t columns = features.columns();
  const std::size_t scales = scale_count(features);
  const std::size_t rows = use.empty() ? features.rows : use.size();
  const auto row = [&](std::size_t i) { return features.row(use.empty() ? i : use[i]); };
  scaling.shift.assign(scales, 0.0F);
  scaling.factor.assign(scales, 1.0F);
  if (rows == 0) return scaling;

  std::vector<double> mean(scales, 0.0), squares(scales, 0.0);
  std::vector<float> least(row(0).begin(), row(0).begin() + static_cast<std::ptrdiff_t>(scales));
  std::vector<float> most = least;
  const double count = static_cast<double>(rows) * static_cast<double>(columns / scales);
  for (std::size_t i = 0; i < rows; ++i) {
    const float* x = row(i).data();
    for (std::size_t begin = 0; begin < columns; begin += scales, x += scales) {
      for (std::size_t c = 0; c < scales; ++c) {
        mean[c] += x[c];
        least[c] = std::min(least[c], x[c]);
        most[c] = std::max(most[c], x[c]);
      }
    }
  }
  for (double& m : mean) m /= count;
  for (std::size_t i = 0; i < rows; ++i) {
    const float* x = row(i).data();
    for (std::size_t begin = 0; begin < columns; begin += scales, x += scales) {
      for (std::size_t c = 0; c < scales; ++c) squares[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
    }
  }
  for (std::size_t c = 0; c < scales; ++c) {
    scaling.shift[c] = static_cast<float>(mean[c]);
    // A column that never changes must not be blown up by the rounding of its mean.
    if (least[c] < most[c]) scaling.factor[c] = static_cast<float>(1 / std::sqrt(squares[c] / count));
    if (!std::isfinite(scaling.factor[c])) scaling.factor[c] = 1.0F;
  }
  return scaling;
}

Features scaled(const Features& features, const Scaling& scaling) {
  Features result = features;
  if (scaling.empty() || features.is_sparse()) return result;
  const std::size_t scales = scale_count(features);
  if (scaling.shift.size() != scales || scaling.factor.size() != scales) {
    refuse(fmt::format("the scaling has {} columns, the features have {}", scaling.shift.size(), scales));
  }
  float* x = result.dense.data();
  for (std::size_t begin = 0; begin < result.dense.size(); begin += scales, x += scales) {
    for (std::size_t c = 0; c < scales; ++c) x[c] = (x[c] - scaling.shift[c]) * scaling.factor[c];
  }
  return result;
}

}  // namespace wisecrowd
