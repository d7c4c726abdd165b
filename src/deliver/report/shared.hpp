#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deliver/report/words.hpp"
#include "wisecrowd/report.hpp"

namespace wisecrowd::report {

// What the pages of all kinds of answers have in common. A page is a function from a result of its kind to a document;
// report.cpp calls them.

[[nodiscard]] Json categories_document(const CategoryResult& result, const ReportOptions& options,
                                       const RunContext& context);
[[nodiscard]] Json comparisons_document(const ComparisonResult& result, const ReportOptions& options,
                                        const RunContext& context);
[[nodiscard]] Json numbers_document(const NumberResult& result, const ReportOptions& options,
                                    const RunContext& context);
[[nodiscard]] Json similarities_document(const SimilarityResult& result, const ReportOptions& options,
                                         const RunContext& context);
[[nodiscard]] Json sequences_document(const SequenceResult& result, const ReportOptions& options,
                                      const RunContext& context);

[[nodiscard]] Json sets_document(const SetResult& result, const ReportOptions& options, const RunContext& context);

/// "schema", "program", "kind" and "title"; what every document begins with.
[[nodiscard]] Json document_head(const RunRecord& record, const ReportOptions& options);

/// How the result was made: method, parameters, inputs, command.
[[nodiscard]] Json run_facts(const RunRecord& record, const FitSummary& fit, const ReportOptions& options,
                             std::uint64_t data_hash);

/// Of a long list every n-th is drawn, and the last: at most 500 points.
[[nodiscard]] std::size_t step_of(std::size_t points);

/// Objective by iteration; long traces are thinned, which is said in `sampling`.
[[nodiscard]] Json convergence_facts(const FitSummary& fit, bool with_trace, std::vector<std::string>& sampling);

/// A figure with a sentence. `unit` is "share", "count" or "none".
[[nodiscard]] Json headline(std::string_view id, std::string_view label, Json value, std::string_view unit,
                            std::string words, std::string_view kind);
[[nodiscard]] Json with_interval(Json entry, double low, double high);
/// Enough that rounding again for the eye gives what the words say.
inline constexpr int kHeadlineDigits = 6;

[[nodiscard]] std::string per_task_words(const GraphDescription& description);
/// " Read the serious warnings first: …", or nothing; `result` is "the labels".
[[nodiscard]] std::string serious_words(const Json& warnings, std::string_view result);

/// As a sentence; a run of the command line is told its flags.
[[nodiscard]] std::string told(const RunRecord& record, const std::string& words);

/// Findings in the order of their severity, each once.
class WarningList {
 public:
  explicit WarningList(const RunRecord& record) : record_(record) {}
  void add(Severity severity, std::string title, const std::string& words, const std::string& remedy);
  /// Those whose code is not there yet.
  void add_new(const std::vector<Warning>& warnings);
  /// That the run was stopped, if it was; `things` are as good as it had got.
  void add_stopped(const FitSummary& fit, const std::string& things, std::string_view result);
  /// Why nothing was measured, if that is so: `given` where gold was used for inference, else `unknown` and `remedy`.
  void add_unmeasured(const std::string& given, const std::string& unknown, const std::string& remedy);
  /// The gravest first.
  [[nodiscard]] Json json() const;

 private:
  const RunRecord& record_;
  std::array<std::vector<Json>, 3> by_rank_;
  std::vector<std::string> codes_;
};

/// Bins of whole numbers from `least` to `most`, as few as can be read: one for each number, equal ones with round
/// edges, or, over many orders of magnitude, 1, 2, 5, 10, 20, …
[[nodiscard]] std::vector<std::uint64_t> count_edges(std::uint64_t least, std::uint64_t most);
/// How many of the numbers (one at least) are in each.
[[nodiscard]] Json count_histogram(const std::vector<std::uint64_t>& values);

using Order = std::vector<std::uint32_t>;

/// The `most` first of `all` by a rule, ties by place.
template <class Before>
[[nodiscard]] Order first_by(const Order& all, std::size_t most, const Before& before) {
  Order order = all;
  const std::size_t count = std::min(most, order.size());
  const auto rule = [&](std::uint32_t a, std::uint32_t b) {
    if (before(a, b)) return true;
    return !before(b, a) && a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), rule);
  order.resize(count);
  return order;
}

/// One from each group in turn, nobody twice, of `places` there are.
[[nodiscard]] Order in_turn(const std::vector<Order>& groups, std::size_t places, std::size_t most);

}  // namespace wisecrowd::report
