#include "defects_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "table.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 10;

std::string more_than_shown(std::size_t count, const char* what) {
  return count > kShown ? fmt::format("  … and {} more {}; --json has all of them\n", grouped(count - kShown), what)
                        : "";
}

std::string gold_text(const GoldCheck& gold, const CategoryAnswers& answers, const Screen& screen) {
  std::string text = fmt::format(
      "\n{}  {}\n", screen.bold("Gold"),
      wrapped(fmt::format("Compared with the answers on {}. About {:.1f} gold labels look wrong; {}",
                          counted(gold.tasks, "task"), gold.expected_wrong,
                          gold.suspects.empty() ? "none of them stands out."
                                                : "look at these first. A crowd that is misled looks the same."),
              screen.width, 6));
  if (gold.suspects.empty()) return text;
  Table table({{"task", Column::Side::left},
               {"gold", Column::Side::left},
               {"answers say", Column::Side::left},
               {"for gold"},
               {"for that"},
               {"answers"},
               {"gold wrong"}});
  for (std::size_t n = 0; n < std::min(gold.suspects.size(), kShown); ++n) {
    const SuspectGold& one = gold.suspects[n];
    table.add({printable(answers.task_names()[index(one.task)]), printable(answers.class_names()[index(one.gold)]),
               printable(answers.class_names()[index(one.crowd)]), grouped(one.for_gold), grouped(one.for_crowd),
               grouped(one.answers), percent(one.wrong)});
  }
  return text + table.text(screen.width, screen.dim_on(), screen.off()) +
         more_than_shown(gold.suspects.size(), "gold labels");
}

std::string contradictions_text(const std::vector<Contradiction>& found, const CategoryAnswers& answers,
                                const Screen& screen) {
  std::string text = fmt::format(
      "\n{}  {}\n", screen.bold("Repeats"),
      wrapped(fmt::format("{} a worker answered a task again, and not the same.", counted(found.size(), "time")),
              screen.width, 9));
  Table table({{"task", Column::Side::left}, {"worker", Column::Side::left}, {"said", Column::Side::left}});
  for (std::size_t n = 0; n < std::min(found.size(), kShown); ++n) {
    std::string said;
    for (const ClassId label : found[n].labels) {
      said += (said.empty() ? "" : ", ") + printable(answers.class_names()[index(label)]);
    }
    table.add({printable(answers.task_names()[index(found[n].task)]),
               printable(answers.worker_names()[index(found[n].worker)]), said});
  }
  return text + table.text(screen.width, screen.dim_on(), screen.off()) + more_than_shown(found.size(), "such pairs");
}

std::string names_of_tasks(const TwinTasks& twins, const CategoryAnswers& answers) {
  std::string names;
  for (std::size_t n = 0; n < std::min<std::size_t>(twins.tasks.size(), 4); ++n) {
    names += (n == 0 ? "" : ", ") + printable(answers.task_names()[index(twins.tasks[n])]);
  }
  return twins.tasks.size() > 4 ? names + ", …" : names;
}

std::string twins_text(const std::vector<TwinTasks>& twins, const CategoryAnswers& answers, const Screen& screen) {
  std::size_t against = 0;
  for (const TwinTasks& one : twins) against += one.contradict ? 1 : 0;
  std::string text = fmt::format(
      "\n{}  {}\n", screen.bold("Twins"),
      wrapped(twins.empty()
                  ? std::string("No two tasks have the same features.")
                  : fmt::format("{} of tasks with the same features under several names; {} contradict themselves, "
                                "by gold or else by what most answers say.",
                                counted(twins.size(), "group"), counted(against, "group")),
              screen.width, 7));
  if (twins.empty()) return text;
  std::vector<TwinTasks> order = twins;
  std::stable_partition(order.begin(), order.end(), [](const TwinTasks& one) { return one.contradict; });
  Table table({{"tasks", Column::Side::left}, {"", Column::Side::left}});
  for (std::size_t n = 0; n < std::min(order.size(), kShown); ++n) {
    table.add({names_of_tasks(order[n], answers), order[n].contradict ? "contradict themselves" : ""});
  }
  return text + table.text(screen.width, screen.dim_on(), screen.off()) + more_than_shown(order.size(), "groups");
}

}  // namespace

void add_defects(const Defects& defects, const CategoryAnswers& answers, Json& json) {
  const auto name = [](const NameTable& names, auto id) { return std::string(names[index(id)]); };
  if (defects.gold) {
    Json suspects = Json::array();
    for (const SuspectGold& one : defects.gold->suspects) {
      suspects.push_back({{"task", name(answers.task_names(), one.task)},
                          {"gold", name(answers.class_names(), one.gold)},
                          {"answers_say", name(answers.class_names(), one.crowd)},
                          {"answers", one.answers},
                          {"for_gold", one.for_gold},
                          {"for_that", one.for_crowd},
                          {"gold_wrong", one.wrong}});
    }
    json["gold_check"] = {
        {"tasks", defects.gold->tasks}, {"expected_wrong", defects.gold->expected_wrong}, {"suspects", suspects}};
  }
  Json contradictions = Json::array();
  for (const Contradiction& one : defects.contradictions) {
    Json said = Json::array();
    for (const ClassId label : one.labels) said.push_back(name(answers.class_names(), label));
    contradictions.push_back({{"task", name(answers.task_names(), one.task)},
                              {"worker", name(answers.worker_names(), one.worker)},
                              {"said", said}});
  }
  json["contradictions"] = contradictions;
  if (!defects.twins) return;
  json["twin_tasks"] = Json::array();
  for (const TwinTasks& one : *defects.twins) {
    Json tasks = Json::array();
    for (const TaskId task : one.tasks) tasks.push_back(name(answers.task_names(), task));
    json["twin_tasks"].push_back({{"tasks", tasks}, {"contradict", one.contradict}});
  }
}

std::string defects_text(const Defects& defects, const CategoryAnswers& answers, const Screen& screen) {
  std::string text;
  if (defects.gold) text += gold_text(*defects.gold, answers, screen);
  if (!defects.contradictions.empty()) text += contradictions_text(defects.contradictions, answers, screen);
  if (defects.twins) text += twins_text(*defects.twins, answers, screen);
  return text;
}

}  // namespace wisecrowd::app
