#include "wisecrowd/cleaning.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "wisecrowd/covariance_spammers.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/trust.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

/// From this share of copied answers on, workers who answer as one are called copies.
constexpr double kCopied = 0.3;
constexpr double kSpammerFrom = 0.5;

/// What is wrong with a worker.
struct Verdict {
  std::string reason, why;
  /// Who is kept where a task would lose its last answer: a copy, then the best spammer, a colluder last.
  double merit = 0;
};
using Verdicts = std::vector<std::optional<Verdict>>;

std::string percent_of(double share) { return fmt::format("{:.0f} %", 100 * share); }

CategoryData without_answers(const CategoryData& data, const Verdicts& verdicts, Cleaning* cleaning) {
  const CategoryAnswers& answers = data.answers;
  std::vector<CategoryAnswer> kept;
  kept.reserve(answers.answer_count());
  std::vector<std::uint64_t> out(answers.worker_count(), 0), stay(answers.worker_count(), 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const TaskId task{static_cast<std::uint32_t>(t)};
    const auto who = answers.workers_of(task);
    const auto what = answers.labels_of(task);
    const auto good = [&](WorkerId w) { return !verdicts[index(w)].has_value(); };
    std::optional<WorkerId> best;
    if (std::none_of(who.begin(), who.end(), good)) {
      for (const WorkerId w : who) {
        if (!best || verdicts[index(w)]->merit > verdicts[index(*best)]->merit) best = w;
      }
    }
    for (std::size_t a = 0; a < who.size(); ++a) {
      const bool stays = good(who[a]) || (best && *best == who[a]);
      if (stays) kept.push_back({task, who[a], what[a]});
      if (!good(who[a])) ++(stays ? stay : out)[index(who[a])];
    }
  }
  CategoryData rest = data;
  rest.answers = inherited(
      answers, make_category_answers(kept, {answers.task_names(), answers.worker_names(), answers.class_names()},
                                     DuplicatePolicy::repeat));
  if (cleaning == nullptr) return rest;
  for (std::size_t j = 0; j < verdicts.size(); ++j) {
    if (!verdicts[j]) continue;
    cleaning->workers.push_back({std::string(answers.worker_names()[j]), WorkerId{static_cast<std::uint32_t>(j)},
                                 verdicts[j]->reason, verdicts[j]->why, out[j], stay[j]});
    cleaning->answers += out[j];
    cleaning->kept += stay[j];
  }
  return rest;
}

