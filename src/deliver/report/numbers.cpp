#include <fmt/core.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/intervals.hpp"
#include "deliver/report/numbers_page.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostHeadlineDimensions = 3;
constexpr double kHardlyAgree = 0.2;  ///< alpha
constexpr double kTooNarrow = 0.9;    ///< coverage of 95 % intervals

/// A number in a sentence.
std::string amount(double value) {
  if (std::isnan(value)) return "unknown";
  const double size = std::abs(value);
  if (size < 1000 || size >= 1e15) return fmt::format("{:.3g}", value);
  return (value < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(size + 0.5));
}

std::string amounts(const Estimate& estimate) {
  return fmt::format("{} (95 % interval {} to {})", amount(estimate.value), amount(estimate.low),
                     amount(estimate.high));
}

double median_of_known(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

}  // namespace

NumberPage::NumberPage(const NumberResult& result, const ReportOptions& options, const RunContext& context)
    : result_(rounded_for_files(result)),
      facts_(report_facts(result_)),
      options_(options),
      context_(context),
      answers_(result_.data.answers),
      fit_(result_.fit),
      dimensions_(fit_.dimensions) {
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const double scatter = facts_.outlying.scatter[d];
    const double all = facts_.description.dimensions[d].deviation;
    unit_.push_back(scatter > 0 ? scatter : all > 0 ? all : 1);
    std::vector<double> scales;
    for (std::size_t w = 0; w < fit_.worker_count; ++w) scales.push_back(fit_.scale[w * dimensions_ + d]);
    usual_scale_.push_back(median_of_known(std::move(scales)));
  }
  look_at_tasks();
}

Json NumberPage::document() {
  Json document = document_head(result_.record, options_);
  document["answers_kind"] = std::string(Numbers::name);
  document["run"] = run_facts(result_.record, fit_, options_, answers_.content_hash());
  for (const auto add :
       {&NumberPage::add_counts, &NumberPage::add_warnings, &NumberPage::add_headlines, &NumberPage::add_dimensions,
        &NumberPage::add_tasks, &NumberPage::add_workers, &NumberPage::add_gold, &NumberPage::add_rest}) {
    if (context_.cancelled()) throw Cancelled();
    (this->*add)(document);
  }
  return document;
}

void NumberPage::add_counts(Json& document) {
  const NumberDescription& description = facts_.description;
  document["counts"] = {{"tasks", description.tasks},
                        {"workers", description.workers},
                        {"dimensions", dimensions_},
                        {"answers", description.answers},
                        {"answers_per_task", number(description.answers_per_task.mean)},
                        {"answers_per_worker", number(description.answers_per_worker.mean)},
                        {"tasks_without_answers", description.unanswered_tasks},
                        {"outlying_answers", facts_.outlying.count}};
}

void NumberPage::add_warnings(Json& document) {
  const RunRecord& record = result_.record;
  WarningList list(record);
  list.add_new(record.data_warnings);
  list.add_new(fit_.warnings);
  list.add_new(facts_.description.warnings);
  list.add_stopped(fit_, "estimates and workers are", "the estimates");
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const DimensionDescription& own = facts_.description.dimensions[d];
    if (own.alpha < kHardlyAgree) {
      list.add(Severity::caution, "Workers hardly agree",
               fmt::format("answers{} to one task differ nearly as much as answers to any two tasks (Krippendorff's "
                           "alpha {:.2f})",
                           of_dimension(d), own.alpha),
               "read some tasks with scattered answers below: are instructions and units clear?");
    }
    if (!facts_.evaluation) continue;
    const double held = facts_.evaluation->dimensions[d].coverage;
    const auto tasks = static_cast<double>(facts_.evaluation->tasks);
    if (!std::isnan(held) && wilson_interval(held * tasks, tasks).high < kTooNarrow) {
      list.add(
          Severity::caution, "The intervals are too narrow",
          fmt::format("of the 95 % intervals{}, {} hold the truth of their gold task", of_dimension(d), percent(held)),
          "use the intervals to order tasks, not as bounds; workers may err together, or answer in another unit "
          "than gold");
    }
  }
  list.add_unmeasured(
      fmt::format("the method was given the truth of {}, so they are no test of the estimates",
                  counted(record.gold_tasks, "task")),
      "without tasks whose truth is known, how far estimates are off is what the method believes of itself",
      "learn the truth of a hundred random tasks");
  document["warnings"] = list.json();
}

