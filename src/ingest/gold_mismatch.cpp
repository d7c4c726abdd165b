#include "ingest/gold_mismatch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "ingest/problems.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kSample = 1000;

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// "007" and "7", "12.0" and "12": what spreadsheets and data frames do to numbers.
std::string as_number(std::string_view name) {
  if (name.ends_with(".0")) name.remove_suffix(2);
  const auto first = name.find_first_not_of('0');
  if (first == std::string_view::npos) return "0";
  return std::string(name.substr(first));
}

/// What is common to the front and to the back of all names.
struct Affixes {
  std::string front, back;

  template <class Names>
  explicit Affixes(const Names& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names[i];
      if (i == 0) {
        front = back = std::string(name);
        continue;
      }
      front.resize(static_cast<std::size_t>(std::mismatch(front.begin(), front.end(), name.begin(), name.end()).first -
                                            front.begin()));
      const auto same = std::mismatch(back.rbegin(), back.rend(), name.rbegin(), name.rend()).first - back.rbegin();
      back.erase(0, back.size() - static_cast<std::size_t>(same));
    }
    // Digits are part of what tells the names apart.
    while (!front.empty() && front.back() >= '0' && front.back() <= '9') front.pop_back();
    while (!back.empty() && back.front() >= '0' && back.front() <= '9') back.erase(0, 1);
  }
  [[nodiscard]] std::string without(std::string_view name) const {
    if (name.size() < front.size() + back.size()) return std::string(name);
    return std::string(name.substr(front.size(), name.size() - front.size() - back.size()));
  }
};

using Key = std::function<std::string(std::string_view)>;

/// A pair of names, one of each side, that are alike by the key, if most of the gold has one; else nothing.
std::string alike(const std::vector<std::string>& gold, const NameTable& tasks, const Key& gold_key,
                  const Key& task_key) {
  std::unordered_map<std::string, std::size_t> wanted;
  for (std::size_t i = 0; i < gold.size(); ++i) wanted.emplace(gold_key(gold[i]), i);
  const std::size_t keys = wanted.size();
  std::size_t found = 0;
  std::string example;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto at = wanted.find(task_key(tasks[t]));
    if (at == wanted.end()) continue;
    if (found++ == 0) example = fmt::format("'{}' here, '{}' there", printable(gold[at->second]), printable(tasks[t]));
    wanted.erase(at);
  }
  return 2 * found >= keys ? example : "";
}

bool mostly_among(const std::vector<std::string>& names, const NameTable& others) {
  return !alike(
              names, others, [](std::string_view name) { return std::string(name); },
              [](std::string_view name) { return std::string(name); })
              .empty();
}

}  // namespace

GoldMismatch mismatch_of(const Table& gold, const NameTable& gold_tasks, const KeyTable& answered) {
  GoldMismatch out;
  out.file = gold.file;
  out.total = gold_tasks.size();
  for (std::size_t t = 0; t < std::min(kSample, gold_tasks.size()); ++t) out.tasks.emplace_back(gold_tasks[t]);
  out.task_column = gold.plan.names[gold.plan.task];
  for (std::size_t c = 0; c < gold.plan.names.size() && gold.plan.has_header; ++c) {
    if (c != gold.plan.task && c != gold.plan.label) out.columns.push_back(gold.plan.names[c]);
  }
  const std::size_t labels = std::min<std::size_t>(kSample, gold.classes.names().size());
  std::size_t known = 0;
  for (std::uint32_t k = 0; k < labels; ++k) {
    if (answered.find(gold.classes.names()[k]) != KeyTable::kAbsent) ++known;
  }
  out.labels_are_tasks = labels > 0 && 2 * known >= labels;
  return out;
}

std::string mismatch_reason(const GoldMismatch& gold, const CategoryAnswerNames& answers) {
  if (gold.labels_are_tasks) {
    return "its labels are tasks of the answers, so its columns seem to be swapped: name them in the right order with "
           "`gold_columns=TASK,LABEL`";
  }
  if (mostly_among(gold.tasks, answers.workers)) {
    return fmt::format(
        "its column '{}' holds names of workers: name the column of the task with "
        "`gold_columns=TASK,LABEL`",
        printable(gold.task_column));
  }
  const std::string by_case = alike(gold.tasks, answers.tasks, folded, folded);
  if (!by_case.empty()) return fmt::format("the names differ by case or blanks alone ({}): make them alike", by_case);
  const std::string by_number = alike(gold.tasks, answers.tasks, as_number, as_number);
  if (!by_number.empty()) {
    return fmt::format("the names differ by zeros alone ({}): make them alike", by_number);
  }
  const Affixes here(gold.tasks), there(answers.tasks);
  const std::string by_affix = alike(
      gold.tasks, answers.tasks, [&](std::string_view name) { return folded(here.without(name)); },
      [&](std::string_view name) { return folded(there.without(name)); });
  if (!by_affix.empty()) {
    return fmt::format("the names differ by how they begin or end ({}): make them alike", by_affix);
  }
  const std::string example = fmt::format("'{}' here, '{}' there", printable(gold.tasks.front()),
                                          answers.tasks.size() > 0 ? printable(answers.tasks[0]) : "");
  if (!gold.columns.empty()) {
    std::vector<std::string> quoted;
    for (const auto& name : gold.columns) quoted.push_back(fmt::format("'{}'", printable(name)));
    return fmt::format(
        "are these files of the same tasks ({})? Perhaps another column is the task: it also has {}; "
        "name it with `gold_columns=TASK,LABEL`",
        example, shortened_list(quoted, 6));
  }
  return fmt::format("are these files of the same tasks, spelled alike ({})?", example);
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

std::string gold_mismatch_reason(const LabelTable& gold, const NameTable& tasks) {
  using namespace ingest;
  GoldMismatch mismatch;
  mismatch.total = gold.tasks.size();
  for (std::size_t t = 0; t < std::min(kSample, gold.tasks.size()); ++t) mismatch.tasks.emplace_back(gold.tasks[t]);
  std::vector<std::string> labels;
  for (std::size_t k = 0; k < std::min(kSample, gold.classes.size()); ++k) labels.emplace_back(gold.classes[k]);
  mismatch.labels_are_tasks = !labels.empty() && mostly_among(labels, tasks);
  return mismatch_reason(mismatch, {tasks, NameTable(), NameTable()});
}

}  // namespace wisecrowd