/// Groups of copies: those of the search that agree like that, and pairs beside them.
std::vector<std::vector<WorkerId>> copied_groups(const Dependence& found, std::size_t workers) {
  std::vector<std::uint32_t> root(workers);
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](std::uint32_t w) {
    while (root[w] != w) w = root[w] = root[root[w]];
    return w;
  };
  const auto join = [&](WorkerId a, WorkerId b) {
    const std::uint32_t x = find(static_cast<std::uint32_t>(index(a))), y = find(static_cast<std::uint32_t>(index(b)));
    root[std::max(x, y)] = std::min(x, y);
  };
  for (const DependentGroup& group : found.groups) {
    if (group.agreement - group.expected < kCopied * (1 - group.expected)) continue;
    for (const WorkerId w : group.workers) join(group.workers.front(), w);
  }
  for (const DependentPair& pair : found.pairs) {
    if (!pair.grouped && pair.copied >= kCopied) join(pair.first, pair.second);
  }
  std::vector<std::vector<WorkerId>> members(workers), groups;
  for (std::uint32_t w = 0; w < workers; ++w) members[find(w)].push_back(WorkerId{w});
  for (auto& group : members) {
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

void find_copies(const CategoryData& data, const Dependence& found, Verdicts& verdicts, Cleaning& cleaning) {
  const auto offsets = data.answers.worker_offsets();
  const auto groups = copied_groups(found, data.answers.worker_count());
  for (const auto& group : groups) {
    const auto merit = [&](WorkerId w) {
      const bool trusted = std::find(data.trusted.begin(), data.trusted.end(), w) != data.trusted.end();
      return std::pair(trusted, offsets[index(w) + 1] - offsets[index(w)]);
    };
    const WorkerId stays = *std::max_element(  // the first of equals
        group.begin(), group.end(), [&](WorkerId a, WorkerId b) { return merit(a) < merit(b); });
    for (const WorkerId w : group) {
      if (w == stays) continue;
      verdicts[index(w)] = {
          "copy",
          fmt::format("answers as one with {}, who stays for {}", data.answers.worker_names()[index(stays)],
                      group.size() == 2 ? "both" : fmt::format("all {}", group.size())),
          2 + static_cast<double>(merit(w).second)};
    }
  }
  if (groups.empty()) cleaning.notes.emplace_back("No copies were found.");
}

void find_colluders(const Dependence& found, Verdicts& verdicts, Cleaning& cleaning) {
  if (found.everybody_grouped) {
    cleaning.notes.emplace_back(
        "Nearly all workers belong to groups that answer as one, so none of them was left out as colluders: "
        "group_dawid_skene counts every group once.");
    return;
  }
  bool any = false;
  for (const DependentGroup& group : found.groups) {
    if (!group.acted_on) continue;
    any = true;
    for (const WorkerId w : group.workers) {
      verdicts[index(w)] = {"colluder",
                            fmt::format("one of {} who answer as one and contradict the others in {} of the tasks that "
                                        "these are sure of",
                                        group.workers.size(), percent_of(group.contradicts)),
                            -1};
    }
  }
  if (!any) cleaning.notes.emplace_back("No colluders were found.");
}

void spammers_by_evidence(const CategoryData& rest, Verdicts& verdicts, const RunContext& context) {
  std::vector<std::uint32_t> alone(rest.answers.worker_count());
  std::iota(alone.begin(), alone.end(), 0U);
  CategoryData seen = rest;
  seen.worker_groups.clear();
  const auto fit = fit_voices(seen, alone, {}, context);
  const auto judged =
      judge_workers({rest.answers, fit.confusion, fit.class_prior}, std::span<const std::uint32_t>{}, {}, context);
  for (std::size_t j = 0; j < judged.size(); ++j) {
    if (verdicts[j] || judged[j].answers == 0 || judged[j].spammer < kSpammerFrom) continue;
    verdicts[j] = {"spammer",
                   fmt::format("its answers do not depend on the truth, with probability {:.2f}", judged[j].spammer),
                   1 - judged[j].spammer};
  }
}

void find_spammers(const CategoryData& data, Verdicts& verdicts, Cleaning& cleaning, const RunContext& context) {
  const CategoryData rest = without_answers(data, verdicts, nullptr);
  const CovarianceSpammers found = spammers_by_covariance(rest.answers, {}, context);
  if (found.applies) {
    for (std::size_t j = 0; j < verdicts.size(); ++j) {
      if (verdicts[j] || found.spammer[j] == 0) continue;
      verdicts[j] = {"spammer",
                     fmt::format("its answers vary with those of the others by {} of what is usual",
                                 percent_of(found.strength[j])),
                     std::min(found.strength[j], 1.0)};
    }
    cleaning.notes.push_back(found.why.empty()
                                 ? "Spammers were found by the covariances of answers."
                                 : fmt::format("No spammers were found by the covariances of answers: {}.", found.why));
    return;
  }
  spammers_by_evidence(rest, verdicts, context);
  cleaning.notes.push_back(
      fmt::format("Spammers were found by the probability that a worker's answers do not depend on the truth; their "
                  "covariances cannot tell, because {}.",
                  found.why));
}

}  // namespace

CleaningRequest cleaning_request(std::string_view list) {
  CleaningRequest request;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name == "spammers") {
      request.spammers = true;
    } else if (name == "copies") {
      request.copies = true;
    } else if (name == "colluders") {
      request.colluders = true;
    } else {
      throw Error(
          ErrorCode::bad_parameter,
          fmt::format("without '{}': there are spammers, copies and colluders, or several of them with commas", name));
    }
  }
  return request;
}

std::string to_string(const CleaningRequest& request) {
  std::string list;
  const auto add = [&](bool wanted, const char* name) {
    if (wanted) list += (list.empty() ? "" : ",") + std::string(name);
  };
  add(request.spammers, "spammers");
  add(request.copies, "copies");
  add(request.colluders, "colluders");
  return list;
}