std::string NumberPage::verdict(const Json& warnings) const {
  const NumberDescription& description = facts_.description;
  const std::size_t done = description.tasks - description.unanswered_tasks;
  std::string words = fmt::format(
      "{} estimated from {} by {}; method: {}.",
      done == description.tasks
          ? fmt::format("{} {} {}", done == 1 ? "The" : "All", counted(done, "task"), done == 1 ? "was" : "were")
          : fmt::format("{} of {} were", grouped(done), counted(description.tasks, "task")),
      counted(description.answers, "answer"), counted(description.workers, "worker"),
      options_.method_title.empty() ? result_.record.method : options_.method_title);
  if (facts_.evaluation) {
    words += fmt::format(" On {} with known truth,", counted(facts_.evaluation->tasks, "task"));
    for (std::size_t d = 0; d < std::min(dimensions_, kMostHeadlineDimensions); ++d) {
      const Estimate& error = facts_.evaluation->dimensions[d].absolute_error;
      words += fmt::format("{} estimates{} are off by {} on average (95 % interval {} to {})", d == 0 ? "" : ",",
                           of_dimension(d), amount(error.value), amount(error.low), amount(error.high));
    }
    words += ".";
  } else if (done > 0) {
    words += " How far they are off was not measured.";
  }
  return words + serious_words(warnings, "the estimates");
}

void NumberPage::add_headlines(Json& document) {
  Json list = Json::array();
  const auto label = [&](const char* text, std::size_t d) {
    return dimensions_ == 1 ? std::string(text) : fmt::format("{}, {}", text, dimension_name(d));
  };
  for (std::size_t d = 0; d < std::min(dimensions_, kMostHeadlineDimensions); ++d) {
    if (facts_.evaluation) {
      const NumberScore& score = facts_.evaluation->dimensions[d];
      const Estimate& error = score.absolute_error;
      list.push_back(with_interval(
          headline("error", label("Mean absolute error", d), number(error.value, kHeadlineDigits), "none",
                   fmt::format("On {} whose truth is known and which the method did not see. Root mean square error: "
                               "{}.",
                               counted(facts_.evaluation->tasks, "task"), amounts(score.squared_error)),
                   "measured on gold"),
          error.low, error.high));
      continue;
    }
    double squares = 0, count = 0;
    for (std::size_t at = d; at < fit_.deviation.size(); at += dimensions_) {
      if (std::isnan(fit_.deviation[at])) continue;
      squares += fit_.deviation[at] * fit_.deviation[at];
      count += 1;
    }
    if (count == 0) continue;
    list.push_back(headline("error", label("Expected error", d), number(std::sqrt(squares / count), kHeadlineDigits),
                            "none",
                            "How far an estimate is off, as a standard deviation, if the method is right about how "
                            "answers scatter. Nothing was measured: that takes tasks whose truth is known.",
                            "estimated by the model"));
  }
  for (std::size_t d = 0; facts_.evaluation && d < std::min<std::size_t>(dimensions_, 1); ++d) {
    double held = 0;
    for (const NumberScore& score : facts_.evaluation->dimensions) held += score.coverage;
    held /= static_cast<double>(dimensions_);
    if (std::isnan(held)) break;
    list.push_back(headline("coverage", "Intervals that hold the truth", number(held, kHeadlineDigits), "share",
                            fmt::format("It should be 95 %{}.", dimensions_ > 1 ? "; the mean over dimensions" : ""),
                            "measured on gold"));
  }
  for (std::size_t d = 0; d < std::min(dimensions_, kMostHeadlineDimensions); ++d) {
    const DimensionDescription& own = facts_.description.dimensions[d];
    if (std::isnan(own.alpha)) continue;
    list.push_back(headline("agreement", label("Agreement (alpha)", d), number(own.alpha, kHeadlineDigits), "none",
                            fmt::format("1 is perfect, 0 is chance. Answers to one task scatter by {} (standard "
                                        "deviation), all answers by {}.",
                                        amount(own.deviation_within), amount(own.deviation)),
                            "counted"));
  }
  list.push_back(headline("outliers", "Outlying answers", facts_.outlying.count, "count",
                          fmt::format("{} of all answers stand more than three times the usual scatter from the median "
                                      "of their task. They count like any other unless the method says otherwise.",
                                      percent(static_cast<double>(facts_.outlying.count) /
                                              static_cast<double>(std::max<std::size_t>(answers_.answer_count(), 1)))),
                          "counted"));
  list.push_back(headline("tasks", "Answers per task",
                          number(facts_.description.answers_per_task.mean, kHeadlineDigits), "none",
                          per_task_words(facts_.description), "counted"));
  document["headlines"] = std::move(list);
  document["verdict"] = verdict(document["warnings"]);
}

void NumberPage::add_rest(Json& document) {
  // What is not iterated does not converge.
  if (fit_.iterations > 1) document["convergence"] = convergence_facts(fit_, true, sampling_);
  document["sampling"] = sampling_;
}

Json numbers_document(const NumberResult& result, const ReportOptions& options, const RunContext& context) {
  return NumberPage(result, options, context).document();
}

}  // namespace wisecrowd::report
