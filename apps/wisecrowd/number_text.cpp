#include "number_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "run_summary.hpp"
#include "shared_json.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownNumberWorkers = 3;  // of the best, and of the worst
constexpr std::size_t kShownNumberTasks = 3;

/// Root of the mean squared error that a worker's bias and scale make, over the dimensions.
double typical_error(const NumberWorkerSummary& worker) {
  double sum = 0;
  for (std::size_t d = 0; d < worker.bias.size(); ++d) {
    sum += worker.bias[d] * worker.bias[d] + worker.scale[d] * worker.scale[d];
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(worker.bias.size(), 1)));
}

std::string joined_numbers(const std::vector<double>& values) {
  std::string text;
  for (const double v : values) text += (text.empty() ? "" : ", ") + short_number(v);
  return text;
}

std::string number_worker_table(const NumberResult& result, const Screen& screen) {
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    if (result.workers[w].answers > 0 && !std::isnan(typical_error(result.workers[w]))) order.push_back(w);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(typical_error(result.workers[a]), a) < std::pair(typical_error(result.workers[b]), b);
  });
  const std::vector<double>& slopes = result.fit.slope;
  const bool sloped = std::any_of(slopes.begin(), slopes.end(), [](double slope) { return slope != 1; });
  std::vector<Column> columns{{"worker", Column::Side::left}, {"answers"}, {"bias"}, {"scale"}, {"typical error"}};
  if (sloped) columns.push_back({"slope"});
  Table table(columns);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool shown = i < kShownNumberWorkers || i + kShownNumberWorkers >= order.size();
    if (!shown && i == kShownNumberWorkers) {
      table.add({fmt::format("… {} more", grouped(order.size() - 2 * kShownNumberWorkers))});
    }
    if (!shown) continue;
    const NumberWorkerSummary& worker = result.workers[order[i]];
    std::vector<std::string> cells{printable(result.data.answers.worker_names()[order[i]]), grouped(worker.answers),
                                   joined_numbers(worker.bias), joined_numbers(worker.scale),
                                   short_number(typical_error(worker))};
    if (sloped) cells.push_back(joined_numbers(worker.slope));
    table.add(std::move(cells));
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

std::string number_task_table(const NumberResult& result, const Screen& screen) {
  const NumberFit& fit = result.fit;
  Table table({{"task", Column::Side::left}, {"answers"}, {"estimate"}, {"95 % interval"}});
  for (std::size_t t = 0; t < std::min(fit.task_count, kShownNumberTasks); ++t) {
    std::vector<double> estimate;
    std::string interval;
    for (std::size_t d = 0; d < fit.dimensions; ++d) {
      const std::size_t at = t * fit.dimensions + d;
      estimate.push_back(fit.estimate[at]);
      interval += d > 0 ? ", " : "";
      interval += std::isnan(fit.low[at]) && std::isnan(fit.high[at])
                      ? short_number(fit.low[at])
                      : fmt::format("{} – {}", short_number(fit.low[at]), short_number(fit.high[at]));
    }
    table.add({printable(result.data.answers.task_names()[t]),
               grouped(result.data.answers.workers_of(TaskId(t)).size()), joined_numbers(estimate), interval});
  }
  if (fit.task_count > kShownNumberTasks) {
    table.add({fmt::format("… {} more", grouped(fit.task_count - kShownNumberTasks))});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

}  // namespace

std::string short_number(double value) {
  if (std::isnan(value)) return "–";
  return fmt::format("{:.4g}", value);
}

std::string number_data_line(const NumberAnswers& answers, const Screen& screen) {
  return fmt::format("{}     {} by {} to {}, numbers{}\n", screen.bold("Data"),
                     counted(answers.answer_count(), "answer"), counted(answers.worker_count(), "worker"),
                     counted(answers.task_count(), "task"),
                     answers.dimensions() > 1 ? fmt::format(" of {} dimensions", answers.dimensions()) : "");
}

std::string number_score_lines(const NumberEvaluation& evaluation, const std::vector<std::string>& names,
                               const Screen& screen) {
  Table table({{"", Column::Side::left}, {"MAE"}, {"95 %"}, {"RMSE"}, {"95 %"}, {"R²"}, {"bias"}, {"in interval"}});
  const auto interval = [](const Estimate& e) {
    return fmt::format("{} – {}", short_number(e.low), short_number(e.high));
  };
  for (std::size_t d = 0; d < evaluation.dimensions.size(); ++d) {
    const NumberScore& score = evaluation.dimensions[d];
    table.add({printable(names[d]), short_number(score.absolute_error.value), interval(score.absolute_error),
               short_number(score.squared_error.value), interval(score.squared_error), fixed(score.r_squared, 3),
               short_number(score.bias), percent(score.coverage)});
  }
  return table.text(screen.width, screen.dim_on(), screen.off());
}

nlohmann::ordered_json number_evaluation_json(const NumberEvaluation& evaluation,
                                              const std::vector<std::string>& names) {
  nlohmann::ordered_json json = {{"tasks", evaluation.tasks}, {"missing", evaluation.missing}};
  json["dimensions"] = nlohmann::ordered_json::array();
  for (std::size_t d = 0; d < evaluation.dimensions.size(); ++d) {
    const NumberScore& score = evaluation.dimensions[d];
    json["dimensions"].push_back({{"name", names[d]},
                                  {"absolute_error", estimate_json(score.absolute_error)},
                                  {"squared_error", estimate_json(score.squared_error)},
                                  {"r_squared", score.r_squared},
                                  {"bias", score.bias},
                                  {"coverage", score.coverage}});
  }
  return json;
}

std::string number_summary(const NumberResult& result, bool is_default, double seconds, const Screen& screen) {
  std::string text = number_data_line(result.data.answers, screen);
  text += fmt::format("{}   {}{}, {}\n", screen.bold("Method"), result.record.method, is_default ? " (default)" : "",
                      duration(seconds));
  if (!result.fit.explanation.empty()) text += summary_line("Why", result.fit.explanation, screen);
  return text + "\n" + number_tables(result, screen);
}

std::string number_tables(const NumberResult& result, const Screen& screen) {
  std::string text = number_task_table(result, screen);
  if (result.evaluation) {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < result.fit.dimensions; ++d) {
      names.emplace_back(result.data.answers.dimension_names()[d]);
    }
    text += fmt::format(
        "\n{}   against gold of {}{}\n", screen.bold("Scored"), counted(result.evaluation->tasks, "task"),
        result.evaluation->missing > 0 ? fmt::format("; {} more have no estimate", grouped(result.evaluation->missing))
                                       : "");
    text += number_score_lines(*result.evaluation, names, screen);
  }
  const std::string workers = number_worker_table(result, screen);
  if (!workers.empty()) text += "\n" + workers;
  return text;
}

