#include "run_summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "screen_text.hpp"
#include "table.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kSummaryClasses = 10;
constexpr std::size_t kSummaryWorkers = 3;  // of the best, and of the worst
constexpr double kSure = 0.95;
constexpr double kUnsure = 0.6;

struct ClassCount {
  std::size_t id = 0;
  std::uint64_t answers = 0;
  std::uint64_t tasks = 0;
};

std::vector<ClassCount> class_counts(const CategoryResult& result) {
  std::vector<ClassCount> counts(result.aggregation.class_count);
  for (std::size_t k = 0; k < counts.size(); ++k) counts[k].id = k;
  for (const ClassId label : result.data.answers.labels()) ++counts[index(label)].answers;
  for (const ClassId label : result.aggregation.labels) ++counts[index(label)].tasks;
  return counts;
}

struct Certainty {
  double sure = 0;    ///< share of tasks whose label has at least probability kSure
  double unsure = 0;  ///< … less than kUnsure
};

Certainty certainty(const CategoryFit& fit) {
  std::uint64_t sure = 0;
  std::uint64_t unsure = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const double p = fit.posterior[t * fit.class_count + index(fit.labels[t])];
    sure += p >= kSure ? 1 : 0;
    unsure += p < kUnsure ? 1 : 0;
  }
  const auto tasks = static_cast<double>(std::max<std::size_t>(fit.task_count, 1));
  return {static_cast<double>(sure) / tasks, static_cast<double>(unsure) / tasks};
}

struct Ranking {
  std::vector<std::size_t> best;   ///< the best first
  std::vector<std::size_t> worst;  ///< the worst last
};

/// By what can be relied on: the best by the low end of their interval, the worst by the high end, so that three lucky
/// answers do not make a champion.
Ranking rank_workers(const CategoryResult& result) {
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    if (result.workers[w].answers > 0) order.push_back(w);
  }
  const auto& workers = result.workers;
  const auto better = [&](std::size_t a, std::size_t b) {
    return std::pair(-workers[a].accuracy_low, a) < std::pair(-workers[b].accuracy_low, b);
  };
  const auto worse = [&](std::size_t a, std::size_t b) {
    return std::pair(workers[a].accuracy_high, a) < std::pair(workers[b].accuracy_high, b);
  };
  Ranking ranking;
  if (order.size() <= 2 * kSummaryWorkers) {
    std::sort(order.begin(), order.end(), better);
    ranking.best = std::move(order);
    return ranking;
  }
  std::partial_sort(order.begin(), order.begin() + kSummaryWorkers, order.end(), better);
  ranking.best.assign(order.begin(), order.begin() + kSummaryWorkers);
  std::partial_sort(order.begin() + kSummaryWorkers, order.begin() + 2 * kSummaryWorkers, order.end(), worse);
  ranking.worst.assign(order.begin() + kSummaryWorkers, order.begin() + 2 * kSummaryWorkers);
  std::reverse(ranking.worst.begin(), ranking.worst.end());
  return ranking;
}

std::string share_bar(double share, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::lround(share * static_cast<double>(width))); ++i)
    text += "▇";
  return text;
}

std::string status_text(const CategoryFit& fit) {
  const std::string iterations = counted(fit.iterations, "iteration");
  switch (fit.status) {
    case Status::converged: return fit.iterations <= 1 ? iterations : fmt::format("converged in {}", iterations);
    case Status::iteration_limit: return fmt::format("stopped at its limit of {}", iterations);
    case Status::cancelled: return fmt::format("cancelled after {}", iterations);
  }
  return iterations;
}

std::string class_table(const CategoryResult& result, const Screen& screen) {
  auto counts = class_counts(result);
  const std::size_t hidden = counts.size() > kSummaryClasses ? counts.size() - kSummaryClasses : 0;
  if (hidden > 0) {
    std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.tasks > b.tasks; });
    counts.resize(kSummaryClasses);
  }
  const auto tasks = static_cast<double>(std::max<std::size_t>(result.aggregation.task_count, 1));
  Table table({{"class", Column::Side::left}, {"answers"}, {"tasks"}, {"share"}, {"", Column::Side::left}});
  for (const ClassCount& count : counts) {
    const double share = static_cast<double>(count.tasks) / tasks;
    table.add({printable(result.data.answers.class_names()[count.id]), grouped(count.answers), grouped(count.tasks),
               percent(share), share_bar(share, 20)});
  }
  std::string text = table.text(screen.width, screen.dim_on(), screen.off());
  if (hidden > 0) text += fmt::format("  … and {} more classes\n", hidden);
  return text;
}

std::string worker_table(const CategoryResult& result, const Screen& screen) {
  const Ranking ranking = rank_workers(result);
  Table table({{"worker", Column::Side::left}, {"answers"}, {"accuracy"}, {"95 % interval"}, {"bits/answer"}});
  const auto add = [&](std::size_t w) {
    const WorkerSummary& worker = result.workers[w];
    table.add({printable(result.data.answers.worker_names()[w]), grouped(worker.answers), percent(worker.accuracy),
               fmt::format("{:.1f} – {:.1f}", 100 * worker.accuracy_low, 100 * worker.accuracy_high),
               fixed(worker.informativeness, 3)});
  };
  for (const std::size_t w : ranking.best) add(w);
  if (!ranking.worst.empty())
    table.add({fmt::format("… {} more", grouped(result.workers.size() - 2 * kSummaryWorkers))});
  for (const std::size_t w : ranking.worst) add(w);
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

}  // namespace

