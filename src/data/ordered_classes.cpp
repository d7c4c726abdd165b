#include "wisecrowd/ordered_classes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "data/build.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {

bool is_ordered(const CategoryAnswers& answers) noexcept { return column_names(answers).ordered; }

std::vector<std::uint32_t> ordered_class_order(std::span<const std::string_view> names) {
  std::vector<double> numbers(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const char* const begin = names[i].data() + (names[i].starts_with('+') ? 1 : 0);
    const char* const last = names[i].data() + names[i].size();
    const auto [end, code] = std::from_chars(begin, last, numbers[i]);
    if (code == std::errc() && end == last && std::isfinite(numbers[i])) continue;
    throw Error(ErrorCode::bad_input,
                fmt::format("classes are to be ordered, but '{}' is no number, so their order is not known: list all "
                            "of them from the lowest to the highest with `classes`",
                            printable(names[i])));
  }
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
  for (std::size_t r = 1; r < order.size(); ++r) {
    if (numbers[order[r - 1]] != numbers[order[r]]) continue;
    throw Error(ErrorCode::bad_input,
                fmt::format("classes '{}' and '{}' are the same number, so their order is not known: write them alike, "
                            "or list all classes from the lowest to the highest with `classes`",
                            printable(names[order[r - 1]]), printable(names[order[r]])));
  }
  return order;
}

void order_classes(CategoryData& data, bool listed) {
  const NameTable& names = data.answers.class_names();
  std::vector<std::string_view> found;
  for (std::size_t k = 0; k < names.size(); ++k) found.push_back(names[k]);
  std::vector<std::uint32_t> order(found.size());
  std::iota(order.begin(), order.end(), 0U);
  if (!listed) order = ordered_class_order(found);
  std::vector<ClassId> rank(order.size());
  std::vector<std::string> sorted;
  for (std::size_t r = 0; r < order.size(); ++r) {
    rank[order[r]] = ClassId(r);
    sorted.emplace_back(found[order[r]]);
  }
  auto column = std::make_shared<CategoryAnswers::Column>();
  column->classes = ColumnNames(NameTable(sorted));
  column->classes.ordered = true;
  column->classes.task_graph = column_names(data.answers).task_graph;
  column->labels.resize(data.answers.answer_count());
  const auto labels = data.answers.labels();
  for (std::size_t a = 0; a < labels.size(); ++a) column->labels[a] = rank[index(labels[a])];
  for (ClassId& gold : data.gold) {
    if (gold != kNoClass) gold = rank[index(gold)];
  }
  const std::size_t classes = order.size();
  std::vector<double> priors(data.task_priors.size());
  for (std::size_t i = 0; i < priors.size(); ++i) {
    priors[i / classes * classes + index(rank[i % classes])] = data.task_priors[i];
  }
  data.task_priors = std::move(priors);
  data.answers = CategoryAnswers(data.answers, std::move(column));
}

CategoryAnswers inherited(const CategoryAnswers& original, CategoryAnswers derived) {
  const ColumnNames& names = column_names(original);
  if (!names.ordered && !names.task_graph) return derived;
  auto column = std::make_shared<CategoryAnswers::Column>();
  column->classes = names;
  column->labels.assign(derived.labels().begin(), derived.labels().end());
  return {std::move(derived), std::move(column)};
}

}  // namespace wisecrowd
