#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "base/csv_text.hpp"
#include "base/math.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd {
namespace {

constexpr double kBlank = std::numeric_limits<double>::quiet_NaN();

using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;
using Counts = std::vector<std::uint64_t>;
using Flags = std::vector<bool>;

/// A column with a value for each row.
template <class List, class Function>
void add_column(ValueTable& table, std::string name, std::size_t rows, const Function& value) {
  List list;
  list.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) list.push_back(value(i));
  table.columns.push_back({std::move(name), std::move(list)});
}

/// Names as one field: "a, b"; those that hold a comma are quoted.
std::string listed(const NameTable& names, std::span<const WorkerId> workers) {
  std::string text;
  for (const WorkerId worker : workers) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", csv_field(names[index(worker)]));
  }
  return text;
}

/// "1-150: 88 %; 151-300: 42 % (worse)"
std::string segments_in_words(const WorkerDrift& drift) {
  std::string words;
  for (const DriftSegment& segment : drift.segments) {
    words += fmt::format("{}{}-{}: {:.0f} %{}", words.empty() ? "" : "; ", segment.first + 1,
                         segment.first + segment.answers, 100 * segment.accuracy, segment.degraded ? " (worse)" : "");
  }
  return words;
}

std::string recoding_as_text(const WorkerAssessment& judged, const NameTable& classes) {
  std::string text;
  for (std::size_t l = 0; l < judged.recoding.size(); ++l) {
    if (index(judged.recoding[l]) == l) continue;
    text += fmt::format("{}{} as {}", text.empty() ? "" : ", ", csv_field(classes[l]),
                        csv_field(classes[index(judged.recoding[l])]));
  }
  return text;
}

ValueTable workers_table(const CategoryAnswers& answers, const TrustStudy& study) {
  const auto& workers = study.workers;
  const std::size_t rows = workers.size();
  std::vector<const WorkerDrift*> drift(rows, nullptr);
  for (const WorkerDrift& one : study.drift.workers) drift[index(one.worker)] = &one;
  const auto group = [&](std::size_t w) {
    return study.group[w] == TrustStudy::kAlone ? nullptr : &study.dependence.groups[study.group[w]];
  };
  const auto in_group = [&](std::size_t w, bool wanted) {
    return group(w) != nullptr && wanted ? std::to_string(study.group[w] + 1) : "";
  };
  ValueTable table{"workers", {}};
  add_column<Texts>(table, "worker", rows, [&](std::size_t w) { return std::string(answers.worker_names()[w]); });
  add_column<Texts>(table, "advice", rows, [&](std::size_t w) { return std::string(to_string(workers[w].advice)); });
  add_column<Texts>(table, "reason", rows, [&](std::size_t w) { return reason_of(workers[w], answers.class_names()); });
  add_column<Texts>(table, "effect", rows, [&](std::size_t w) { return effect_of(workers[w], answers.task_count()); });
  add_column<Counts>(table, "labels_without", rows, [&](std::size_t w) { return workers[w].labels_without; });
  add_column<Counts>(table, "answers", rows, [&](std::size_t w) { return workers[w].answers; });
  const auto number = [&](const std::string& name, const auto& value) {
    add_column<Numbers>(table, name, rows,
                        [&](std::size_t w) { return workers[w].answers == 0 ? kBlank : value(workers[w]); });
  };
  const auto interval = [&](const std::string& name, auto member) {
    number(name, [=](const WorkerAssessment& w) { return (w.*member).value; });
    number(name + "_low", [=](const WorkerAssessment& w) { return (w.*member).low; });
    number(name + "_high", [=](const WorkerAssessment& w) { return (w.*member).high; });
  };
  interval("accuracy", &WorkerAssessment::accuracy);
  number("guessing", [](const WorkerAssessment& w) { return w.chance; });
  interval("spammer_score", &WorkerAssessment::score);
  number("p_spammer", [](const WorkerAssessment& w) { return w.spammer; });
  number("capacity_bits", [](const WorkerAssessment& w) { return w.capacity / math::log(2.0); });
  number("information_bits", [](const WorkerAssessment& w) { return w.information.value / math::log(2.0); });
  add_column<Counts>(table, "copies", rows, [&](std::size_t w) { return std::uint64_t{workers[w].copies}; });
  add_column<Texts>(table, "collusion_set", rows, [&](std::size_t w) {
    return in_group(w, group(w) != nullptr && kind_of_group(study.dependence, *group(w)) == "colluders");
  });
  add_column<Texts>(table, "group", rows, [&](std::size_t w) { return in_group(w, true); });
  add_column<Texts>(table, "recode", rows,
                    [&](std::size_t w) { return recoding_as_text(workers[w], answers.class_names()); });
  add_column<Texts>(table, "drift", rows,
                    [&](std::size_t w) { return drift[w] == nullptr ? "" : segments_in_words(*drift[w]); });
  return table;
}

