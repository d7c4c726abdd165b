#pragma once

#include <simdjson.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest {

using JsonElement = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

/// A member that is there and not null.
[[nodiscard]] std::optional<JsonElement> member(const JsonObject& object, std::string_view key);
[[nodiscard]] std::optional<JsonObject> object_at(const JsonObject& object, std::string_view key);
[[nodiscard]] std::optional<JsonArray> array_at(const JsonObject& object, std::string_view key);
[[nodiscard]] std::optional<JsonObject> as_object(const JsonElement& element);
[[nodiscard]] std::optional<JsonArray> as_array(const JsonElement& element);
/// A text, a number or a truth value as text; nothing for lists and objects.
[[nodiscard]] std::optional<std::string> scalar_text(const JsonElement& element);
[[nodiscard]] std::optional<std::string> text_at(const JsonObject& object, std::string_view key);
[[nodiscard]] std::optional<double> number_at(const JsonObject& object, std::string_view key);
[[nodiscard]] bool is_true_at(const JsonObject& object, std::string_view key);
[[nodiscard]] bool is_number(const JsonElement& element);

/// A list of texts as JSON writes it.
[[nodiscard]] std::string json_list(const std::vector<std::string>& texts);
/// Scalars of a list; nothing if one of them is none.
[[nodiscard]] std::optional<std::vector<std::string>> scalar_list(const JsonArray& array);

/// A span of a text, and a list of them as JSON.
struct Span {
  std::uint64_t begin = 0, end = 0;
  std::string type;
};
[[nodiscard]] std::string json_spans(const std::vector<Span>& spans);
[[nodiscard]] std::vector<Span> spans_of(std::string_view json);
/// The members of a list as JSON writes it.
[[nodiscard]] std::vector<std::string> members_of(std::string_view json);

/// "x,y,width,height", or nothing if one of the four members is no number.
[[nodiscard]] std::optional<std::string> box_text(const JsonObject& object, std::string_view x, std::string_view y);

/// What a form of Amazon's (crowd-form, taskAnswers) holds: {"question": {"label": …}} and the like.
void say_form(std::uint32_t submission, const JsonObject& form, const std::string& inside, Collected& into);

/// Calls take(object, row) for every object of a JSON list, of JSON Lines, or for the only one.
void read_objects(const PlatformFile& file, const std::function<void(const JsonObject&, std::uint64_t row)>& take,
                  Collected& into);
/// The only value of a file.
void read_whole(const PlatformFile& file, const std::function<void(const JsonElement&)>& take, Collected& into);

}  // namespace wisecrowd::ingest
