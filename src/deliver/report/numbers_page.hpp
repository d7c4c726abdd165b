#pragma once

#include <fmt/core.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/math.hpp"
#include "deliver/report/shared.hpp"
#include "result/number_report_facts.hpp"

namespace wisecrowd::report {

/// What is odd about a task.
enum NumberOddity : unsigned { kMissed = 1, kOutlying = 2, kScattered = 4, kFewAnswers = 8, kNoAnswers = 16 };

/// What the page shows of a result on numbers: numbers.cpp has the summary, numbers_tables.cpp tasks, workers and gold.
class NumberPage {
 public:
  NumberPage(const NumberResult& result, const ReportOptions& options, const RunContext& context);
  [[nodiscard]] Json document();

 private:
  [[nodiscard]] std::string dimension_name(std::size_t d) const { return shown_name(answers_.dimension_names()[d]); }
  /// "" for one dimension, " of x" for several.
  [[nodiscard]] std::string of_dimension(std::size_t d) const {
    return dimensions_ == 1 ? "" : fmt::format(" of {}", dimension_name(d));
  }
  [[nodiscard]] std::span<const double> row(const std::vector<double>& values, std::size_t t) const {
    return std::span(values).subspan(t * dimensions_, dimensions_);
  }
  [[nodiscard]] bool scored(std::size_t t) const { return facts_.evaluation && result_.data.has_gold(TaskId(t)); }
  /// The largest figure of a task over its dimensions, in scatters; 0 where nothing is known.
  [[nodiscard]] double largest(std::span<const double> values) const {
    double most = 0;
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (!std::isnan(values[d])) most = std::max(most, std::abs(values[d]) / unit_[d]);
    }
    return most;
  }
  [[nodiscard]] double miss(std::size_t t) const {
    std::vector<double> off(dimensions_);
    for (std::size_t d = 0; d < dimensions_; ++d) {
      off[d] = fit_.estimate[t * dimensions_ + d] - result_.data.gold[t * dimensions_ + d];
    }
    return largest(off);
  }
  [[nodiscard]] bool is_far(std::size_t answer) const {
    const auto far = std::span(facts_.outlying.far).subspan(answer * dimensions_, dimensions_);
    return std::any_of(far.begin(), far.end(), [](std::uint8_t own) { return own != 0; });
  }
  [[nodiscard]] double spread_of(std::size_t t) const;
  void look_at_tasks();
  [[nodiscard]] Order chosen_tasks() const;
  [[nodiscard]] Order chosen_workers(std::string& chosen_by) const;
  [[nodiscard]] double error_of(std::size_t w, std::size_t d) const {
    return math::hypot(fit_.bias[w * dimensions_ + d], fit_.scale[w * dimensions_ + d]);
  }
  [[nodiscard]] std::vector<std::string> oddities_of_worker(std::size_t w) const;
  [[nodiscard]] Json said_of(std::size_t t, std::size_t& bytes) const;
  [[nodiscard]] std::vector<double> sorted_estimates(std::size_t d) const;
  [[nodiscard]] Json histogram(const std::vector<double>& values, std::size_t d) const;
  [[nodiscard]] std::string verdict(const Json& warnings) const;

  void add_counts(Json& document);
  void add_warnings(Json& document);
  void add_headlines(Json& document);
  void add_dimensions(Json& document);
  void add_tasks(Json& document);
  void add_workers(Json& document);
  void add_gold(Json& document);
  void add_rest(Json& document);

  const NumberResult result_;  ///< with the digits of the files
  const NumberReportFacts facts_;
  const ReportOptions& options_;
  const RunContext& context_;
  const NumberAnswers& answers_;
  const NumberFit& fit_;
  std::size_t dimensions_;
  std::vector<double> unit_;         ///< per dimension: what makes distances comparable
  std::vector<double> usual_scale_;  ///< per dimension: the median worker's
  std::vector<std::uint8_t> oddities_;
  std::vector<float> uncertainty_, apart_;  ///< per task, in scatters
  std::vector<std::string> sampling_;
};

}  // namespace wisecrowd::report
