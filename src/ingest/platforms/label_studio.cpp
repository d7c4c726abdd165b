#include <fmt/core.h>

#include <map>

#include "ingest/platforms/json_reading.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest::label_studio {
namespace {

/// What one annotation says to one question, put together from the parts of its result.
struct Parts {
  std::string type;
  std::size_t count = 0;
  std::vector<std::string> names;  ///< choices, paths of a taxonomy, texts
  std::string number;
  std::vector<std::string> boxes;
  std::vector<Span> spans;
  std::string selected;  ///< of a pair
  std::string to_name;
  bool damaged = false;
};

/// "A/B" for a path of a taxonomy.
std::optional<std::string> path_text(const JsonElement& element) {
  const auto steps = as_array(element);
  if (!steps) return scalar_text(element);
  const auto names = scalar_list(*steps);
  if (!names) return std::nullopt;
  std::string path;
  for (const std::string& name : *names) path += (path.empty() ? "" : "/") + name;
  return path;
}

void take_names(const JsonObject& value, std::string_view key, Parts& parts) {
  const auto list = array_at(value, key);
  if (!list) {
    const auto text = text_at(value, key);
    parts.damaged = parts.damaged || !text;
    if (text) parts.names.push_back(*text);
    return;
  }
  for (const JsonElement element : *list) {
    const auto name = path_text(element);
    parts.damaged = parts.damaged || !name;
    if (name) parts.names.push_back(*name);
  }
}

void take_span(const JsonObject& value, std::string_view key, Parts& parts) {
  const auto offsets = object_at(value, "globalOffsets").value_or(value);
  const auto begin = number_at(offsets, "start"), end = number_at(offsets, "end");
  const auto types = array_at(value, key);
  const auto names = types ? scalar_list(*types) : std::nullopt;
  if (!begin || !end || *begin < 0 || *end < *begin || *end > 1e9 || !names || names->size() != 1) {
    parts.damaged = true;
    return;
  }
  parts.spans.push_back({static_cast<std::uint64_t>(*begin), static_cast<std::uint64_t>(*end), names->front()});
}

void take_part(const JsonObject& part, const std::string& type, Parts& parts) {
  parts.type = type;
  ++parts.count;
  parts.to_name = text_at(part, "to_name").value_or("");
  const auto value = object_at(part, "value");
  if (!value) {
    parts.damaged = true;
  } else if (type == "choices" || type == "taxonomy" || type == "datetime") {
    take_names(*value, type, parts);
  } else if (type == "textarea") {
    take_names(*value, "text", parts);
  } else if (type == "rating" || type == "number") {
    parts.number = text_at(*value, type).value_or("");
    parts.damaged = parts.number.empty();
  } else if (type == "pairwise") {
    parts.selected = text_at(*value, "selected").value_or("");
  } else if (type == "labels" || type == "hypertextlabels") {
    take_span(*value, type, parts);
  } else if (type == "rectanglelabels" || type == "rectangle") {
    const auto box = box_text(*value, "x", "y");
    parts.damaged = parts.damaged || !box;
    if (box) parts.boxes.push_back(*box);
  }
}

/// The two items of a pair: data of the names that it is shown under, else `left` and `right` or the like.
std::optional<std::pair<std::string, std::string>> items_of(const JsonObject& data, const std::string& to_name) {
  const auto both = [&](const std::string& one,
                        const std::string& other) -> std::optional<std::pair<std::string, std::string>> {
    const auto left = text_at(data, one), right = text_at(data, other);
    if (!left || !right) return std::nullopt;
    return std::pair(*left, *right);
  };
  const auto comma = to_name.find(',');
  if (comma != std::string::npos) {
    if (auto found = both(to_name.substr(0, comma), to_name.substr(comma + 1))) return found;
  }
  for (const auto& [one, other] : std::initializer_list<std::pair<const char*, const char*>>{
           {"left", "right"}, {"model_a", "model_b"}, {"text1", "text2"}, {"option_a", "option_b"}, {"a", "b"}}) {
    if (auto found = both(one, other)) return found;
  }
  return std::nullopt;
}

/// The text that spans are of: the only one, else the one called as it is shown, else `text`.
std::optional<std::string> document_of(const JsonObject& data, const std::string& to_name) {
  std::optional<std::string> only;
  std::size_t texts = 0;
  for (const auto& entry : data) {
    if (!entry.value.is_string()) continue;
    only = scalar_text(entry.value);
    ++texts;
  }
  if (texts == 1) return only;
  if (auto named = text_at(data, to_name)) return named;
  return text_at(data, "text");
}

class TaskReader {
 public:
  TaskReader(const PlatformFile& file, Collected& into) : file_(file), into_(into) {}

