#pragma once

#include <string_view>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"

namespace wisecrowd {

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

}  // namespace wisecrowd
