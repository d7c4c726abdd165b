#include <fmt/core.h>

#include "ingest/platforms/json_reading.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest::argilla {
namespace {

class RecordReader {
 public:
  RecordReader(const PlatformFile& file, Collected& into) : file_(file), into_(into) {}

  void read(const JsonObject& record, std::uint64_t row) {
    auto task = text_at(record, "external_id");
    if (!task) task = text_at(record, "id");
    if (!task) {
      return into_.problem({.row = row}, "", "", "a record has no id: export the records with their ids");
    }
    task_ = *task;
    record_ = record;
    for (const auto& entry : record) {
      constexpr std::string_view kEnd = ".responses";
      if (entry.key.ends_with(kEnd)) read_flat(entry.key.substr(0, entry.key.size() - kEnd.size()), entry.value, row);
    }
    if (const auto list = array_at(record, "responses")) {
      std::uint32_t part = 0;
      for (const JsonElement element : *list) read_response(element, {row, "responses", part++});
    } else if (const auto by_question = object_at(record, "responses")) {
      for (const auto& entry : *by_question) read_question(entry.key, entry.value, row);
    }
    read_suggestions(row);
    if (file_.wants_texts) remember_text();
  }

 private:
  /// Drafts and what was discarded are no answers.
  bool is_answer(const std::optional<std::string>& status) {
    if (!status || *status == "submitted") return true;
    ++into_.left_out[*status == "draft" || *status == "discarded" ? *status : "unfinished"];
    return false;
  }

  /// As the server tells it: values of all questions by one user.
  void read_response(const JsonElement& element, const Place& place) {
    const auto response = as_object(element);
    const auto values = response ? object_at(*response, "values") : std::nullopt;
    if (!response) return into_.problem(place, "", "", "a response is no object");
    if (!is_answer(text_at(*response, "status"))) return;
    auto user = text_at(*response, "user_id");
    if (const auto person = object_at(*response, "user")) {
      user = text_at(*person, "username");
      if (!user) user = text_at(*person, "id");
    }
    if (!user || !values) {
      return into_.problem(place, user ? "/values" : "/user_id", "", "a response needs values and a user_id");
    }
    const std::uint32_t submission = into_.submit(task_, *user, place);
    into_.set_time(submission, text_at(*response, "inserted_at").value_or(""));
    for (const auto& entry : *values) {
      const auto object = as_object(entry.value);
      const auto value = object ? member(*object, "value") : std::optional<JsonElement>(entry.value);
      if (value) say(submission, entry.key, *value);
    }
  }

  /// As the Python package writes it: a list of values by question.
  void read_question(std::string_view question, const JsonElement& element, std::uint64_t row) {
    const auto list = as_array(element);
    const std::string inside = fmt::format("/responses/{}", printable(question, 40));
    if (!list) return into_.problem({.row = row}, inside, "", "the responses to a question are a list");
    for (const JsonElement one : *list) {
      const auto response = as_object(one);
      const auto user = response ? text_at(*response, "user_id") : std::nullopt;
      const auto value = response ? member(*response, "value") : std::nullopt;
      if (response && !is_answer(text_at(*response, "status"))) continue;
      if (!user || !value) {
        into_.problem({.row = row}, inside, "", "a response needs value and user_id");
        continue;
      }
      say(into_.submit(task_, *user, {.row = row}), question, *value);
    }
  }

  /// Flattened: lists of values, users and states side by side.
  void read_flat(std::string_view question, const JsonElement& element, std::uint64_t row) {
    if (element.is_null()) return;
    const auto values = as_array(element);
    const std::string name(question);
    const auto users = texts_at(name + ".responses.users"), states = texts_at(name + ".responses.status");
    const std::string inside = fmt::format("/{}.responses", printable(question, 40));
    if (!values || !users || users->size() != values->size() || (states && states->size() != values->size())) {
      return into_.problem({.row = row}, inside, "", "values, users and status must be lists of one length");
    }
    std::size_t i = 0;
    for (const JsonElement value : *values) {
      const std::size_t at = i++;
      if ((states && !is_answer((*states)[at])) || value.is_null()) continue;
      say(into_.submit(task_, (*users)[at], {.row = row}), question, value);
    }
  }

  [[nodiscard]] std::optional<std::vector<std::string>> texts_at(const std::string& key) const {
    const auto list = array_at(record_, key);
    return list ? scalar_list(*list) : std::nullopt;
  }