std::string number_description_text(const NumberDescription& d, const NumberAnswers& answers, const Screen& screen) {
  std::string text = number_data_line(answers, screen) + "\n";
  Table counts({{"answers per", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  const auto row = [&](const std::string& name, const Distribution& v) {
    return std::vector<std::string>{printable(name),        short_number(v.minimum), short_number(v.lower_quartile),
                                    short_number(v.median), short_number(v.mean),    short_number(v.upper_quartile),
                                    short_number(v.maximum)};
  };
  counts.add(row("task", d.answers_per_task));
  counts.add(row("worker", d.answers_per_worker));
  text += counts.text(screen.width, screen.dim_on(), screen.off()) + "\n";
  Table values({{"answers in", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  Table agreement({{"agreement in", Column::Side::left}, {"alpha"}, {"ICC(1)"}, {"deviation"}, {"within a task"}});
  for (std::size_t i = 0; i < d.dimensions.size(); ++i) {
    const DimensionDescription& own = d.dimensions[i];
    const std::string name(answers.dimension_names()[i]);
    values.add(row(name, own.values));
    agreement.add({printable(name), fixed(own.alpha, 3), fixed(own.icc, 3), short_number(own.deviation),
                   short_number(own.deviation_within)});
  }
  text += values.text(screen.width, screen.dim_on(), screen.off()) + "\n";
  text += agreement.text(screen.width, screen.dim_on(), screen.off());
  text += "\n  " +
          wrapped(
              "alpha is Krippendorff's for intervals: 1 means that answers to a task are all alike, 0 that "
              "they differ as much as answers to any tasks.",
              screen.width, 2) +
          "\n";
  return text;
}

nlohmann::ordered_json number_description_json(const NumberDescription& d, const NumberAnswers& answers,
                                               const std::vector<Warning>& warnings) {
  nlohmann::ordered_json json = {{"answers_kind", "numbers"},
                                 {"tasks", d.tasks},
                                 {"workers", d.workers},
                                 {"answers", d.answers},
                                 {"hash", fmt::format("{:016x}", answers.content_hash())},
                                 {"unanswered_tasks", d.unanswered_tasks},
                                 {"silent_workers", d.silent_workers},
                                 {"answers_per_task", distribution_json(d.answers_per_task)},
                                 {"answers_per_worker", distribution_json(d.answers_per_worker)},
                                 {"components", d.components}};
  json["dimensions"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < d.dimensions.size(); ++i) {
    const DimensionDescription& own = d.dimensions[i];
    json["dimensions"].push_back({{"name", std::string(answers.dimension_names()[i])},
                                  {"values", distribution_json(own.values)},
                                  {"deviation", own.deviation},
                                  {"deviation_within", own.deviation_within},
                                  {"krippendorff_alpha", own.alpha},
                                  {"icc", own.icc}});
  }
  json["warnings"] = warnings_json(warnings);
  return json;
}

}  // namespace wisecrowd::app