std::uint64_t Cleaning::count_of(std::string_view reason) const noexcept {
  return static_cast<std::uint64_t>(std::count_if(
      workers.begin(), workers.end(), [&](const LeftOutWorker& worker) { return worker.reason == reason; }));
}

Cleaned cleaned(const CategoryData& data, const CleaningRequest& request, const RunContext& context) {
  Cleaned result;
  result.cleaning.without = to_string(request);
  Verdicts verdicts(data.answers.worker_count());
  if (request.copies || request.colluders) {
    // Groups that were named are no accusation: it looks for its own.
    CategoryData seen = data;
    seen.worker_groups.clear();
    const Dependence found = find_dependence(seen, {}, context);
    if (request.copies) find_copies(seen, found, verdicts, result.cleaning);
    if (request.colluders) find_colluders(found, verdicts, result.cleaning);
  }
  for (const WorkerId w : data.trusted) verdicts[index(w)].reset();
  if (request.spammers) find_spammers(data, verdicts, result.cleaning, context);
  for (const WorkerId w : data.trusted) verdicts[index(w)].reset();
  result.data = without_answers(data, verdicts, &result.cleaning);
  return result;
}

void describe_left_out(const CategoryData& all, const Cleaning& cleaning, CategoryFit& fit) {
  if (cleaning.workers.empty()) return;
  // They did answer; who else did not is a matter of the data.
  std::erase_if(fit.warnings, [](const Warning& warning) { return warning.code == "silent_workers"; });
  if (fit.confusion.empty()) return;
  const std::size_t classes = fit.class_count, cells = classes * classes;
  for (const LeftOutWorker& left_out : cleaning.workers) {
    const WorkerId worker = left_out.worker;
    const auto table = std::span(fit.confusion).subspan(index(worker) * cells, cells);
    // Half an answer spread over each row, as for methods without tables.
    std::fill(table.begin(), table.end(), 0.5 / static_cast<double>(classes));
    const auto tasks = all.answers.tasks_of(worker);
    const auto given = all.answers.answers_of(worker);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto q = fit.posterior_of(tasks[i]);
      for (std::size_t k = 0; k < classes; ++k) table[k * classes + index(all.answers.labels()[given[i]])] += q[k];
    }
    normalise_rows(table, classes);
  }
}

std::vector<float> values_of_all(const CategoryAnswers& all, const CategoryAnswers& cleaned,
                                 std::span<const float> values) {
  std::vector<float> spread(all.answer_count(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t t = 0; t < all.task_count(); ++t) {
    // Both have the answers to a task in the order of workers and labels, and what is left is a part of all.
    AnswerIndex left = cleaned.task_offsets()[t];
    const AnswerIndex end = cleaned.task_offsets()[t + 1];
    for (AnswerIndex a = all.task_offsets()[t]; a < all.task_offsets()[t + 1] && left < end; ++a) {
      if (all.workers()[a] != cleaned.workers()[left] || all.labels()[a] != cleaned.labels()[left]) continue;
      spread[a] = values[left++];
    }
  }
  return spread;
}

Warning cleaning_note(const Cleaning& cleaning, std::size_t workers) {
  Warning note{"left_out", "", "", Severity::note};
  std::string who;
  for (const auto& [reason, many] : {std::pair("spammer", "spammers"), {"copy", "copies"}, {"colluder", "colluders"}}) {
    const auto n = cleaning.count_of(reason);
    if (n > 0) who += fmt::format("{}{} {}", who.empty() ? "" : ", ", n, n == 1 ? reason : many);
  }
  note.message = who.empty() ? fmt::format("nobody was left out ({} were looked for).", cleaning.without)
                             : fmt::format("{} of {} workers were left out with {} answers: {}.",
                                           cleaning.workers.size(), workers, cleaning.answers, who);
  if (cleaning.kept > 0) {
    note.message += fmt::format(" {} of their answers stay, because a task would have none.", cleaning.kept);
  }
  for (const std::string& how : cleaning.notes) note.message += " " + how;
  return note;
}

}  // namespace wisecrowd
