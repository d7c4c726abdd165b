#include <fmt/core.h>

#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest::ceka {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(" \t", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return words;
}

/// Lines of so many words.
template <class Take>
void read_words(const PlatformFile& file, std::size_t count, const char* wanted, Collected& into, const Take& take) {
  into.rows_are_lines = true;
  const auto source = open_input(file.input, file.context);
  read_lines(*source, file, [&](std::string_view line, std::uint64_t number) {
    const auto words = words_of(line);
    if (words.size() == count) return take(words, Place{.row = number});
    into.problem({.row = number}, "", line, fmt::format("has {} words, and not {}: {}", words.size(), count, wanted));
  });
}

void read(const PlatformFile& file, Collected& into) {
  read_words(file, 3, "worker, task and label", into, [&](const auto& words, const Place& place) {
    into.say(into.submit(words[1], words[0], place), "label", Shape::label, words[2]);
  });
}

void read_gold(const PlatformFile& file, Collected& into) {
  read_words(file, 2, "task and label", into, [&](const auto& words, const Place& place) {
    into.say(into.submit(words[0], "gold", place), "label", Shape::label, words[1]);
  });
}

}  // namespace

Platform platform() {
  return {.info = {.title = "CEKA", .summary = "a .resp file, and a .gold file as gold"},
          .read = read,
          .read_gold = read_gold};
}

}  // namespace wisecrowd::ingest::ceka
