#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "base/percent.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd {

std::string_view kind_of_group(const Dependence& found, const DependentGroup& group) {
  if (found.given) return "given";
  if (!group.acted_on) return "copies";
  return found.everybody_grouped ? "camp" : "colluders";
}

std::string group_in_words(const Dependence& found, const DependentGroup& group) {
  const std::string_view kind = kind_of_group(found, group);
  const std::string voice = found.counted_once ? "they count as one voice" : "this method counts each of them";
  if (kind == "given") return fmt::format("They were named as a group: {}.", voice);
  std::string words = fmt::format("They agree {} of the time, where {} would be expected.", percent(group.agreement),
                                  percent(group.expected));
  if (kind == "colluders") {
    return words + fmt::format(" They contradict what the others are sure of on {} of the tasks: {}.",
                               percent(group.contradicts), voice);
  }
  if (kind == "camp") return words + " Nearly everybody is in such a group, and each counts as one voice.";
  return words + " They are mostly right, so they are not left out; but several of them are hardly more than one.";
}

std::string alarm_in_words(const DriftAlarm& alarm, AnswerOrder order) {
  std::string when = time_in_words(alarm.time, order);
  if (order == AnswerOrder::numbers) when = "time " + when;
  return fmt::format("right in {}, from its answer {} {}; in {} otherwise. Seen at answer {}{}.", percent(alarm.lately),
                     alarm.began, alarm.lasts ? "on" : "for a while", percent(alarm.before), alarm.raised,
                     when.empty() ? "" : ", " + when);
}

std::string time_in_words(double time, AnswerOrder order) {
  if (order == AnswerOrder::numbers) return fmt::format("{:.12g}", time);
  if (order != AnswerOrder::dates) return "";
  using namespace std::chrono;
  const auto whole = static_cast<std::int64_t>(std::floor(time));
  const sys_seconds at{seconds(whole)};
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  const std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (clock.to_duration().count() == 0) return text;
  return fmt::format("{} {:02}:{:02}:{:02}", text, clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

}  // namespace wisecrowd
