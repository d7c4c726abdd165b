#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "wisecrowd/evaluate_sequences.hpp"

namespace wisecrowd {
namespace {

constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();

/// The tags of an answer over its whole document, kNoTag elsewhere.
void spread_out(const SequenceAnswers& answers, AnswerIndex answer, std::size_t length, std::vector<TagId>& out) {
  out.assign(length, kNoTag);
  const auto tags = answers.tags(answer);
  std::copy(tags.begin(), tags.end(), out.begin() + answers.first(answer));
}

/// Pairs of tags of one token against pairs of any, each tag of m weighing 1 / (m − 1).
class TokenAgreement {
 public:
  explicit TokenAgreement(std::size_t tags) : totals_(tags, 0.0) {}
  void add(const std::vector<std::uint32_t>& votes, std::uint32_t count) {
    if (count < 2) return;
    double disagreeing = 0;
    for (std::size_t k = 0; k < votes.size(); ++k) {
      totals_[k] += votes[k];
      disagreeing += static_cast<double>(votes[k]) * (count - votes[k]);
    }
    observed_ += disagreeing / (count - 1);
    all_ += count;
  }
  [[nodiscard]] double alpha() const {
    double expected = 0;
    for (const double total : totals_) expected += total * (all_ - total);
    return expected > 0 ? 1 - observed_ * (all_ - 1) / expected : kNotThere;
  }

 private:
  std::vector<double> totals_;
  double observed_ = 0, all_ = 0;
};

struct PairSums {
  SpanCounts all;
  std::vector<SpanCounts> of_type;
};

void describe_document(const SequenceAnswers& answers, TaskId document, SequenceDescription& out,
                       TokenAgreement& agreement, PairSums& pairs) {
  const AnswerIndex begin = answers.task_offsets()[index(document)], end = answers.task_offsets()[index(document) + 1];
  const std::size_t length = answers.length(document);
  std::vector<std::vector<TagId>> rows(end - begin);
  for (AnswerIndex a = begin; a < end; ++a) {
    spread_out(answers, a, length, rows[a - begin]);
    TagId before = kOutside;
    bool partial = false;
    for (const TagId tag : rows[a - begin]) {
      partial = partial || tag == kNoTag;
      if (tag != kNoTag && before != kNoTag && !may_follow(before, tag)) ++out.misplaced_tags;
      if (tag == kOutside) out.outside_share += 1;
      before = tag;
    }
    out.partial_answers += partial ? 1 : 0;
    std::vector<Span> spans;
    append_spans(document, rows[a - begin], spans);
    for (const Span& span : spans) ++out.spans_of_type[span.type];
  }
  std::vector<std::uint32_t> votes(answers.tag_count());
  for (std::size_t t = 0; t < length; ++t) {
    std::fill(votes.begin(), votes.end(), 0U);
    std::uint32_t count = 0;
    for (const auto& row : rows) {
      if (row[t] == kNoTag) continue;
      ++votes[index(row[t])];
      ++count;
    }
    out.untagged_tokens += count == 0 ? 1 : 0;
    agreement.add(votes, count);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      pairs.all.add(compare_spans(rows[i], rows[j], pairs.of_type));
    }
  }
}

void warn_of_sequences(SequenceDescription& d) {
  const auto warn = [&](const char* code, std::string message, const char* remedy, Severity severity) {
    d.warnings.push_back({code, std::move(message), remedy, severity});
  };
  if (d.answers == 0) {
    warn("no_answers", "there are no answers, so nothing can be learned.", "Check that the file is the right one.",
         Severity::serious);
    return;
  }
  if (d.answers_per_task.maximum <= 1) {
    warn("one_answer_per_task", "no document has a second answer, so workers cannot be compared.",
         "Ask a second worker to tag some documents.", Severity::serious);
  }
  if (std::all_of(d.spans_of_type.begin(), d.spans_of_type.end(), [](std::uint64_t n) { return n == 0; })) {
    warn("no_spans", "every tag is O, so there is no span to find.", "Check that the right column is read.",
         Severity::serious);
  }
  if (d.misplaced_tags > 0) {
    warn("misplaced_tags",
         fmt::format("{} of {} tags are I-x after O or after another type; each begins a span of its own.",
                     d.misplaced_tags, d.tags),
         "", Severity::note);
  }
}

}  // namespace

SequenceDescription describe(const SequenceAnswers& answers) {
  SequenceDescription description;
  static_cast<GraphDescription&>(description) = describe_graph(answers);
  const std::size_t types = answers.type_names().size();
  description.tokens = answers.token_count();
  description.tags = answers.tag_answer_count();
  description.spans_of_type.assign(types, 0);
  TokenAgreement agreement(answers.tag_count());
  PairSums pairs{{}, std::vector<SpanCounts>(types)};
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    describe_document(answers, TaskId(d), description, agreement, pairs);
  }
  description.outside_share =
      description.tags == 0 ? kNotThere : description.outside_share / static_cast<double>(description.tags);
  description.token_alpha = agreement.alpha();
  description.pairwise_f1 = pairs.all.strict_f1();
  const auto touched = static_cast<double>(pairs.all.found_touched + pairs.all.truth_touched);
  description.pairwise_relaxed_f1 = touched / static_cast<double>(pairs.all.found + pairs.all.truth);
  for (const SpanCounts& own : pairs.of_type) description.pairwise_f1_of_type.push_back(own.strict_f1());
  warn_of_sequences(description);
  return description;
}

}  // namespace wisecrowd