std::string percent_with_interval(const Estimate& estimate) {
  return fmt::format("{} ({:.1f} to {:.1f})", percent(estimate.value), 100 * estimate.low, 100 * estimate.high);
}

std::string warning_lines(std::span<const Warning> warnings, const Screen& screen) {
  std::string text;
  for (const Warning& warning : warnings) {
    const std::string line =
        fmt::format("wisecrowd: {} {}", screen.yellow("warning:"), printable(with_flags(full_text(warning))));
    text += (screen.is_terminal ? wrapped(line, screen.width, 2) : line) + "\n";
  }
  return text;
}

std::string summary_line(const std::string& title, const std::string& text, const Screen& screen) {
  return fmt::format("{}  {}\n", screen.bold(fmt::format("{:<7}", title)), wrapped(text, screen.width, 9));
}

std::string summary_tables(const CategoryResult& result, const Screen& screen) {
  std::string text = "\n" + class_table(result, screen) + "\n";
  const Certainty sure = certainty(result.aggregation);
  text += summary_line("Sure",
                       fmt::format("{} of labels have probability 0.95 or more, {} less than 0.6{}", percent(sure.sure),
                                   percent(sure.unsure),
                                   dependence_casts_doubt(result.data.answers, result.dependence)
                                       ? "; not to be relied on, because some workers answer as one"
                                       : ""),
                       screen);
  if (result.record.abstain_below > 0) {
    const auto labels = delivered_labels(result.aggregation, result.record.abstain_below);
    const auto blank = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), kNoClass));
    text += summary_line("Blank",
                         fmt::format("{} left without a label, because no class has probability {} or more",
                                     counted(blank, "task"), result.record.abstain_below),
                         screen);
  }
  return text + "\n" + worker_table(result, screen);
}

std::string run_summary(const CategoryResult& result, bool method_is_default, double seconds, const Screen& screen) {
  const CategoryAnswers& answers = result.data.answers;
  const RunRecord& record = result.record;
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  std::string text;
  text += line("Data", fmt::format("{} by {} to {}, {}", counted(answers.answer_count(), "answer"),
                                   counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task"),
                                   counted(answers.class_count(), "class")));
  text += line("Method", fmt::format("{}{}, {}, {}", record.method, method_is_default ? " (default)" : "",
                                     status_text(result.aggregation), duration(seconds)));
  if (!result.aggregation.explanation.empty()) text += line("Why", result.aggregation.explanation);
  for (const StageRecord& stage : record.stages) {
    text += line(stage.role == "init" ? "Init" : "Finish", stage.method);
  }
  if (record.gold_use == "inference") {
    text += line("Gold", fmt::format("{} pinned inside inference; being known, they are no test of the labels",
                                     counted(record.gold_tasks, "gold task")));
  }
  if (record.evaluation) {
    const Evaluation& score = *record.evaluation;
    text += line("Score", fmt::format("accuracy {} on {} that the method did not see",
                                      percent_with_interval(score.accuracy), counted(score.tasks, "gold task")));
    if (score.log_loss && score.ece) {
      text += line("", fmt::format("log-loss {}, calibration error (ECE) {}", fixed(score.log_loss->value, 3),
                                   fixed(score.ece->value, 3)));
    }
    if (is_ordered(answers)) {
      const RankScores ranks = evaluate_ranks(delivered_labels(result.aggregation, record.abstain_below),
                                              result.data.gold, answers.class_count(), RunContext());
      text += line("", fmt::format("ordered: labels are {} ranks off on average, quadratic kappa {}",
                                   fixed(ranks.rank_error.value, 3), fixed(ranks.quadratic_kappa.value, 3)));
    }
    if (score.abstained > 0) {
      text += line("", fmt::format("coverage {}: {} more were left blank", percent(score.coverage()),
                                   counted(score.abstained, "gold task")));
    }
  }
  return text + summary_tables(result, screen);
}

nlohmann::ordered_json run_summary_json(const CategoryResult& result) {
  using Json = nlohmann::ordered_json;
  Json classes = Json::array();
  for (const ClassCount& count : class_counts(result)) {
    classes.push_back({{"class", std::string(result.data.answers.class_names()[count.id])},
                       {"answers", count.answers},
                       {"tasks", count.tasks}});
  }
  const auto workers = [&](const std::vector<std::size_t>& order) {
    Json list = Json::array();
    for (const std::size_t w : order) {
      const WorkerSummary& worker = result.workers[w];
      list.push_back({{"worker", std::string(result.data.answers.worker_names()[w])},
                      {"answers", worker.answers},
                      {"accuracy", worker.accuracy},
                      {"accuracy_low", worker.accuracy_low},
                      {"accuracy_high", worker.accuracy_high},
                      {"informativeness", worker.informativeness}});
    }
    return list;
  };
  const Certainty sure = certainty(result.aggregation);
  const Ranking ranking = rank_workers(result);
  return {{"classes", classes},
          {"share_with_probability_at_least_0.95", sure.sure},
          {"share_with_probability_below_0.6", sure.unsure},
          {"best_workers", workers(ranking.best)},
          {"worst_workers", workers(ranking.worst)}};
}

}  // namespace wisecrowd::app
