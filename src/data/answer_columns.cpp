#include "wisecrowd/answer_columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "data/build.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRowsPerPiece = std::size_t{1} << 17;

/// Copies one stretch of a column. The maximum is what is compared, because a loop that may stop early is not
/// vectorised.
template <class Wide, class Narrow>
void take(std::span<const Wide> from, std::size_t size, const char* what, std::size_t first, HugeVector<Narrow>& to) {
  Wide highest = 0;
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    highest = std::max(highest, from[i]);
    to[i] = static_cast<Narrow>(from[i]);
  }
  if (from.empty() || highest < size) return;
  const auto wrong = std::find_if(from.begin(), from.end(), [&](Wide value) { return value >= size; });
  throw Error(ErrorCode::bad_input,
              fmt::format("answer {}: {} index {} is out of range: there are {} of them",
                          first + static_cast<std::size_t>(wrong - from.begin()), what, *wrong, size));
}

}  // namespace

CategoryAnswers make_category_answers(const AnswerColumns& columns, CategoryAnswerNames names, DuplicatePolicy policy,
                                      const RunContext& context, BuildReport* report) {
  if (names.classes.size() > kMaxClasses) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} classes are more than the {} that labels can name", names.classes.size(), kMaxClasses));
  }
  const std::size_t rows = columns.tasks.size();
  if (columns.workers.size() != rows || columns.labels.size() != rows) {
    throw Error(ErrorCode::bad_input, fmt::format("columns of {} tasks, {} workers and {} labels: they must be of one "
                                                  "length",
                                                  rows, columns.workers.size(), columns.labels.size()));
  }
  const Blocks blocks{rows, kRowsPerPiece};
  std::vector<AnswerPiece> pieces(blocks.count());
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    const std::size_t first = blocks.begin(b);
    const std::size_t count = blocks.end(b) - first;
    take(columns.tasks.subspan(first, count), names.tasks.size(), "task", first, pieces[b].tasks);
    take(columns.workers.subspan(first, count), names.workers.size(), "worker", first, pieces[b].workers);
    take(columns.labels.subspan(first, count), names.classes.size(), "class", first, pieces[b].labels);
  });
  return build_annotations(std::move(pieces), std::move(names), policy, context.pool(), report);
}

}  // namespace wisecrowd
