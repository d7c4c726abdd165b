#include <fmt/core.h>

#include "ingest/platforms/json_reading.hpp"

namespace wisecrowd::ingest::trl {
namespace {

/// A text, or the last message of a conversation.
std::optional<std::string> completion_at(const JsonObject& object, std::string_view key) {
  const auto messages = array_at(object, key);
  if (!messages) return text_at(object, key);
  std::optional<std::string> last;
  for (const JsonElement element : *messages) {
    const auto message = as_object(element);
    last = message ? text_at(*message, "content") : std::nullopt;
  }
  return last;
}

bool recognises(const FileHead& head) {
  return head.is_json && head.has("chosen/content") && head.has("rejected/content");
}

void read(const PlatformFile& file, Collected& into) {
  into.sides_known = false;
  const auto read_one = [&](const JsonObject& object, std::uint64_t row) {
    const auto chosen = completion_at(object, "chosen"), rejected = completion_at(object, "rejected");
    if (!chosen || !rejected || chosen->empty() || rejected->empty()) {
      return into.problem({.row = row}, chosen ? "/rejected" : "/chosen", "",
                          "a preference needs chosen and rejected, texts or lists of messages");
    }
    std::string worker = "all";
    for (const char* key : {"worker", "annotator", "judge"}) {
      if (auto name = text_at(object, key)) worker = *name;
    }
    const std::uint32_t submission = into.submit(fmt::format("{}", row), worker, {.row = row});
    into.say_pair(submission, "preference", *chosen, *rejected, "left");
  };
  read_objects(file, read_one, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "TRL", .summary = "preferences with prompt, chosen and rejected, as JSON"},
          .recognises = recognises,
          .read = read};
}

}  // namespace wisecrowd::ingest::trl
