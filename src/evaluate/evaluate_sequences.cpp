#include "wisecrowd/evaluate_sequences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

/// Sums of numerators over sums of denominators, one pair per document, with a normal interval over documents.
class RatioOfSums {
 public:
  void add(double part, double whole) {
    parts_.push_back(part);
    wholes_.push_back(whole);
  }
  [[nodiscard]] Estimate estimate() const {
    double part = 0, whole = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      part += parts_[i];
      whole += wholes_[i];
    }
    if (!(whole > 0)) return {kNoScore, kNoScore, kNoScore};
    const double ratio = part / whole;
    if (parts_.size() < 2) return {ratio, kNoScore, kNoScore};
    double squares = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double off = parts_[i] - ratio * wholes_[i];
      squares += off * off;
    }
    const auto n = static_cast<double>(parts_.size());
    const double error = std::sqrt(squares * n / (n - 1)) / whole;
    return {ratio, std::max(ratio - kNormal95 * error, 0.0), std::min(ratio + kNormal95 * error, 1.0)};
  }

 private:
  std::vector<double> parts_, wholes_;
};

struct SpanRatios {
  RatioOfSums precision, recall, f1;
  /// `of_found` and `of_truth` are the spans of each side that count as right.
  void add(std::uint64_t of_found, std::uint64_t found, std::uint64_t of_truth, std::uint64_t truth) {
    const auto a = static_cast<double>(of_found), b = static_cast<double>(found);
    const auto c = static_cast<double>(of_truth), d = static_cast<double>(truth);
    precision.add(a, b);
    recall.add(c, d);
    f1.add(a + c, b + d);
  }
  [[nodiscard]] SpanScore score() const { return {precision.estimate(), recall.estimate(), f1.estimate()}; }
};

/// The tags where both sides know theirs, outside elsewhere.
void mask(std::span<const TagId> tags, std::span<const TagId> other, std::vector<TagId>& out) {
  out.assign(tags.begin(), tags.end());
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (tags[t] == kNoTag || other[t] == kNoTag) out[t] = kNoTag;
  }
}

bool touches(const Span& a, const Span& b) { return a.type == b.type && a.first < b.end && b.first < a.end; }

/// Whether some span of `others`, which are in order and do not overlap, touches this one.
bool touched_by(const Span& span, const std::vector<Span>& others) {
  auto at = std::partition_point(others.begin(), others.end(), [&](const Span& o) { return o.end <= span.first; });
  for (; at != others.end() && at->first < span.end; ++at) {
    if (touches(*at, span)) return true;
  }
  return false;
}

}  // namespace

void SpanCounts::add(const SpanCounts& other) noexcept {
  found += other.found;
  truth += other.truth;
  right += other.right;
  found_touched += other.found_touched;
  truth_touched += other.truth_touched;
}

double SpanCounts::strict_f1() const noexcept {
  return found + truth == 0 ? kNoScore : 2 * static_cast<double>(right) / static_cast<double>(found + truth);
}

SpanCounts compare_spans(std::span<const TagId> found, std::span<const TagId> truth, std::span<SpanCounts> of_type) {
  std::vector<TagId> masked;
  std::vector<Span> left, right;
  mask(found, truth, masked);
  append_spans(TaskId{0}, masked, left);
  mask(truth, found, masked);
  append_spans(TaskId{0}, masked, right);
  SpanCounts all;
  const auto count = [&](const Span& span, std::uint64_t SpanCounts::*field) {
    ++(all.*field);
    if (!of_type.empty()) ++(of_type[span.type].*field);
  };
  for (const Span& span : left) {
    count(span, &SpanCounts::found);
    if (std::binary_search(right.begin(), right.end(), span,
                           [](const Span& a, const Span& b) { return a.first < b.first; })) {
      const auto same = std::lower_bound(right.begin(), right.end(), span,
                                         [](const Span& a, const Span& b) { return a.first < b.first; });
      if (*same == span) count(span, &SpanCounts::right);
    }
    if (touched_by(span, right)) count(span, &SpanCounts::found_touched);
  }
  for (const Span& span : right) {
    count(span, &SpanCounts::truth);
    if (touched_by(span, left)) count(span, &SpanCounts::truth_touched);
  }
  return all;
}

SequenceEvaluation evaluate_sequences(std::span<const std::uint64_t> token_offsets, std::span<const TagId> tags,
                                      std::span<const TagId> gold, std::size_t type_count) {
  if (tags.size() != gold.size() || token_offsets.empty() || token_offsets.back() != tags.size()) {
    throw Error(ErrorCode::bad_parameter, "tags and gold must have one tag per token");
  }
  SequenceEvaluation evaluation;
  evaluation.types.resize(type_count);
  RatioOfSums accuracy;
  SpanRatios strict, relaxed;
  std::vector<SpanRatios> types(type_count);
  std::vector<SpanCounts> of_type(type_count);
  for (std::size_t d = 0; d + 1 < token_offsets.size(); ++d) {
    const std::size_t begin = token_offsets[d], length = token_offsets[d + 1] - begin;
    std::size_t known = 0, right = 0;
    for (std::size_t t = begin; t < begin + length; ++t) {
      if (gold[t] == kNoTag || tags[t] == kNoTag) continue;
      ++known;
      right += tags[t] == gold[t] ? 1 : 0;
    }
    if (known == 0) continue;
    ++evaluation.documents;
    evaluation.tokens += known;
    accuracy.add(static_cast<double>(right), static_cast<double>(known));
    std::fill(of_type.begin(), of_type.end(), SpanCounts{});
    const SpanCounts counts = compare_spans(tags.subspan(begin, length), gold.subspan(begin, length), of_type);
    evaluation.counts.add(counts);
    strict.add(counts.right, counts.found, counts.right, counts.truth);
    relaxed.add(counts.found_touched, counts.found, counts.truth_touched, counts.truth);
    for (std::size_t x = 0; x < type_count; ++x) {
      evaluation.types[x].counts.add(of_type[x]);
      types[x].add(of_type[x].right, of_type[x].found, of_type[x].right, of_type[x].truth);
    }
  }
  if (evaluation.tokens == 0) {
    throw Error(ErrorCode::bad_input, "no token has both a tag and gold, so there is nothing to score");
  }
  evaluation.token_accuracy = accuracy.estimate();
  evaluation.strict = strict.score();
  evaluation.relaxed = relaxed.score();
  for (std::size_t x = 0; x < type_count; ++x) evaluation.types[x].strict = types[x].score();
  return evaluation;
}

}  // namespace wisecrowd
