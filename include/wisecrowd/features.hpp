#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/number_data.hpp"

namespace wisecrowd {

/// What is known of each thing that can be labelled, one row each: numbers, pixels, or words counted by their hash.
struct Features {
  std::size_t rows = 0;
  /// Of one row: {columns}, {height, width} or {height, width, channels}.
  std::vector<std::size_t> shape;
  std::vector<float> dense;  ///< rows × columns(), row-major; empty when sparse

  // Sparse rows (text): the entries of row r are [offsets[r], offsets[r+1]) of indices and values.
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> indices;  ///< column, rising within a row
  std::vector<float> values;

  [[nodiscard]] std::size_t columns() const noexcept {
    std::size_t product = shape.empty() ? 0 : 1;
    for (const std::size_t extent : shape) product *= extent;
    return product;
  }
  [[nodiscard]] bool is_sparse() const noexcept { return !offsets.empty(); }
  [[nodiscard]] bool is_image() const noexcept { return shape.size() > 1; }
  [[nodiscard]] std::span<const float> row(std::size_t r) const {
    return std::span(dense).subspan(r * columns(), columns());
  }
};

/// Which part of an experiment a row belongs to. Only answers to train rows are learned from; other rows are predicted.
enum class Split : std::uint8_t { train, valid, test };

/// A task without features.
inline constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

/// How files became rows, so that new files become rows in the same way. It travels with the trained model.
struct FeatureRecipe {
  enum class Kind : std::uint8_t {
    array,    ///< an .npy file
    columns,  ///< the numeric columns of a table
    text,     ///< words and pairs of neighbouring words of a text, counted and weighted by rarity
  };
  Kind kind = Kind::array;
  std::vector<std::string> columns;  ///< kind columns: their names, in the order of a row
  /// Kind text: the words and pairs of neighbouring words that are counted, by their 64-bit hash, in rising order; one
  /// column each.
  std::vector<std::uint64_t> words;
  std::vector<float> rarity;  ///< kind text, per column: ln((1 + n) / (1 + texts with it)) + 1 over the n train texts
};

/// What is known of tasks besides the answers to them.
struct TaskFeatures {
  Features features;                       ///< as read, not scaled
  NameTable row_names;                     ///< the task of each row, whether anybody answered it or not
  std::vector<Split> split;                ///< per row
  std::vector<std::uint32_t> row_of_task;  ///< per task of the answers: its row, or kNoRow
  FeatureRecipe recipe;                    ///< how `features` was made
};

/// Answers and features together.
struct LearningData : TaskFeatures {
  CategoryData crowd;  ///< gold in it is part of inference; no task priors
};

/// The same where answers are numbers.
struct NumberLearningData : TaskFeatures {
  NumberData crowd;  ///< without gold
};

/// Throws bad_input unless the sizes fit each other, rows are in range and all features are finite.
void validate(const LearningData& data);
void validate(const NumberLearningData& data);

/// Numbers on a common scale: column c becomes (x − shift[c]) · factor[c]; for images, c is the channel. Empty: as is.
struct Scaling {
  std::vector<float> shift;
  std::vector<float> factor;
  [[nodiscard]] bool empty() const noexcept { return shift.empty(); }
};

/// How many numbers share one scale: columns have their own; pixels share that of their channel.
[[nodiscard]] std::size_t scale_count(const Features& features);
/// Throws bad_input that names row and column of a feature that is no finite number.
void require_finite(const Features& features);

/// Mean 0 and deviation 1 over the rows that `use` marks (all when empty), per column, or per channel for images.
/// Columns that never change are only shifted. Sparse features are left as they are: empty.
[[nodiscard]] Scaling standardise(const Features& features, std::span<const std::uint32_t> use);
[[nodiscard]] Features scaled(const Features& features, const Scaling& scaling);

}  // namespace wisecrowd
