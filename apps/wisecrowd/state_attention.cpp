#include "state_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "run_summary.hpp"
#include "screen_text.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd::app {

using Json = nlohmann::ordered_json;

Json alerts_json(const std::vector<Alert>& alerts) {
  Json list = Json::array();
  for (const Alert& alert : alerts) {
    Json entry = {{"code", alert.code},
                  {"severity", alert.urgent ? "warning" : "notice"},
                  {"message", alert.message},
                  {"count", alert.count}};
    if (!alert.workers.empty()) entry["workers"] = alert.workers;
    if (!alert.tasks.empty()) entry["tasks"] = alert.tasks;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string alerts_text(const std::vector<Alert>& alerts, const Screen& screen) {
  if (alerts.empty()) return summary_line("Calm", "nothing needs attention", screen);
  std::string text;
  for (const Alert& alert : alerts) {
    const std::string title = fmt::format("{:<7}", alert.urgent ? "Alert" : "Notice");
    text += fmt::format("{}  {}\n", alert.urgent ? screen.yellow(title) : title,
                        wrapped(printable(with_flags(alert.message)), screen.width, 9));
    constexpr std::size_t kShown = 5;
    std::vector<std::string> names;
    for (std::size_t t = 0; t < std::min(alert.tasks.size(), kShown); ++t)
      names.push_back(shortened(alert.tasks[t], 40));
    if (names.empty()) continue;
    if (alert.count > names.size()) names.push_back(fmt::format("and {} more", alert.count - names.size()));
    text += fmt::format("         {}\n", wrapped(fmt::format("{}", fmt::join(names, ", ")), screen.width, 9));
  }
  return text;
}

std::string settled_csv(const std::vector<SettledTask>& tasks, const std::vector<std::string>& classes) {
  std::string csv = "task,label,probability,answers\n";
  for (const SettledTask& task : tasks) {
    csv += fmt::format("{},{},{:.6g},{}\n", csv_name(task.name), csv_name(classes[index(task.label)]), task.probability,
                       task.answers);
  }
  return csv;
}

Json settled_json(const std::vector<SettledTask>& tasks, const std::vector<std::string>& classes) {
  Json list = Json::array();
  for (const SettledTask& task : tasks) {
    list.push_back({{"task", task.name},
                    {"label", classes[index(task.label)]},
                    {"probability", task.probability},
                    {"answers", task.answers}});
  }
  return list;
}

}  // namespace wisecrowd::app
