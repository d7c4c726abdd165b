#include "judges_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "run_summary.hpp"
#include "screen_text.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace judged {
namespace {

constexpr std::size_t kShownJudges = 20, kShownRows = 12, kShownItems = 8;

std::string worker_name(const JudgeRun& run, WorkerId worker, std::size_t width = 22) {
  return shortened_name(run.data.workers[index(worker)], width);
}

/// "81.2", in percent without the sign.
std::string points(double share) { return std::isnan(share) ? "–" : fmt::format("{:.1f}", 100 * share); }
std::string range(const Estimate& e) {
  return std::isnan(e.low) ? "–" : fmt::format("{:.1f}–{:.1f}", 100 * e.low, 100 * e.high);
}

std::string data_lines(const JudgeRun& run, const Screen& screen) {
  const JudgeData& data = run.data;
  const std::size_t machines = run.study.judges.size(), people = data.workers.size() - machines;
  const bool comparisons = data.kind == JudgedKind::comparisons;
  std::string text = summary_line(
      "Data",
      fmt::format("{} by {} and {} to {}{}", counted(data.answers.size(), comparisons ? "comparison" : "answer"),
                  people == 1 ? "1 person" : fmt::format("{} people", grouped(people)), counted(machines, "machine"),
                  counted(data.tasks.size(), comparisons ? "question" : "task"),
                  comparisons ? fmt::format(" of {}", counted(data.items.size(), "item")) : ""),
      screen);
  text += summary_line("People",
                       run.study.people_tasks == 0
                           ? std::string("answered none of them, and no truth is known")
                           : fmt::format("answered {} of them{}", grouped(run.study.people_tasks),
                                         std::isnan(run.study.agreement.people_agree)
                                             ? std::string()
                                             : fmt::format("; two of them say the same in {}",
                                                           percent(run.study.agreement.people_agree))),
                       screen);
  const auto alpha = [](double value) { return std::isnan(value) ? std::string("–") : fmt::format("{:.3f}", value); };
  return text +
         summary_line("Alpha",
                      fmt::format("{} among people, {} among machines, {} among all", alpha(run.study.agreement.people),
                                  alpha(run.study.agreement.machines), alpha(run.study.agreement.everybody)),
                      screen);
}

/// Machines, the best first, and people as one row.
std::string judge_table(const JudgeRun& run, const Screen& screen) {
  Table table({{"judge", Column::Side::left},
               {"tasks", Column::Side::right, true},
               {"by all"},
               {"95 %"},
               {"by people"},
               {"95 %"},
               {"agrees"},
               {"base"},
               {"kappa"}});
  std::vector<const JudgeReliability*> order;
  for (const WorkerId judge : run.study.judges) order.push_back(&run.study.reliability[index(judge)]);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->accuracy.value > b->accuracy.value; });
  for (std::size_t i = 0; i < std::min(order.size(), kShownJudges); ++i) {
    const JudgeReliability& judge = *order[i];
    table.add({worker_name(run, judge.worker), grouped(judge.tasks), points(judge.accuracy.value),
               range(judge.accuracy), points(judge.against_people.value), range(judge.against_people),
               points(judge.agreement.value), points(judge.base_rate), fixed(judge.kappa.value, 3)});
  }
  double right = 0, weight = 0, agree = 0, base = 0, kappa = 0, paired = 0;
  std::uint64_t tasks = 0;
  for (const JudgeReliability& judge : run.study.reliability) {
    if (run.data.is_machine(judge.worker) || judge.tasks == 0) continue;
    const auto n = static_cast<double>(judge.tasks);
    right += n * judge.accuracy.value;
    weight += n;
    tasks += judge.tasks;
    if (std::isnan(judge.agreement.value) || std::isnan(judge.kappa.value)) continue;
    agree += n * judge.agreement.value;
    base += n * judge.base_rate;
    kappa += n * judge.kappa.value;
    paired += n;
  }
  if (weight > 0) {
    table.add({"people (mean)", grouped(tasks), points(right / weight), "", "", "",
               paired > 0 ? points(agree / paired) : "–", paired > 0 ? points(base / paired) : "–",
               paired > 0 ? fixed(kappa / paired, 3) : "–"});
  }
  std::string text = table.text(screen.width, screen.dim_on(), screen.off());
  if (order.size() > kShownJudges) text += fmt::format("  … and {} more, in judges.csv\n", order.size() - kShownJudges);
  return text + "  " +
         wrapped(
             "Right in percent, by the truth of all together and by that of people alone, whose errors are allowed "
             "for; "
             "agrees: with a person asked the same; base: whoever always says what people say most.",
             screen.width, 2) +
         "\n";
}