  void read_suggestions(std::uint64_t row) {
    if (const auto list = array_at(record_, "suggestions")) {
      for (const JsonElement element : *list) {
        const auto one = as_object(element);
        const auto question = one ? text_at(*one, "question_name") : std::nullopt;
        const auto value = one ? member(*one, "value") : std::nullopt;
        if (question && value) suggest(*question, *value, text_at(*one, "agent"), row);
      }
    } else if (const auto by_question = object_at(record_, "suggestions")) {
      for (const auto& entry : *by_question) {
        const auto one = as_object(entry.value);
        const auto value = one ? member(*one, "value") : std::nullopt;
        if (value) suggest(entry.key, *value, text_at(*one, "agent"), row);
      }
    }
    for (const auto& entry : record_) {
      constexpr std::string_view kEnd = ".suggestion";
      if (!entry.key.ends_with(kEnd) || entry.value.is_null()) continue;
      const std::string_view question = entry.key.substr(0, entry.key.size() - kEnd.size());
      suggest(question, entry.value, text_at(record_, std::string(entry.key) + ".agent"), row);
    }
  }

  void suggest(std::string_view question, const JsonElement& value, const std::optional<std::string>& agent,
               std::uint64_t row) {
    const std::string name = agent && !agent->empty() ? *agent : "unnamed";
    if (name.starts_with("wisecrowd")) {
      ++into_.left_out["predicted by wisecrowd itself"];
      return;
    }
    if (!file_.options.platform.models) {
      ++into_.left_out["predicted by models"];
      return;
    }
    const std::uint32_t submission = into_.submit(task_, "model:" + name, {.row = row});
    into_.submissions[submission].machine = true;
    say(submission, question, value);
  }

  void say(std::uint32_t submission, std::string_view question, const JsonElement& value) {
    if (const auto text = scalar_text(value)) {
      return into_.say(submission, question, is_number(value) ? Shape::number : Shape::label, *text);
    }
    const auto list = as_array(value);
    if (!list) return into_.say(submission, question, Shape::other, "an object");
    const auto names = scalar_list(*list);
    if (names) return into_.say(submission, question, Shape::set, json_list(*names));
    std::vector<Span> spans;
    for (const JsonElement element : *list) {
      const auto one = as_object(element);
      const auto begin = one ? number_at(*one, "start") : std::nullopt,
                 end = one ? number_at(*one, "end") : std::nullopt;
      const auto label = one ? text_at(*one, "label") : std::nullopt;
      if (!begin || !end || *begin < 0 || *end < *begin || *end > 1e9 || !label) {
        return into_.say(submission, question, Shape::other, "a ranking, or an object");
      }
      spans.push_back({static_cast<std::uint64_t>(*begin), static_cast<std::uint64_t>(*end), *label});
    }
    remember_text();
    into_.say(submission, question, Shape::spans, json_spans(spans));
  }

  /// The text that spans are of: the only field that is one, else `text`.
  void remember_text() {
    const auto fields = object_at(record_, "fields");
    if (!fields) return;
    std::optional<std::string> only;
    std::size_t texts = 0;
    for (const auto& entry : *fields) {
      if (!entry.value.is_string()) continue;
      only = scalar_text(entry.value);
      ++texts;
    }
    if (texts != 1) only = text_at(*fields, "text");
    if (only) into_.documents.emplace(into_.tasks.intern(task_), into_.texts.intern(*only));
  }

  const PlatformFile& file_;
  Collected& into_;
  std::string task_;
  JsonObject record_;
};

bool recognises(const FileHead& head) {
  if (!head.is_json || head.has("annotations")) return false;
  if (head.has("fields") && (head.has("responses") || head.has("suggestions"))) return true;
  for (const std::string& key : head.keys) {
    if (key.ends_with(".responses.users")) return true;
  }
  return false;
}

void read(const PlatformFile& file, Collected& into) {
  into.code_points = true;
  RecordReader reader(file, into);
  read_objects(
      file, [&](const JsonObject& record, std::uint64_t row) { reader.read(record, row); }, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "Argilla", .summary = "records as JSON, whole or flattened"},
          .recognises = recognises,
          .read = read,
          .time_names = {"inserted_at"}};
}

}  // namespace wisecrowd::ingest::argilla
