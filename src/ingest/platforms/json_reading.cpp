#include "ingest/platforms/json_reading.hpp"

#include <fmt/core.h>

#include <cmath>

#include "ingest/arena.hpp"
#include "ingest/json_array.hpp"
#include "ingest/json_lines.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {

std::optional<JsonElement> member(const JsonObject& object, std::string_view key) {
  JsonElement found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

std::optional<JsonObject> as_object(const JsonElement& element) {
  JsonObject object;
  if (element.get(object) != simdjson::SUCCESS) return std::nullopt;
  return object;
}

std::optional<JsonArray> as_array(const JsonElement& element) {
  JsonArray array;
  if (element.get(array) != simdjson::SUCCESS) return std::nullopt;
  return array;
}

std::optional<JsonObject> object_at(const JsonObject& object, std::string_view key) {
  const auto found = member(object, key);
  return found ? as_object(*found) : std::nullopt;
}

std::optional<JsonArray> array_at(const JsonObject& object, std::string_view key) {
  const auto found = member(object, key);
  return found ? as_array(*found) : std::nullopt;
}

std::optional<std::string> scalar_text(const JsonElement& element) {
  Arena store;
  const Field field = json_text(element, store);
  if (field.state != Field::State::ok && field.state != Field::State::nul) return std::nullopt;
  return std::string(field.text);
}

std::optional<std::string> text_at(const JsonObject& object, std::string_view key) {
  const auto found = member(object, key);
  return found ? scalar_text(*found) : std::nullopt;
}

bool is_number(const JsonElement& element) { return element.is<double>() || element.is<std::int64_t>(); }

std::optional<double> number_at(const JsonObject& object, std::string_view key) {
  const auto found = member(object, key);
  double number = 0;
  if (!found || found->get(number) != simdjson::SUCCESS || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool is_true_at(const JsonObject& object, std::string_view key) {
  const auto found = member(object, key);
  bool value = false;
  return found && found->get(value) == simdjson::SUCCESS && value;
}

namespace {

/// A text as JSON writes it.
std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Values that we wrote ourselves, to be read back.
class OwnJson {
 public:
  explicit OwnJson(std::string_view text) {
    if (parser_.parse(text.data(), text.size(), true).get(list_) != simdjson::SUCCESS) {
      throw Error(ErrorCode::internal, "a list that was written cannot be read");
    }
  }
  [[nodiscard]] const JsonArray& list() const noexcept { return list_; }

 private:
  simdjson::dom::parser parser_;
  JsonArray list_;
};

}  // namespace

std::string json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    out += json_quoted(text);
  }
  return out + "]";
}

std::optional<std::vector<std::string>> scalar_list(const JsonArray& array) {
  std::vector<std::string> texts;
  for (const JsonElement element : array) {
    auto text = scalar_text(element);
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::string json_spans(const std::vector<Span>& spans) {
  std::string out = "[";
  for (const Span& span : spans) {
    out += fmt::format("{}[{},{},{}]", out.size() > 1 ? "," : "", span.begin, span.end, json_quoted(span.type));
  }
  return out + "]";
}

std::vector<Span> spans_of(std::string_view json) {
  const OwnJson own(json);
  std::vector<Span> spans;
  for (const JsonElement element : own.list()) {
    const JsonArray parts = element.get_array().value();
    spans.push_back({parts.at(0).get_uint64().value(), parts.at(1).get_uint64().value(),
                     std::string(parts.at(2).get_string().value())});
  }
  return spans;
}

std::vector<std::string> members_of(std::string_view json) {
  const OwnJson own(json);
  return scalar_list(own.list()).value_or(std::vector<std::string>{});
}

std::optional<std::string> box_text(const JsonObject& object, std::string_view x, std::string_view y) {
  const auto left = number_at(object, x), top = number_at(object, y), width = number_at(object, "width"),
             height = number_at(object, "height");
  if (!left || !top || !width || !height) return std::nullopt;
  return fmt::format("{},{},{},{}", *left, *top, *width, *height);
}

namespace {

std::vector<Span> entities_of(const JsonArray& list) {
  std::vector<Span> spans;
  for (const JsonElement element : list) {
    const auto entity = as_object(element);
    const auto begin = entity ? number_at(*entity, "startOffset") : std::nullopt;
    const auto end = entity ? number_at(*entity, "endOffset") : std::nullopt;
    if (!begin || !end || *begin < 0 || *end < *begin || *end > 1e9) continue;
    spans.push_back({static_cast<std::uint64_t>(*begin), static_cast<std::uint64_t>(*end),
                     text_at(*entity, "label").value_or("span")});
  }
  return spans;
}

/// Radio buttons and check boxes are one object of truth values; nothing if it is not one.
std::optional<std::vector<std::string>> ticked(const JsonObject& object) {
  std::vector<std::string> names;
  for (const auto& entry : object) {
    bool on = false;
    if (entry.value.get(on) != simdjson::SUCCESS) return std::nullopt;
    if (on) names.emplace_back(entry.key);
  }
  return names;
}

void say_list(std::uint32_t submission, std::string_view question, const std::vector<std::string>& names,
              Collected& into) {
  if (names.size() == 1) {
    into.say(submission, question, Shape::label, names.front());
  } else {
    into.say(submission, question, Shape::set, json_list(names));
  }
}

void say_form_object(std::uint32_t submission, std::string_view question, const JsonObject& object, Collected& into) {
  if (const auto label = text_at(object, "label")) return into.say(submission, question, Shape::label, *label);
  if (const auto labels = array_at(object, "labels")) {
    if (const auto names = scalar_list(*labels)) return into.say(submission, question, Shape::set, json_list(*names));
  }
  if (const auto entities = array_at(object, "entities")) {
    return into.say(submission, question, Shape::spans, json_spans(entities_of(*entities)));
  }
  if (const auto boxes = array_at(object, "boundingBoxes")) {
    const auto one = boxes->size() == 1 ? as_object(boxes->at(0).value()) : std::nullopt;
    const auto box = one ? box_text(*one, "left", "top") : std::nullopt;
    return into.say(submission, question, box ? Shape::box : Shape::other,
                    box.value_or(fmt::format("{} boxes", boxes->size())));
  }
  if (const auto names = ticked(object)) return say_list(submission, question, *names, into);
  into.say(submission, question, Shape::other, "an object");
}

}  // namespace

void say_form(std::uint32_t submission, const JsonObject& form, const std::string& inside, Collected& into) {
  for (const auto& entry : form) {
    if (entry.value.is_null()) continue;
    if (const auto text = scalar_text(entry.value)) {
      if (text->empty()) continue;
      into.say(submission, entry.key, is_number(entry.value) ? Shape::number : Shape::label, *text);
    } else if (const auto object = as_object(entry.value)) {
      say_form_object(submission, entry.key, *object, into);
    } else if (const auto array = as_array(entry.value)) {
      const auto names = scalar_list(*array);
      if (names) {
        into.say(submission, entry.key, Shape::set, json_list(*names));
      } else {
        into.problem(into.submissions[submission].place, inside + "/" + printable(entry.key), "",
                     "is no list of classes");
      }
    }
  }
}

namespace {

std::string json_failure(simdjson::error_code code) {
  switch (code) {
    case simdjson::DEPTH_ERROR: return "lists and objects nest too deep";
    case simdjson::UTF8_ERROR: return "the text is not UTF-8: export it anew";
    case simdjson::NUMBER_ERROR: return "a number is too large or damaged: write it as text, in quotes";
    case simdjson::INCORRECT_TYPE: return "an object, {…}, is wanted here";
    default: return fmt::format("is not valid JSON ({}): export it anew", simdjson::error_message(code));
  }
}

std::string whole_text(const PlatformFile& file) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const auto source = open_input(file.input, file.context);
  std::string text;
  for (std::size_t size = std::size_t{1} << 16;; size *= 2) {
    if (file.context.cancelled()) throw Cancelled();
    const std::size_t before = text.size();
    text.resize(size);
    text.resize(before + source->read(text.data() + before, size - before));
    if (text.size() < size) return text;
    if (size >= kMost) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: is one JSON value of more than a gigabyte: write one row per answer, as CSV",
                              display_name(file.input)));
    }
  }
}

}  // namespace