std::string bias_in_words(JudgeBias bias) {
  switch (bias) {
    case JudgeBias::position: return "what is shown first";
    case JudgeBias::length: return "what is longer";
    case JudgeBias::self_preference: return "its own family's";
    case JudgeBias::lean: return "the upper class";
  }
  return "";
}

std::string bias_text(const JudgeRun& run, const Screen& screen) {
  if (run.study.biases.empty()) return "";
  const bool scores = run.data.kind == JudgedKind::ordered;
  Table table({{"judge", Column::Side::left},
               {"leans towards", Column::Side::left},
               {scores ? "points" : "share"},
               {"95 %"},
               {"", Column::Side::left}});
  std::vector<const BiasEstimate*> order;
  for (const BiasEstimate& bias : run.study.biases) order.push_back(&bias);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->clear && !b->clear; });
  for (std::size_t i = 0; i < std::min(order.size(), kShownRows); ++i) {
    const BiasEstimate& bias = *order[i];
    const Estimate& e = bias.effect;
    table.add({worker_name(run, bias.worker), bias_in_words(bias.bias),
               scores ? fmt::format("{:+.2f}", e.value) : points(bias.share.value),
               scores ? fmt::format("{:+.2f} to {:+.2f}", e.low, e.high) : range(bias.share),
               bias.clear ? "clear" : "may be chance"});
  }
  std::string text = "\n" + table.text(screen.width, screen.dim_on(), screen.off());
  if (order.size() > kShownRows) text += fmt::format("  … and {} more, in biases.csv\n", order.size() - kShownRows);
  return text + "  " +
         wrapped(scores ? "In points of the score, above what people say."
                        : fmt::format("Share of its verdicts for that side at equal quality; 50 is fair{}.",
                                      run.data.length.empty()    ? ""
                                      : run.data.length_is_ratio ? "; longer means twice as long"
                                                                 : "; longer means by a standard deviation"),
                 screen.width, 2) +
         "\n";
}

std::string consistency_text(const JudgeRun& run, const Screen& screen) {
  std::string text;
  for (const WorkerId worker : run.study.judges) {
    const JudgeReliability& judge = run.study.reliability[index(worker)];
    std::string words;
    if (judge.repeated_tasks > 0) {
      words = fmt::format("asked again it says the same in {} ({}) of {}", percent(judge.consistency.value),
                          range(judge.consistency), counted(judge.repeated_tasks, "task"));
    }
    if (judge.swapped_tasks > 0) {
      words += fmt::format("{}in the other order in {} ({}) of {}", words.empty() ? "says the same " : "; ",
                           percent(judge.order_consistency.value), range(judge.order_consistency),
                           counted(judge.swapped_tasks, "question"));
    }
    if (!std::isnan(judge.temperature)) {
      words += fmt::format("{}probabilities: temperature {:.2f}{}", words.empty() ? "" : "; ", judge.temperature,
                           std::isnan(judge.log_loss) ? std::string()
                                                      : fmt::format(", log loss {:.3f} instead of {:.3f}",
                                                                    judge.calibrated_log_loss, judge.log_loss));
    }
    if (!words.empty()) text += summary_line(worker_name(run, worker, 8), words, screen);
  }
  return text.empty() ? "" : "\n" + text;
}

std::string family_text(const JudgeRun& run, const Screen& screen) {
  std::string text;
  for (const FamilySummary& family : run.study.families) {
    if (family.members.size() < 2) continue;
    text +=
        summary_line("Family",
                     fmt::format("{}{}: {} err together, correlation {:.2f} ({:.2f} to {:.2f}): worth {:.1f} judges",
                                 shortened_name(family.name, 24), family.found ? " (by how they answer)" : "",
                                 counted(family.members.size(), "judge"), family.error_correlation.value,
                                 family.error_correlation.low, family.error_correlation.high, family.effective_voices),
                     screen);
  }
  for (const VersionChange& change : run.study.versions) {
    text +=
        summary_line("Version",
                     fmt::format("{} after {}: agrees with people {:+.1f} points ({:+.1f} to {:+.1f}) on {}; the "
                                 "same verdict in {}",
                                 worker_name(run, change.later), worker_name(run, change.earlier),
                                 100 * change.difference.value, 100 * change.difference.low,
                                 100 * change.difference.high, counted(change.tasks, "task"), percent(change.alike)),
                     screen);
  }
  return text.empty() ? "" : "\n" + text;
}