ValueTable pairs_table(const CategoryAnswers& answers, const TrustStudy& study) {
  const auto& pairs = study.dependence.pairs;
  const std::size_t rows = pairs.size();
  const auto name = [&](WorkerId worker) { return std::string(answers.worker_names()[index(worker)]); };
  ValueTable table{"pairs", {}};
  add_column<Texts>(table, "first", rows, [&](std::size_t p) { return name(pairs[p].first); });
  add_column<Texts>(table, "second", rows, [&](std::size_t p) { return name(pairs[p].second); });
  add_column<Counts>(table, "common_tasks", rows, [&](std::size_t p) { return pairs[p].common; });
  add_column<Counts>(table, "agreed", rows, [&](std::size_t p) { return pairs[p].agreed; });
  add_column<Numbers>(table, "expected", rows, [&](std::size_t p) { return pairs[p].expected; });
  add_column<Numbers>(table, "copied", rows, [&](std::size_t p) { return pairs[p].copied; });
  add_column<Numbers>(table, "evidence", rows, [&](std::size_t p) { return pairs[p].evidence; });
  add_column<Texts>(table, "group", rows, [&](std::size_t p) {
    const std::uint32_t own = study.group[index(pairs[p].first)];
    const bool same = own != TrustStudy::kAlone && own == study.group[index(pairs[p].second)];
    return same ? std::to_string(own + 1) : std::string();
  });
  return table;
}

ValueTable groups_table(const CategoryAnswers& answers, const TrustStudy& study) {
  const auto& groups = study.dependence.groups;
  const std::size_t rows = groups.size();
  ValueTable table{"groups", {}};
  add_column<Counts>(table, "group", rows, [](std::size_t g) { return std::uint64_t{g + 1}; });
  add_column<Texts>(table, "kind", rows,
                    [&](std::size_t g) { return std::string(kind_of_group(study.dependence, groups[g])); });
  add_column<Counts>(table, "workers", rows, [&](std::size_t g) { return std::uint64_t{groups[g].workers.size()}; });
  add_column<Counts>(table, "answers", rows, [&](std::size_t g) { return groups[g].answers; });
  add_column<Counts>(table, "common_tasks", rows, [&](std::size_t g) { return groups[g].common_tasks; });
  add_column<Numbers>(table, "agreement", rows, [&](std::size_t g) { return groups[g].agreement; });
  add_column<Numbers>(table, "expected", rows, [&](std::size_t g) { return groups[g].expected; });
  add_column<Numbers>(table, "contradicts", rows, [&](std::size_t g) { return groups[g].contradicts; });
  add_column<Flags>(table, "one_voice", rows, [&](std::size_t g) { return groups[g].acted_on; });
  add_column<Texts>(table, "members", rows,
                    [&](std::size_t g) { return listed(answers.worker_names(), groups[g].workers); });
  return table;
}

ValueTable alarms_table(const CategoryAnswers& answers, const TrustStudy& study) {
  const auto& alarms = study.drift.alarms;
  const std::size_t rows = alarms.size();
  ValueTable table{"alarms", {}};
  add_column<Texts>(table, "worker", rows,
                    [&](std::size_t a) { return std::string(answers.worker_names()[index(alarms[a].worker)]); });
  add_column<Texts>(table, "alarm", rows, [](std::size_t) { return std::string("drift"); });
  add_column<Counts>(table, "at_answer", rows, [&](std::size_t a) { return alarms[a].raised; });
  add_column<Counts>(table, "began_at_answer", rows, [&](std::size_t a) { return alarms[a].began; });
  add_column<Texts>(table, "task", rows,
                    [&](std::size_t a) { return std::string(answers.task_names()[index(alarms[a].task)]); });
  add_column<Texts>(table, "time", rows, [&](std::size_t a) { return time_in_words(alarms[a].time, study.order); });
  add_column<Numbers>(table, "evidence", rows, [&](std::size_t a) { return alarms[a].evidence; });
  add_column<Numbers>(table, "accuracy_before", rows, [&](std::size_t a) { return alarms[a].before; });
  add_column<Numbers>(table, "accuracy_since", rows, [&](std::size_t a) { return alarms[a].lately; });
  add_column<Flags>(table, "lasts", rows, [&](std::size_t a) { return alarms[a].lasts; });
  return table;
}

ValueTable attacked_table(const CategoryAnswers& answers, const TrustStudy& study) {
  const auto& attacked = study.dependence.attacked;
  const std::size_t rows = attacked.size();
  const auto label = [&](ClassId k) { return std::string(answers.class_names()[index(k)]); };
  ValueTable table{"attacked_tasks", {}};
  add_column<Texts>(table, "task", rows,
                    [&](std::size_t t) { return std::string(answers.task_names()[index(attacked[t].task)]); });
  add_column<Counts>(table, "group", rows, [&](std::size_t t) { return std::uint64_t{attacked[t].group} + 1; });
  add_column<Texts>(table, "group_says", rows, [&](std::size_t t) { return label(attacked[t].said); });
  add_column<Texts>(table, "others_say", rows, [&](std::size_t t) { return label(attacked[t].others_say); });
  add_column<Numbers>(table, "probability", rows, [&](std::size_t t) { return attacked[t].probability; });
  return table;
}

}  // namespace

std::vector<ValueTable> trust_tables(const CategoryAnswers& answers, const TrustStudy& study) {
  std::vector<ValueTable> tables;
  for (const auto make : {workers_table, pairs_table, groups_table, alarms_table, attacked_table}) {
    tables.push_back(make(answers, study));
  }
  return tables;
}

}  // namespace wisecrowd
