#include "ingest/platforms/collected.hpp"

#include <fmt/core.h>

#include "ingest/problems.hpp"

namespace wisecrowd::ingest {

std::uint32_t Collected::submit(std::string_view task, std::string_view worker, const Place& place) {
  submissions.push_back({.task = tasks.intern(task), .worker = workers.intern(worker), .place = place});
  return static_cast<std::uint32_t>(submissions.size() - 1);
}

void Collected::say(std::uint32_t submission, std::string_view question, Shape shape, std::string_view value) {
  said.push_back(
      {.submission = submission, .question = questions.intern(question), .shape = shape, .value = texts.intern(value)});
}

void Collected::say_pair(std::uint32_t submission, std::string_view question, std::string_view left,
                         std::string_view right, std::string_view outcome) {
  said.push_back({.submission = submission,
                  .question = questions.intern(question),
                  .shape = Shape::pair,
                  .value = texts.intern(left),
                  .right = texts.intern(right),
                  .outcome = outcome});
}

void Collected::set_time(std::uint32_t submission, std::string_view time) {
  if (!time.empty()) submissions[submission].time = texts.intern(time);
}

std::string Collected::text_of(const Place& place, const std::string& inside) const {
  if (rows_are_lines && place.part == Place::kWhole && inside.empty()) return fmt::format("{}:{}", file, place.row);
  std::string pointer = rows_are_lines ? std::string() : fmt::format("/{}", place.row);
  if (place.part != Place::kWhole) pointer += fmt::format("/{}/{}", place.list, place.part);
  pointer += inside;
  return rows_are_lines ? fmt::format("{}:{} at {}", file, place.row, pointer) : fmt::format("{} at {}", file, pointer);
}

void Collected::problem(const Place& place, const std::string& inside, std::string_view value,
                        const std::string& message) {
  ++problems.problem_count;
  if (problems.problems.size() == kMostProblemsShown) return;
  problems.problems.push_back({text_of(place, inside), 0, "", value.empty() ? "" : printable(value), message});
}

}  // namespace wisecrowd::ingest
