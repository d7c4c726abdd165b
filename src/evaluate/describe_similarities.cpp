#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/rng.hpp"
#include "wisecrowd/evaluate_similarities.hpp"

namespace wisecrowd {
namespace {

constexpr std::uint64_t kMostTriangles = 2'000'000;  ///< corners that are looked at
constexpr std::size_t kMostExamples = 5;
constexpr double kMuchContradiction = 0.1;

/// What most say of each answered pair: 1 same, −1 different, 0 undecided.
std::vector<int> majorities(const SimilarityAnswers& answers) {
  const auto offsets = answers.task_offsets();
  std::vector<int> said(answers.task_count());
  for (std::size_t p = 0; p < said.size(); ++p) {
    int net = 0;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) net += answers.same()[a] != 0 ? 1 : -1;
    said[p] = net > 0 ? 1 : net < 0 ? -1 : 0;
  }
  return said;
}

/// Corners: an item with two pairs whose other items have higher numbers. Each triangle has one such.
class Triangles {
 public:
  Triangles(const SimilarityAnswers& answers, SimilarityDescription& out)
      : pairs_(answers.pairs()), said_(majorities(answers)), out_(out), first_(answers.item_count() + 1, 0) {
    for (const SimilarPair pair : pairs_) ++first_[pair.left + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  void look() {
    std::uint64_t corners = 0;
    std::vector<std::uint64_t> before{0};
    for (std::size_t i = 0; i + 1 < first_.size(); ++i) {
      const std::uint64_t degree = first_[i + 1] - first_[i];
      corners += degree * (degree - std::min<std::uint64_t>(degree, 1)) / 2;
      before.push_back(corners);
    }
    if (corners <= kMostTriangles) {
      for (std::size_t i = 0; i + 1 < first_.size(); ++i) {
        for (std::size_t p = first_[i]; p < first_[i + 1]; ++p) {
          for (std::size_t r = p + 1; r < first_[i + 1]; ++r) look_at(p, r);
        }
      }
      return;
    }
    out_.triangles_sampled = true;
    Rng rng(0);
    for (std::uint64_t t = 0; t < kMostTriangles; ++t) {
      const std::uint64_t corner = rng.below(corners);
      const auto item =
          static_cast<std::size_t>(std::upper_bound(before.begin(), before.end(), corner) - before.begin() - 1);
      const std::uint64_t degree = first_[item + 1] - first_[item];
      const std::uint64_t p = rng.below(degree);
      std::uint64_t r = rng.below(degree - 1);
      if (r >= p) ++r;
      look_at(first_[item] + std::min(p, r), first_[item] + std::max(p, r));
    }
  }

 private:
  /// The pairs (i, b) and (i, c), b < c.
  void look_at(std::size_t p, std::size_t r) {
    const std::uint32_t a = pairs_[p].left, b = pairs_[p].right, c = pairs_[r].right;
    const auto begin = pairs_.begin() + static_cast<std::ptrdiff_t>(first_[b]);
    const auto end = pairs_.begin() + static_cast<std::ptrdiff_t>(first_[b + 1]);
    const auto third = std::lower_bound(begin, end, SimilarPair{b, c});
    if (third == end || third->right != c) return;
    const int ab = said_[p], ac = said_[r], bc = said_[static_cast<std::size_t>(third - pairs_.begin())];
    if (ab == 0 || ac == 0 || bc == 0) return;
    ++out_.triangles;
    if (ab + ac + bc != 1) return;  // two same and one different
    ++out_.contradicting_triangles;
    if (out_.examples.size() >= kMostExamples) return;
    out_.examples.push_back(bc < 0   ? SimilarityDescription::Triangle{b, a, c}
                            : ac < 0 ? SimilarityDescription::Triangle{a, b, c}
                                     : SimilarityDescription::Triangle{a, c, b});
  }

  std::span<const SimilarPair> pairs_;
  std::vector<int> said_;
  SimilarityDescription& out_;
  std::vector<std::size_t> first_;
};

Distribution spread_of_counts(std::vector<double> values) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return {values.front(), at(0.25), at(0.5), mean, at(0.75), values.back()};
}

void describe_items(const SimilarityAnswers& answers, SimilarityDescription& out) {
  out.items = answers.item_count();
  std::vector<double> pairs_of(out.items, 0);
  std::vector<std::uint32_t> parent(out.items);
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  double answered = 0;
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    if (answers.workers_of(TaskId(p)).empty()) continue;
    const SimilarPair pair = answers.pairs()[p];
    answered += 1;
    ++pairs_of[pair.left];
    ++pairs_of[pair.right];
    const std::uint32_t a = root(pair.left), b = root(pair.right);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<std::size_t> sizes(out.items, 0);
  for (std::uint32_t i = 0; i < out.items; ++i) {
    if (pairs_of[i] == 0) {
      ++out.bare_items;
    } else {
      out.item_components += sizes[root(i)]++ == 0 ? 1 : 0;
      out.largest_component_items = std::max(out.largest_component_items, sizes[root(i)]);
    }
  }
  const auto n = static_cast<double>(out.items);
  out.coverage = n > 1 ? answered / (n * (n - 1) / 2) : std::numeric_limits<double>::quiet_NaN();
  out.pairs_per_item = spread_of_counts(std::move(pairs_of));
}

void describe_said(const SimilarityAnswers& answers, SimilarityDescription& out) {
  const auto offsets = answers.task_offsets();
  double same = 0, agreeing = 0, compared = 0;
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    double own = 0;
    const double count = offsets[p + 1] - offsets[p];
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) own += answers.same()[a];
    same += own;
    agreeing += own * (own - 1) / 2 + (count - own) * (count - own - 1) / 2;
    compared += count * (count - 1) / 2;
  }
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  out.same_share = out.answers > 0 ? same / static_cast<double>(out.answers) : kUnknown;
  out.agreement = compared > 0 ? agreeing / compared : kUnknown;
}

}  // namespace

double SimilarityDescription::contradicting_share() const {
  return triangles == 0 ? std::numeric_limits<double>::quiet_NaN()
                        : static_cast<double>(contradicting_triangles) / static_cast<double>(triangles);
}

SimilarityDescription describe(const SimilarityAnswers& answers) {
  SimilarityDescription out;
  static_cast<GraphDescription&>(out) = describe_graph(answers);
  describe_items(answers, out);
  describe_said(answers, out);
  Triangles(answers, out).look();
  const auto warn = [&](const char* code, std::string message, const char* remedy, Severity severity) {
    out.warnings.push_back({code, std::move(message), remedy, severity});
  };
  if (out.answers == 0) {
    warn("no_answers", "there are no answers, so nothing can be learned.", "Check that the file is the right one.",
         Severity::serious);
  } else if (out.same_share == 0 || out.same_share == 1) {
    warn("constant_answers",
         fmt::format("every answer says '{}', so there is nothing to decide.",
                     out.same_share == 1 ? "same" : "different"),
         "Check that the right column is read.", Severity::serious);
  }
  if (out.item_components > 1) {
    warn("items_not_connected",
         fmt::format(
             "the items fall into {} parts that were never compared with each other; clusters of different parts "
             "cannot be joined.",
             out.item_components),
         "Ask for some pairs between them.", Severity::caution);
  }
  if (out.triangles >= 100 && out.contradicting_share() > kMuchContradiction) {
    warn("contradicting_triangles",
         fmt::format("in {:.0f} % of the triangles two pairs are the same and the third is different, which cannot be.",
                     100 * out.contradicting_share()),
         "Workers err much, or \"same\" has several meanings: read some of them.", Severity::caution);
  }
  return out;
}

}  // namespace wisecrowd