void read_whole(const PlatformFile& file, const std::function<void(const JsonElement&)>& take, Collected& into) {
  const std::string text = whole_text(file);
  simdjson::dom::parser parser;
  JsonElement root;
  const auto code = parser.parse(text.data(), text.size(), true).get(root);
  if (code != simdjson::SUCCESS)
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", into.file, json_failure(code)));
  take(root);
}

void read_objects(const PlatformFile& file, const std::function<void(const JsonObject&, std::uint64_t)>& take,
                  Collected& into) {
  Input input = file.input;
  std::string head = look_at(input, 4096, file.context);
  const auto first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool list = first != std::string::npos && head[first] == '[';
  into.rows_are_lines = !list;
  const auto source = without_array(open_input(input, file.context), into.file, TableFormat::jsonl);
  simdjson::dom::parser parser;
  std::uint64_t element = 0;
  read_lines(*source, file, [&](std::string_view text, std::uint64_t line) {
    const std::uint64_t row = list ? element++ : line;
    JsonObject object;
    const auto code = parser.parse(text.data(), text.size(), true).get(object);
    if (code == simdjson::SUCCESS) return take(object, row);
    into.problem({.row = row}, "", text.substr(0, 60), json_failure(code));
  });
}

}  // namespace wisecrowd::ingest
