#include <fmt/core.h>

#include "ingest/platforms/json_reading.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest::peerannot {
namespace {

/// An object of objects looks like many other files, so its name must be the usual one, too.
bool recognises(const FileHead& head) {
  if (!head.is_json || head.name != "answers.json" || head.keys.empty()) return false;
  bool nested = false;
  for (const std::string& key : head.keys) {
    const auto slash = key.find('/');
    if (slash != std::string::npos && key.find('/', slash + 1) != std::string::npos) return false;
    if (key.find_first_not_of("0123456789/") != std::string::npos) return false;
    nested = nested || slash != std::string::npos;
  }
  return nested;
}

void read(const PlatformFile& file, Collected& into) {
  const auto read_all = [&](const JsonElement& root) {
    const auto tasks = as_object(root);
    if (!tasks) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: an object of tasks is wanted, {{\"task\": {{\"worker\": label}}}}", into.file));
    }
    std::uint64_t row = 0;
    for (const auto& task : *tasks) {
      const Place place{.row = row++};
      const auto answers = as_object(task.value);
      if (!answers) {
        into.problem(place, "", task.key, "the answers to a task are an object, {\"worker\": label}");
        continue;
      }
      for (const auto& answer : *answers) {
        const auto label = scalar_text(answer.value);
        if (!label) {
          into.problem(place, "/" + printable(answer.key, 40), task.key, "the label is neither text nor number");
          continue;
        }
        into.say(into.submit(task.key, answer.key, place), "label", Shape::label, *label);
      }
    }
  };
  read_whole(file, read_all, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "peerannot", .summary = "answers.json, labels by task and worker"},
          .recognises = recognises,
          .read = read};
}

}  // namespace wisecrowd::ingest::peerannot