  void read(const JsonObject& task, std::uint64_t row) {
    const auto id = text_at(task, "id");
    if (!id) {
      return into_.problem({.row = row}, "", "", "a task has no id: export the project as JSON, not JSON-MIN");
    }
    task_ = *id;
    data_ = object_at(task, "data");
    for (const char* list : {"annotations", "completions"}) {
      if (const auto found = array_at(task, list)) {
        std::uint32_t part = 0;
        for (const JsonElement element : *found) read_annotation(element, {row, list, part++});
      }
    }
    if (const auto drafts = array_at(task, "drafts"); drafts && drafts->size() > 0) {
      into_.left_out["draft"] += drafts->size();
    }
    if (const auto predictions = array_at(task, "predictions")) {
      std::uint32_t part = 0;
      for (const JsonElement element : *predictions) read_prediction(element, {row, "predictions", part++});
    }
    // Those who marked nothing in it said something, too.
    const std::uint32_t known = into_.tasks.find(task_);
    if (!file_.wants_texts || !data_ || known == Interner::kAbsent) return;
    if (const auto text = document_of(*data_, "")) into_.documents.emplace(known, into_.texts.intern(*text));
  }

 private:
  void read_annotation(const JsonElement& element, const Place& place) {
    const auto annotation = as_object(element);
    if (!annotation) return into_.problem(place, "", "", "an annotation is no object");
    if (is_true_at(*annotation, "was_cancelled") || is_true_at(*annotation, "skipped")) {
      ++into_.left_out["skipped"];
      return;
    }
    const bool gold = is_true_at(*annotation, "ground_truth");
    const auto worker = worker_of(*annotation);
    if (!worker && !gold) {
      return into_.problem(place, "/completed_by", "", "does not say who made the annotation: name the worker there");
    }
    const std::uint32_t submission = into_.submit(task_, worker.value_or("gold"), place);
    auto& made = into_.submissions[submission];
    made.gold = gold;
    made.seconds = number_at(*annotation, "lead_time").value_or(made.seconds);
    into_.set_time(submission, text_at(*annotation, "created_at").value_or(""));
    say_result(submission, *annotation);
  }

  [[nodiscard]] static std::optional<std::string> worker_of(const JsonObject& annotation) {
    const auto by = member(annotation, "completed_by");
    if (!by) return std::nullopt;
    const auto person = as_object(*by);
    if (!person) return scalar_text(*by);
    if (auto email = text_at(*person, "email"); email && !email->empty()) return email;
    return text_at(*person, "id");
  }

  /// Predictions that wisecrowd made of the answers would count these twice.
  void read_prediction(const JsonElement& element, const Place& place) {
    const auto prediction = as_object(element);
    if (!prediction) return;  // exports may list ids alone
    std::string version = text_at(*prediction, "model_version").value_or("");
    if (version.starts_with("wisecrowd")) {
      ++into_.left_out["predicted by wisecrowd itself"];
      return;
    }
    if (!file_.options.platform.models) {
      ++into_.left_out["predicted by models"];
      return;
    }
    if (version.empty()) version = "unnamed";
    const std::uint32_t submission = into_.submit(task_, "model:" + version, place);
    into_.submissions[submission].machine = true;
    into_.set_time(submission, text_at(*prediction, "created_at").value_or(""));
    say_result(submission, *prediction);
  }

