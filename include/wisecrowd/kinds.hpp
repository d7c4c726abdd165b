#pragma once

#include <string_view>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/number_data.hpp"
#include "wisecrowd/number_fit.hpp"

namespace wisecrowd {

// Kinds whose methods few files use are only named here; their own headers have the types.
struct SetAnswer;
class SetAnswers;
struct SetData;
struct SetFit;
struct SetStart;
struct ComparisonAnswer;
class ComparisonAnswers;
struct ComparisonData;
struct ComparisonFit;
struct ComparisonStart;
struct SimilarityAnswer;
class SimilarityAnswers;
struct SimilarityData;
struct SimilarityFit;
struct SimilarityStart;
struct SequenceAnswer;
class SequenceAnswers;
struct SequenceData;
struct SequenceFit;
struct SequenceStart;

// A kind of answer, as one small trait: the types that belong together. What is composed of stages (the command line,
// the store, the report) asks for the kind once; a method never does.

/// Each answer is a class out of a list.
struct Categories {
  using Answer = CategoryAnswer;
  using Answers = CategoryAnswers;
  using Data = CategoryData;
  using Fit = CategoryFit;
  using Start = CategoryStart;
  static constexpr std::string_view name = "categories";
};

/// Each answer is a number, or a few: ratings, measurements, points, boxes.
struct Numbers {
  using Answer = NumberAnswer;
  using Answers = NumberAnswers;
  using Data = NumberData;
  using Fit = NumberFit;
  using Start = NumberStart;
  static constexpr std::string_view name = "numbers";
};

/// Each answer is a set of classes, perhaps an empty one: tags, diagnoses.
struct Sets {
  using Answer = SetAnswer;
  using Answers = SetAnswers;
  using Data = SetData;
  using Fit = SetFit;
  using Start = SetStart;
  static constexpr std::string_view name = "sets";
};

/// Each answer says which of two items is better, or that they are equal.
struct Comparisons {
  using Answer = ComparisonAnswer;
  using Answers = ComparisonAnswers;
  using Data = ComparisonData;
  using Fit = ComparisonFit;
  using Start = ComparisonStart;
  static constexpr std::string_view name = "comparisons";
};

/// Each answer says whether two items are the same or different.
struct Similarities {
  using Answer = SimilarityAnswer;
  using Answers = SimilarityAnswers;
  using Data = SimilarityData;
  using Fit = SimilarityFit;
  using Start = SimilarityStart;
  static constexpr std::string_view name = "similarities";
};

/// Each answer is a tag for every token of a document, or of a part of it.
struct Sequences {
  using Answer = SequenceAnswer;
  using Answers = SequenceAnswers;
  using Data = SequenceData;
  using Fit = SequenceFit;
  using Start = SequenceStart;
  static constexpr std::string_view name = "sequences";
};

}  // namespace wisecrowd
