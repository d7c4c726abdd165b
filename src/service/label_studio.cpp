#include "service/label_studio.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"
#include "service/rows.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

using Value = nlohmann::json;

/// A tag of XML: its name (with / in front when it closes) and attributes.
struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

std::string without_entities(std::string_view text) {
  static const std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  std::string plain;
  while (!text.empty()) {
    bool found = false;
    for (const auto& [entity, character] : kEntities) {
      if (!text.starts_with(entity)) continue;
      plain += character;
      text.remove_prefix(entity.size());
      found = true;
      break;
    }
    if (found) continue;
    plain += text[0];
    text.remove_prefix(1);
  }
  return plain;
}

/// The next tag of a configuration, which is taken from its front; nothing at the end.
std::optional<Tag> next_tag(std::string_view& xml) {
  constexpr std::string_view kBlank = " \t\r\n";
  for (;;) {
    const std::size_t open = xml.find('<');
    if (open == std::string_view::npos) return std::nullopt;
    xml.remove_prefix(open);
    if (!xml.starts_with("<!--")) break;
    const std::size_t end = xml.find("-->");
    if (end == std::string_view::npos) return std::nullopt;
    xml.remove_prefix(end + 3);
  }
  xml.remove_prefix(1);
  Tag tag;
  const std::size_t name_end = xml.find_first_of(" \t\r\n>", xml.starts_with('/') ? 1 : 0);
  if (name_end == std::string_view::npos) return std::nullopt;
  tag.name = xml.substr(0, name_end);
  if (tag.name.size() > 1 && tag.name.ends_with('/')) tag.name.pop_back();
  xml.remove_prefix(name_end);
  for (;;) {
    const std::size_t begin = xml.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return std::nullopt;
    xml.remove_prefix(begin);
    if (xml.starts_with('>')) {
      xml.remove_prefix(1);
      return tag;
    }
    if (xml.starts_with('/')) {
      xml.remove_prefix(1);
      continue;
    }
    const std::size_t equals = xml.find_first_of("=>");
    if (equals == std::string_view::npos) return std::nullopt;
    if (xml[equals] == '>') {  // a word without a value
      xml.remove_prefix(equals);
      continue;
    }
    std::string name(xml.substr(0, equals));
    while (!name.empty() && kBlank.find(name.back()) != std::string_view::npos) name.pop_back();
    xml.remove_prefix(equals + 1);
    const std::size_t quote = xml.find_first_not_of(kBlank);
    if (quote == std::string_view::npos || (xml[quote] != '"' && xml[quote] != '\'')) return std::nullopt;
    const char mark = xml[quote];
    xml.remove_prefix(quote + 1);
    const std::size_t end = xml.find(mark);
    if (end == std::string_view::npos) return std::nullopt;
    tag.attributes.emplace(std::move(name), without_entities(xml.substr(0, end)));
    xml.remove_prefix(end + 1);
  }
}

std::string attribute(const Tag& tag, const std::string& name) {
  const auto found = tag.attributes.find(name);
  return found == tag.attributes.end() ? std::string() : found->second;
}

/// A number or text as a name; empty when it is neither, or no name.
std::string name_in(const Value& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return {};
  const Value& value = object[key];
  std::string name;
  if (value.is_string()) name = value.get<std::string>();
  if (value.is_number_integer()) name = value.dump();
  return service_name_problem(name).empty() ? name : std::string();
}

/// `completed_by` is a number, or an object with an id: the same worker has the same name either way.
std::string worker_of(const Value& annotation) {
  const auto by = annotation.find("completed_by");
  if (by == annotation.end()) return {};
  return by->is_object() ? name_in(*by, "id") : name_in(annotation, "completed_by");
}

bool is_true(const Value& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// The one choice that a result makes for the question; empty when it makes none, or several.
std::string choice_of(const Value& annotation, std::string_view question) {
  const auto result = annotation.find("result");
  if (result == annotation.end() || !result->is_array()) return {};
  std::string choice;
  for (const Value& part : *result) {
    if (!part.is_object() || name_in(part, "from_name") != question || !part.contains("value")) continue;
    const Value& value = part["value"];
    if (!value.is_object() || !value.contains("choices") || !value["choices"].is_array() ||
        value["choices"].size() != 1)
      return {};
    if (!choice.empty() || !value["choices"][0].is_string()) return {};  // one for each region
    choice = value["choices"][0].get<std::string>();
  }
  return service_name_problem(choice).empty() ? choice : std::string();
}

}  // namespace

std::optional<StudioQuestion> question_of(std::string_view xml) {
  std::optional<StudioQuestion> question;
  while (const auto tag = next_tag(xml)) {
    if (tag->name == "/Choices" && question) {
      if (question->choices.size() >= 2) return question;
      question.reset();
    }
    if (tag->name == "Choices" && !question) {
      const std::string kind = attribute(*tag, "choice");
      const bool of_task = attribute(*tag, "perRegion") != "true";
      if ((kind.empty() || kind == "single" || kind == "single-radio") && of_task && !attribute(*tag, "name").empty()) {
        question = StudioQuestion{attribute(*tag, "name"), attribute(*tag, "toName"), {}};
      }
    }
    if (tag->name == "Choice" && question) {
      const std::string value = attribute(*tag, "value");
      if (service_name_problem(value).empty()) question->choices.push_back(value);
    }
  }
  return std::nullopt;
}