std::string prevalence_text(const JudgeRun& run, const Screen& screen) {
  if (run.study.prevalence.empty()) return "";
  Table table({{"judge", Column::Side::left}, {"class", Column::Side::left}, {"it says"}, {"corrected"}, {"95 %"}});
  for (std::size_t i = 0; i < std::min(run.study.prevalence.size(), kShownRows); ++i) {
    const PrevalenceEstimate& share = run.study.prevalence[i];
    table.add({worker_name(run, share.worker), shortened_name(run.data.classes[index(share.of)], 16), points(share.raw),
               points(share.corrected.value), range(share.corrected)});
  }
  std::string text = "\n" + table.text(screen.width, screen.dim_on(), screen.off());
  if (run.study.prevalence.size() > kShownRows) {
    text += fmt::format("  … and {} more, in prevalence.csv\n", run.study.prevalence.size() - kShownRows);
  }
  return text;
}

std::string leaderboard_text(const JudgeRun& run, const Screen& screen) {
  if (!run.study.everybody) return "";
  std::vector<double> by_people(run.data.items.size(), std::nan(""));
  if (run.study.people) {
    for (const LeaderboardRow& row : run.study.people->rows) by_people[index(row.item)] = row.rank;
  }
  Table table({{"rank"}, {"95 %"}, {"item", Column::Side::left}, {"score"}, {"95 %"}, {"by people"}});
  const auto& rows = run.study.everybody->rows;
  const auto add = [&](const LeaderboardRow& row) {
    const double people = by_people[index(row.item)];
    table.add({fmt::format("{:.0f}", row.rank), fmt::format("{:.0f} – {:.0f}", row.rank_low, row.rank_high),
               shortened_name(run.data.items[index(row.item)], 30), fmt::format("{:.2f}", row.score.value),
               fmt::format("{:.2f} – {:.2f}", row.score.low, row.score.high),
               std::isnan(people) ? "–" : fmt::format("{:.0f}", people)});
  };
  const std::size_t top = rows.size() <= kShownItems + 2 ? rows.size() : kShownItems;
  for (std::size_t i = 0; i < top; ++i) add(rows[i]);
  if (top < rows.size()) {
    table.add({"…", "", counted(rows.size() - top - 1, "more item"), "", "", ""});
    add(rows.back());
  }
  return "\n" + table.text(screen.width, screen.dim_on(), screen.off());
}

std::string needs_text(const JudgeRun& run, const Screen& screen) {
  std::string text;
  const double target = run.options.target_width;
  for (const WorkerId worker : run.study.judges) {
    const JudgeReliability& judge = run.study.reliability[index(worker)];
    if (!judge.needs_known) continue;
    const std::string now =
        fmt::format("{} is known to ±{:.1f} points", worker_name(run, worker), 100 * judge.half_width);
    text += summary_line("Trust",
                         judge.more_tasks == 0 ? fmt::format("{}: within ±{:.1f} already", now, 100 * target)
                                               : fmt::format("{}: for ±{:.1f}, about {} of people to {}", now,
                                                             100 * target, counted(judge.more_answers, "more answer"),
                                                             counted(judge.more_tasks, "more task")),
                         screen);
  }
  if (run.study.next.empty()) return text.empty() ? "" : "\n" + text;
  Table table(
      {{"show to people next", Column::Side::left}, {"label", Column::Side::left}, {"probability"}, {"people"}});
  for (std::size_t i = 0; i < std::min(run.study.next.size(), kShownRows); ++i) {
    const NextTask& next = run.study.next[i];
    table.add({shortened_name(run.data.tasks[index(next.task)], 44),
               shortened_name(run.data.classes[index(next.label)], 14), fixed(next.probability, 3),
               grouped(next.people)});
  }
  text = (text.empty() ? "" : "\n" + text) + "\n" + table.text(screen.width, screen.dim_on(), screen.off());
  if (run.study.next.size() > kShownRows)
    text += fmt::format("  … and {} more, in next.csv\n", run.study.next.size() - kShownRows);
  return text;
}

std::string text_of(const JudgeRun& run, const Screen& screen) {
  return data_lines(run, screen) + "\n" + judge_table(run, screen) + bias_text(run, screen) +
         consistency_text(run, screen) + family_text(run, screen) + prevalence_text(run, screen) +
         leaderboard_text(run, screen) + needs_text(run, screen);
}

}  // namespace
}  // namespace judged

std::string judges_text(const JudgeRun& run, const Screen& screen) { return judged::text_of(run, screen); }

}  // namespace wisecrowd::app
