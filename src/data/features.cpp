#include "wisecrowd/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::bad_input, what); }

/// The channels of images, the columns of everything else.
std::size_t scaled_columns(const Features& features) {
  if (features.shape.size() == 3) return features.shape[2];
  return features.shape.size() == 2 ? 1 : features.columns();
}

}  // namespace

void validate(const LearningData& data) {
  validate(data.crowd);
  const Features& features = data.features;
  if (!data.crowd.task_priors.empty()) refuse("learning makes its own task priors: leave them empty");
  if (features.shape.empty() || features.columns() == 0) refuse("the features have no columns");
  if (features.is_sparse()) {
    if (features.offsets.size() != features.rows + 1 || features.indices.size() != features.values.size() ||
        features.offsets.back() != features.values.size()) {
      refuse("the sparse features do not fit together: offsets, indices and values must agree");
    }
    for (const std::uint32_t column : features.indices) {
      if (column >= features.columns())
        refuse(fmt::format("a sparse feature names column {} of {}", column, features.columns()));
    }
  } else if (features.dense.size() != features.rows * features.columns()) {
    refuse(fmt::format("{} rows of {} columns need {} numbers, not {}", features.rows, features.columns(),
                       features.rows * features.columns(), features.dense.size()));
  }
  const std::vector<float>& values = features.is_sparse() ? features.values : features.dense;
  for (std::size_t v = 0; v < values.size(); ++v) {
    if (std::isfinite(values[v])) continue;
    refuse(features.is_sparse()
               ? fmt::format("a feature is {}: features must be finite numbers", values[v])
               : fmt::format("row {}, column {} of the features is {}: features must be finite numbers",
                             v / features.columns(), v % features.columns(), values[v]));
  }
  if (data.row_names.size() != features.rows || data.split.size() != features.rows) {
    refuse(fmt::format("{} rows of features need as many names and splits, not {} and {}", features.rows,
                       data.row_names.size(), data.split.size()));
  }
  if (data.row_of_task.size() != data.crowd.answers.task_count()) {
    refuse(fmt::format("{} tasks need as many row numbers, not {}", data.crowd.answers.task_count(),
                       data.row_of_task.size()));
  }
  for (const std::uint32_t row : data.row_of_task) {
    if (row != kNoRow && row >= features.rows) refuse(fmt::format("a task has row {} of {}", row, features.rows));
  }
}

Scaling standardise(const Features& features, std::span<const std::uint32_t> use) {
  if (features.is_sparse()) return {};
  const std::size_t columns = features.columns(), kinds = scaled_columns(features);
  const std::size_t rows = use.empty() ? features.rows : use.size();
  std::vector<double> sum(kinds, 0.0), square(kinds, 0.0);
  // Around the first row: large offsets (years, money) would eat the digits of the variance.
  std::vector<double> origin(kinds, 0.0);
  if (rows > 0) {
    const std::size_t first = use.empty() ? 0 : use[0];
    for (std::size_t c = 0; c < kinds; ++c) origin[c] = features.dense[first * columns + c];
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = features.row(use.empty() ? i : use[i]);
    for (std::size_t c = 0, kind = 0; c < columns; ++c, kind = kind + 1 == kinds ? 0 : kind + 1) {
      const double value = row[c] - origin[kind];
      sum[kind] += value;
      square[kind] += value * value;
    }
  }
  Scaling scaling;
  const double count = static_cast<double>(rows * (columns / std::max<std::size_t>(kinds, 1)));
  for (std::size_t c = 0; c < kinds; ++c) {
    const double mean = count > 0 ? sum[c] / count : 0;
    const double variance = count > 0 ? square[c] / count - mean * mean : 0;
    scaling.shift.push_back(static_cast<float>(origin[c] + mean));
    const double tiny = 1e-12 * (1 + origin[c] * origin[c]);
    scaling.factor.push_back(variance > tiny ? static_cast<float>(1 / std::sqrt(variance)) : 1.0F);
  }
  return scaling;
}

Features scaled(const Features& features, const Scaling& scaling) {
  Features result = features;
  if (scaling.empty() || features.is_sparse()) return result;
  const std::size_t kinds = scaling.shift.size();
  for (std::size_t r = 0; r < features.rows; ++r) {
    float* const row = result.dense.data() + r * features.columns();
    for (std::size_t c = 0, kind = 0; c < features.columns(); ++c, kind = kind + 1 == kinds ? 0 : kind + 1) {
      row[c] = (row[c] - scaling.shift[kind]) * scaling.factor[kind];
    }
  }
  return result;
}

}  // namespace wisecrowd