double time_of(std::string_view text) noexcept {
  std::tm parts{};
  const auto number = [&](std::size_t at, std::size_t digits, int& value) {
    if (text.size() < at + digits) return false;
    const auto read = std::from_chars(text.data() + at, text.data() + at + digits, value);
    return read.ec == std::errc() && read.ptr == text.data() + at + digits;
  };
  const bool whole = number(0, 4, parts.tm_year) && number(5, 2, parts.tm_mon) && number(8, 2, parts.tm_mday) &&
                     number(11, 2, parts.tm_hour) && number(14, 2, parts.tm_min) && number(17, 2, parts.tm_sec);
  if (!whole || text[4] != '-' || text[10] != 'T') return std::nan("");
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  double fraction = 0;
  if (text.size() > 20 && text[19] == '.') {
    double scale = 0.1;
    for (std::size_t i = 20; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, scale /= 10)
      fraction += (text[i] - '0') * scale;
  }
  return static_cast<double>(::timegm(&parts)) + fraction;
}

std::optional<StudioAnnotation> annotation_of(const Value& annotation, std::string_view task,
                                              std::string_view question) {
  if (!annotation.is_object()) return std::nullopt;
  StudioAnnotation made;
  const auto id = annotation.find("id");
  if (id == annotation.end() || !id->is_number_integer()) return std::nullopt;
  made.id = id->get<std::int64_t>();
  made.task = task.empty() ? name_in(annotation, "task") : std::string(task);
  if (made.task.empty() && annotation.contains("task")) made.task = name_in(annotation["task"], "id");
  made.worker = worker_of(annotation);
  if (made.task.empty() || made.worker.empty()) return std::nullopt;
  made.gold = is_true(annotation, "ground_truth");
  if (!is_true(annotation, "was_cancelled")) made.label = choice_of(annotation, question);
  const auto seconds = annotation.find("lead_time");
  if (seconds != annotation.end() && seconds->is_number() && seconds->get<double>() >= 0 &&
      seconds->get<double>() < 1e8) {
    made.seconds = seconds->get<double>();
  }
  const auto time = annotation.find("created_at");
  if (time != annotation.end() && time->is_string()) made.time = time_of(time->get_ref<const std::string&>());
  return made;
}

StudioEvent studio_event(const Value& payload, std::string_view question) {
  StudioEvent event;
  if (!payload.is_object()) return event;
  event.action = name_in(payload, "action");
  const bool deletes = event.action.find("DELETED") != std::string::npos;
  const auto take_task = [&](const Value& task) {
    const std::string name = name_in(task, "id");
    if (!name.empty()) (event.action.starts_with("TASKS_DELETED") ? event.deleted_tasks : event.tasks).push_back(name);
  };
  const auto take = [&](const Value& annotation, std::string_view task) {
    if (deletes) {
      const auto id = annotation.is_object() ? annotation.find("id") : annotation.end();
      if (annotation.is_object() && id != annotation.end() && id->is_number_integer())
        event.deleted.push_back(id->get<std::int64_t>());
    } else if (auto made = annotation_of(annotation, task, question)) {
      event.tasks.push_back(made->task);
      event.made.push_back(std::move(*made));
    }
  };
  const std::string task = payload.contains("task") ? name_in(payload["task"], "id") : std::string();
  if (event.action.starts_with("ANNOTATION") || event.action.starts_with("LABEL_STUDIO_ANNOTATION")) {
    if (payload.contains("annotation") && !payload["annotation"].is_array()) take(payload["annotation"], task);
    for (const char* list : {"annotation", "annotations"}) {
      if (!payload.contains(list) || !payload[list].is_array()) continue;
      for (const Value& annotation : payload[list]) take(annotation, {});
    }
  }
  if (payload.contains("task") && payload["task"].is_object()) take_task(payload["task"]);
  if (payload.contains("tasks") && payload["tasks"].is_array()) {
    for (const Value& one : payload["tasks"]) take_task(one);
  }
  return event;
}

StudioExport studio_export(std::string_view text, std::string_view question) {
  if (nests_too_deep(text)) throw Error(ErrorCode::bad_input, "the export of Label Studio nests too deep");
  const Value list = Value::parse(text, nullptr, false);
  if (!list.is_array()) throw Error(ErrorCode::bad_input, "the export of Label Studio is no list of tasks");
  StudioExport all;
  for (const Value& task : list) {
    const std::string name = name_in(task, "id");
    if (name.empty()) continue;
    all.tasks.push_back(name);
    const auto annotations = task.find("annotations");
    if (annotations == task.end() || !annotations->is_array()) continue;
    for (const Value& annotation : *annotations) {
      if (auto made = annotation_of(annotation, name, question)) all.annotations.push_back(std::move(*made));
    }
  }
  return all;
}

}  // namespace wisecrowd::service