  void say_result(std::uint32_t submission, const JsonObject& annotation) {
    const auto result = array_at(annotation, "result");
    const Place place = into_.submissions[submission].place;
    if (!result) return into_.problem(place, "/result", "", "there is no list of results");
    std::map<std::string, Parts> questions;
    std::size_t index = 0;
    for (const JsonElement element : *result) {
      const auto part = as_object(element);
      const auto type = part ? text_at(*part, "type") : std::nullopt;
      const auto name = part ? text_at(*part, "from_name") : std::nullopt;
      if (type && name) {
        take_part(*part, *type, questions[*name]);
      } else if (!type) {
        into_.problem(place, fmt::format("/result/{}", index), "", "a part of the result has no type");
      }  // relations have no from_name, and are no answers
      ++index;
    }
    for (const auto& [name, parts] : questions) say(submission, name, parts);
  }

  void say(std::uint32_t submission, const std::string& name, const Parts& parts) {
    into_.controls.try_emplace(into_.questions.intern(name), parts.type, parts.to_name);
    const Place place = into_.submissions[submission].place;
    const std::string& type = parts.type;
    if (parts.damaged) {
      return into_.problem(place, "/result", name, fmt::format("what is said as {} cannot be read", printable(type)));
    }
    const bool names = type == "choices" || type == "taxonomy" || type == "textarea" || type == "datetime";
    if ((names || type == "rating" || type == "number" || type == "pairwise") && parts.count > 1) {
      return into_.say(submission, name, Shape::other, type + " for each region, not for the task");
    }
    if (names) {
      if (parts.names.size() == 1) return into_.say(submission, name, Shape::label, parts.names.front());
      return into_.say(submission, name, Shape::set, json_list(parts.names));
    }
    if (type == "rating" || type == "number") return into_.say(submission, name, Shape::number, parts.number);
    if (type == "pairwise") return say_pair(submission, name, parts);
    if (type == "labels" || type == "hypertextlabels") return say_spans(submission, name, parts);
    if (!parts.boxes.empty()) {
      const bool one = parts.boxes.size() == 1;
      return into_.say(submission, name, one ? Shape::box : Shape::other,
                       one ? parts.boxes.front() : fmt::format("{} boxes in one answer", parts.boxes.size()));
    }
    into_.say(submission, name, Shape::other, type);
  }

  void say_pair(std::uint32_t submission, const std::string& name, const Parts& parts) {
    const Place place = into_.submissions[submission].place;
    const auto items = data_ ? items_of(*data_, parts.to_name) : std::nullopt;
    if (!items) {
      return into_.problem({.row = place.row}, "/data", name,
                           "the two items cannot be found in the data of the task: call them left and right there");
    }
    const bool left = parts.selected == "left", right = parts.selected == "right";
    if (!left && !right && !parts.selected.empty()) {
      return into_.problem(place, "/result", parts.selected, "is neither left nor right");
    }
    into_.say_pair(submission, name, items->first, items->second, left ? "left" : right ? "right" : "tie");
  }

  void say_spans(std::uint32_t submission, const std::string& name, const Parts& parts) {
    const auto text = data_ ? document_of(*data_, parts.to_name) : std::nullopt;
    if (text) into_.documents.emplace(into_.submissions[submission].task, into_.texts.intern(*text));
    into_.say(submission, name, Shape::spans, json_spans(parts.spans));
  }

  const PlatformFile& file_;
  Collected& into_;
  std::string task_;
  std::optional<JsonObject> data_;
};

bool recognises(const FileHead& head) {
  const bool made = head.has("annotations") || head.has("completions");
  return head.is_json && made && !head.has("datasetObjectId") &&
         (head.has("annotations/result") || head.has("completions/result") || (head.has("data") && head.has("id")));
}

void read(const PlatformFile& file, Collected& into) {
  TaskReader reader(file, into);
  read_objects(
      file, [&](const JsonObject& task, std::uint64_t row) { reader.read(task, row); }, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "Label Studio", .summary = "a project exported as JSON"},
          .recognises = recognises,
          .read = read,
          .time_names = {"created_at"}};
}

}  // namespace wisecrowd::ingest::label_studio
