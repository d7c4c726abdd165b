#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>

#include "ingest/platforms/json_reading.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest::mturk {
namespace {

/// "Mon Jul 20 13:05:33 PDT 2009" as ISO 8601 writes it; other texts stay.
std::string iso_time(const std::string& text) {
  static constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  static constexpr std::pair<std::string_view, int> kZones[] = {{"UTC", 0},  {"GMT", 0},  {"PST", -8}, {"PDT", -7},
                                                                {"MST", -7}, {"MDT", -6}, {"CST", -6}, {"CDT", -5},
                                                                {"EST", -5}, {"EDT", -4}};
  char day_name[4] = "", month_name[4] = "", zone[4] = "";
  int day = 0, hour = 0, minute = 0, second = 0, year = 0;
  if (std::sscanf(text.c_str(), "%3s %3s %2d %2d:%2d:%2d %3s %4d", day_name, month_name, &day, &hour, &minute, &second,
                  zone, &year) != 8) {
    return text;
  }
  const auto month = std::find(kMonths.begin(), kMonths.end(), month_name);
  const auto offset =
      std::find_if(std::begin(kZones), std::end(kZones), [&](const auto& known) { return known.first == zone; });
  if (month == kMonths.end() || offset == std::end(kZones)) return text;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{:02}:00", year, month - kMonths.begin() + 1, day, hour,
                     minute, second, offset->second < 0 ? '-' : '+', std::abs(offset->second));
}

/// Columns `Answer.x`, and, for radio buttons and check boxes, `Answer.x.option` with true and false.
struct Columns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t hit = kNone, worker = kNone, assignment = kNone, status = kNone, time = kNone, seconds = kNone,
              form = kNone;
  std::vector<std::pair<std::string, std::size_t>> answers;
  std::map<std::string, std::vector<std::pair<std::string, std::size_t>>> options;  ///< by question, two or more

  explicit Columns(const std::vector<std::string>& names) {
    constexpr std::string_view kAnswer = "Answer.";
    std::map<std::string, std::vector<std::pair<std::string, std::size_t>>> dotted;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::string& name = names[c];
      if (name == "HITId") hit = c;
      if (name == "WorkerId") worker = c;
      if (name == "AssignmentId") assignment = c;
      if (name == "AssignmentStatus") status = c;
      if (name == "SubmitTime") time = c;
      if (name == "WorkTimeInSeconds") seconds = c;
      if (!name.starts_with(kAnswer)) continue;
      const std::string question = name.substr(kAnswer.size());
      const auto dot = question.rfind('.');
      if (question == "taskAnswers") {
        form = c;
      } else if (dot == std::string::npos) {
        answers.emplace_back(question, c);
      } else {
        dotted[question.substr(0, dot)].emplace_back(question.substr(dot + 1), c);
      }
    }
    for (auto& [question, found] : dotted) {
      if (found.size() > 1) {
        options[question] = found;
      } else {
        answers.emplace_back(question + "." + found.front().first, found.front().second);
      }
    }
  }
};

bool is_truth(const std::string& text, bool& value) {
  std::string lower = text;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  value = lower == "true" || lower == "on" || lower == "1";
  return value || lower == "false" || lower == "off" || lower == "0" || lower.empty();
}

class AssignmentReader {
 public:
  AssignmentReader(const Columns& columns, Collected& into) : columns_(columns), into_(into) {}

  void read(const std::vector<std::string>& fields, std::uint64_t line) {
    const Place place{.row = line};
    const std::string& status = fields[columns_.status];
    if (status == "Rejected") {
      ++into_.left_out["rejected"];
      return;
    }
    if (status != "Submitted" && status != "Approved" && !status.empty()) {
      ++into_.left_out["unfinished"];
      return;
    }
    if (fields[columns_.hit].empty() || fields[columns_.worker].empty()) {
      return into_.problem(place, "", "", "HITId or WorkerId is blank: complete the row");
    }
    const std::uint32_t submission = into_.submit(fields[columns_.hit], fields[columns_.worker], place);
    if (columns_.assignment != Columns::kNone && status == "Submitted") {
      into_.assignments.emplace(fields[columns_.assignment], into_.submissions[submission].worker);
    }
    if (columns_.time != Columns::kNone) into_.set_time(submission, iso_time(fields[columns_.time]));
    if (columns_.seconds != Columns::kNone) {
      const std::string& text = fields[columns_.seconds];
      std::from_chars(text.data(), text.data() + text.size(), into_.submissions[submission].seconds);
    }
    for (const auto& [question, column] : columns_.answers) {
      if (!fields[column].empty()) into_.say(submission, question, Shape::label, fields[column]);
    }
    for (const auto& [question, options] : columns_.options) say_options(submission, question, options, fields);
    if (columns_.form != Columns::kNone && !fields[columns_.form].empty())
      say_task_answers(submission, fields[columns_.form]);
  }

 private:
  void say_options(std::uint32_t submission, const std::string& question,
                   const std::vector<std::pair<std::string, std::size_t>>& options,
                   const std::vector<std::string>& fields) {
    std::vector<std::string> ticked;
    bool all_blank = true;
    for (const auto& [option, column] : options) {
      bool on = false;
      if (!is_truth(fields[column], on)) {
        return into_.problem(
            into_.submissions[submission].place, "", fields[column],
            fmt::format("in Answer.{}.{}: is neither true nor false", printable(question), printable(option)));
      }
      all_blank = all_blank && fields[column].empty();
      if (on) ticked.push_back(option);
    }
    if (all_blank) return;
    if (ticked.size() == 1) return into_.say(submission, question, Shape::label, ticked.front());
    into_.say(submission, question, Shape::set, json_list(ticked));
  }

  /// A list with one form, as JSON.
  void say_task_answers(std::uint32_t submission, const std::string& text) {
    JsonElement root;
    const auto code = parser_.parse(text.data(), text.size(), true).get(root);
    const Place place = into_.submissions[submission].place;
    const auto list = code == simdjson::SUCCESS ? as_array(root) : std::nullopt;
    const auto form = list && list->size() == 1 ? as_object(list->at(0).value()) : std::nullopt;
    if (!form) {
      return into_.problem(place, "", text, "in Answer.taskAnswers: a JSON list with one object is wanted");
    }
    say_form(submission, *form, "", into_);
  }

  const Columns& columns_;
  Collected& into_;
  simdjson::dom::parser parser_;
};

bool recognises(const FileHead& head) {
  return head.has_column("HITId") && head.has_column("WorkerId") && head.has_column("AssignmentStatus") &&
         head.has_column_like("Answer.");
}

void read(const PlatformFile& file, Collected& into) {
  std::optional<Columns> columns;
  std::optional<AssignmentReader> reader;
  read_table_rows(
      file,
      [&](const std::vector<std::string>& names) {
        columns.emplace(names);
        require_columns(
            into.file, "MTurk",
            {{"HITId", columns->hit}, {"WorkerId", columns->worker}, {"AssignmentStatus", columns->status}});
        reader.emplace(*columns, into);
      },
      [&](const std::vector<std::string>& fields, std::uint64_t line) { reader->read(fields, line); }, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "MTurk", .summary = "a batch's results as CSV"},
          .recognises = recognises,
          .read = read,
          .time_names = {"SubmitTime"}};
}

}  // namespace wisecrowd::ingest::mturk
