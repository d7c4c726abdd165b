#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <unordered_set>

#include "base/csv_text.hpp"
#include "ingest/platforms/json_reading.hpp"
#include "ingest/platforms/tokens.hpp"
#include "ingest/problems.hpp"
#include "ingest/times.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"

namespace wisecrowd::ingest {
namespace {

std::string_view noun_of(Shape shape) {
  switch (shape) {
    case Shape::label: return "classes";
    case Shape::set: return "sets of classes";
    case Shape::number: return "numbers";
    case Shape::box: return "boxes";
    case Shape::spans: return "spans of text";
    case Shape::tags: return "tags of tokens";
    case Shape::pair: return "comparisons";
    case Shape::other: break;
  }
  return "answers that are not read";
}

/// The kind of answers that such values are by nature.
std::string_view kind_of(Shape shape) {
  switch (shape) {
    case Shape::set: return Sets::name;
    case Shape::number:
    case Shape::box: return Numbers::name;
    case Shape::spans:
    case Shape::tags: return Sequences::name;
    case Shape::pair: return Comparisons::name;
    case Shape::label:
    case Shape::other: break;
  }
  return Categories::name;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool is_finite_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// Makes the tables of one question.
class PlatformTableMaker {
 public:
  PlatformTableMaker(Collected& collected, const Platform& platform, const std::string& kind,
                     const ReadOptions& options)
      : all_(collected), platform_(platform), options_(options), kind_(kind) {}

  PlatformTables make() {
    all_.problems.rows = all_.submissions.size() + all_.problems.problem_count;
    choose_question();
    gather();
    if (kind_.empty()) kind_ = natural_kind();
    check_shapes();
    tables_.answers_kind = kind_;
    tables_.platform = platform_.info.name;
    tables_.question = std::string(all_.questions[question_]);
    add_blanks();
    find_times();
    write_header();
    for (const auto& [submission, said] : chosen_) write(submission, said);
    all_.problems.rows_dropped = all_.problems.problem_count;
    settle_problems(all_.file, options_.lenient, all_.problems);
    if (tables_.answer_count == 0) refuse_empty();
    tables_.notes = all_.problems.warnings;
    for (const auto& [what, count] : all_.left_out) tables_.left_out.emplace_back(what, count);
    write_workers();
    if (const auto control = all_.controls.find(question_); control != all_.controls.end()) {
      std::tie(tables_.control, tables_.target) = control->second;
    }
    if (!all_.assignments.empty()) tables_.assignments = "assignment,worker\n";
    for (const auto& [assignment, worker] : all_.assignments) {
      tables_.assignments += fmt::format("{},{}\n", csv_field(assignment), csv_field(all_.workers[worker]));
    }
    return std::move(tables_);
  }

 private:
  using Said = Collected::Said;

  [[noreturn]] void refuse_empty() const {
    std::string rest;
    for (const auto& [what, count] : all_.left_out)
      rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", count, what);
    throw Error(ErrorCode::bad_input, fmt::format("{}: holds no answer of a worker{}", all_.file,
                                                  rest.empty() ? "" : fmt::format("; left out: {}", rest)));
  }

  [[nodiscard]] std::string listed_questions() const {
    std::vector<std::string> names;
    for (std::uint32_t q = 0; q < all_.questions.size(); ++q) {
      const auto said =
          std::find_if(all_.said.begin(), all_.said.end(), [&](const Said& s) { return s.question == q; });
      names.push_back(fmt::format("'{}' ({})", printable(all_.questions[q], 40), noun_of(said->shape)));
    }
    return shortened_list(names, 12);
  }

  void choose_question() {
    if (all_.said.empty()) {
      settle_problems(all_.file, false, all_.problems);
      refuse_empty();
    }
    const std::string& asked = options_.platform.question;
    if (!asked.empty()) {
      question_ = all_.questions.find(asked);
      if (question_ != Interner::kAbsent) return;
      throw Error(ErrorCode::bad_input, fmt::format("{}: there is no question '{}': it has {}", all_.file,
                                                    printable(asked), listed_questions()));
    }
    if (all_.questions.size() > 1) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: holds answers to {} questions, {}: say which to read with `question`", all_.file,
                              all_.questions.size(), listed_questions()));
    }
    question_ = 0;
  }

  /// Submissions that answer the question, with what they say.
  void gather() {
    std::vector<bool> answered(all_.submissions.size());
    for (const Said& said : all_.said) {
      if (said.question != question_) continue;
      chosen_.emplace_back(said.submission, said);
      answered[said.submission] = true;
    }
    for (std::uint32_t s = 0; s < answered.size(); ++s) {
      if (!answered[s]) blank_.push_back(s);
    }
    // An empty list does not say what it is a list of.
    const bool spans = kind_ == Sequences::name || std::any_of(chosen_.begin(), chosen_.end(), [](const auto& entry) {
                         return entry.second.shape == Shape::spans;
                       });
    for (auto& [submission, said] : chosen_) {
      if (spans && said.shape == Shape::set && all_.texts[said.value] == "[]") said.shape = Shape::spans;
    }
  }

  [[nodiscard]] std::string natural_kind() const {
    std::string kind(kind_of(chosen_.front().second.shape));
    for (const auto& [submission, said] : chosen_) {
      const std::string_view own = kind_of(said.shape);
      if (own == kind || said.shape == Shape::other) continue;
      const bool classes =
          (own == Sets::name || own == Categories::name) && (kind == Sets::name || kind == Categories::name);
      kind = classes ? std::string(Sets::name) : std::string(Categories::name);
      if (!classes) break;
    }
    return kind;
  }

  /// Whether a value of that shape can be read as the kind that is wanted.
  [[nodiscard]] bool fits(Shape shape) const {
    if (shape == Shape::other) return false;
    if (kind_ == Comparisons::name) return shape == Shape::pair;
    if (kind_ == Sequences::name || shape == Shape::spans || shape == Shape::tags) {
      return kind_ == kind_of(shape);
    }
    if (shape == Shape::pair) return false;
    if (shape == Shape::box) return kind_ == Numbers::name;
    return shape != Shape::set || kind_ != Numbers::name;
  }

  void check_shapes() const {
    const bool boxes = chosen_.front().second.shape == Shape::box;
    for (const auto& [submission, said] : chosen_) {
      const bool one_class =
          kind_ != Categories::name || said.shape != Shape::set || members_of(all_.texts[said.value]).size() == 1;
      if (fits(said.shape) && one_class && (said.shape == Shape::box) == boxes) continue;
      const std::string place = all_.text_of(all_.submissions[submission].place);
      const std::string question = printable(all_.questions[question_]);
      if (said.shape == Shape::other) {
        throw Error(ErrorCode::bad_input, fmt::format("{}: the answer to '{}' cannot be read ({})", place, question,
                                                      printable(all_.texts[said.value])));
      }
      if (fits(said.shape) && one_class) {
        throw Error(ErrorCode::bad_input, fmt::format("{}: '{}' holds boxes and other answers", place, question));
      }
      throw Error(ErrorCode::bad_input, fmt::format("{}: '{}' holds {}: read it with `answers={}`", place, question,
                                                    noun_of(said.shape), kind_of(said.shape)));
    }
  }

  /// Whoever marked nothing in a text said that there is nothing; where a blank means the empty set, likewise.
  void add_blanks() {
    const bool none_is_answer = kind_ == Sequences::name || (kind_ == Sets::name && options_.sets.blank_is_empty);
    if (!none_is_answer) {
      if (!blank_.empty()) all_.left_out["without an answer to the question"] += blank_.size();
      return;
    }
    const std::uint32_t nothing = all_.texts.intern("[]");
    for (const std::uint32_t s : blank_) {
      chosen_.emplace_back(s, Said{s, question_, kind_ == Sets::name ? Shape::set : Shape::spans, nothing});
    }
  }

  /// A column of times is of use only if it is whole.
  void find_times() {
    if (kind_ == Sequences::name || kind_ == Comparisons::name) return;
    std::uint64_t with = 0, answers = 0;
    for (const auto& [submission, said] : chosen_) {
      const auto& s = all_.submissions[submission];
      if (s.gold) continue;
      ++answers;
      bool date = false;
      with += s.time != Collected::kNothing && time_of(all_.texts[s.time], date) ? 1 : 0;
      has_seconds_ = has_seconds_ || std::isfinite(s.seconds);
    }
    tables_.has_times = with == answers && answers > 0;
    if (with > 0 && with < answers) {
      all_.problems.warnings.push_back(
          {"times_left_out",
           fmt::format("{}: {} of {} answers have no time that can be read, so times are left out", all_.file,
                       answers - with, answers),
           "", Severity::note});
    }
  }

  void write_header() {
    const bool boxes = chosen_.front().second.shape == Shape::box;
    if (kind_ == Comparisons::name) {
      tables_.answers = all_.sides_known ? "worker,left,right,label" : "worker,chosen,rejected";
      gold_header_ = "left,right,label\n";
    } else if (kind_ == Sequences::name) {
      tables_.answers = "doc,position,worker,tag";
      gold_header_ = "doc,position,tag\n";
      tables_.tokens = "doc,position,token\n";
    } else {
      tables_.answers = boxes ? "task,worker,x,y,width,height"
                              : fmt::format("task,worker,{}", kind_ == Numbers::name ? "value" : "label");
      gold_header_ = boxes ? "task,x,y,width,height\n" : "task,truth\n";
    }
    if (tables_.has_times) tables_.answers += ",time";
    if (has_seconds_) tables_.answers += ",seconds";
    tables_.answers += '\n';
  }

  void write(std::uint32_t index, const Said& said) {
    const auto& s = all_.submissions[index];
    if (kind_ == Sequences::name) return write_tags(s, said);
    std::string value;
    if (kind_ == Comparisons::name) {
      const std::string left = csv_field(all_.texts[said.value]), right = csv_field(all_.texts[said.right]);
      value = all_.sides_known ? fmt::format("{},{},{}", left, right, said.outcome) : fmt::format("{},{}", left, right);
    } else if (!value_of(s, said, value)) {
      return;
    }
    if (s.gold) return write_gold(s.task, value);
    const std::string worker = csv_field(all_.workers[s.worker]);
    tables_.answers += kind_ == Comparisons::name
                           ? fmt::format("{},{}", worker, value)
                           : fmt::format("{},{},{}", csv_field(all_.tasks[s.task]), worker, value);
    if (tables_.has_times) tables_.answers += "," + csv_field(all_.texts[s.time]);
    if (has_seconds_) tables_.answers += std::isfinite(s.seconds) ? fmt::format(",{}", s.seconds) : ",";
    tables_.answers += '\n';
    count(s);
  }

  /// The field, or fields, of the value. False with a problem when it is none of the kind.
  bool value_of(const Collected::Submission& s, const Said& said, std::string& value) {
    const std::string_view text = all_.texts[said.value];
    if (kind_ == Numbers::name) {
      value = text;
      if (said.shape == Shape::box || is_finite_number(text)) return true;
      all_.problem(s.place, "", text, "is no number: read the answers as `answers=categories`");
      return false;
    }
    if (kind_ == Sets::name) {
      value = csv_field(said.shape == Shape::set ? std::string(text) : json_list({std::string(text)}));
      return true;
    }
    const std::string label = said.shape == Shape::set ? members_of(text).front() : std::string(text);
    if (label.find_first_not_of(" \t\r\n") == std::string::npos) {
      all_.problem(s.place, "", "", "the answer is empty");
      return false;
    }
    value = csv_field(label);
    return true;
  }

  void write_gold(std::uint32_t task, const std::string& value) {
    const std::string row =
        kind_ == Comparisons::name ? value + "\n" : fmt::format("{},{}\n", csv_field(all_.tasks[task]), value);
    if (!gold_seen_.insert(row).second) return;
    if (tables_.gold.empty()) tables_.gold = gold_header_;
    tables_.gold += row;
    ++tables_.gold_count;
  }

  /// Tags of every token of the document; the tokens themselves when it is seen first.
  void write_tags(const Collected::Submission& s, const Said& said) {
    const auto document = all_.documents.find(s.task);
    if (document == all_.documents.end()) {
      return all_.problem(s.place, "", "", "the text that the spans are of is not in the file");
    }
    const std::string_view text = all_.texts[document->second];
    const std::string name = csv_field(all_.tasks[s.task]);
    std::vector<std::string_view> tokens;
    std::vector<std::string> tags;
    if (said.shape == Shape::tags) {
      tokens = lines_of(text);
      for (const std::string_view tag : lines_of(all_.texts[said.value])) tags.emplace_back(tag);
    } else {
      const auto words = tokens_of(text, all_.code_points);
      std::string failure;
      tags = bio_tags(words, spans_of(all_.texts[said.value]), failure);
      if (!failure.empty()) return all_.problem(s.place, "", "", failure);
      for (const Token& word : words) tokens.push_back(word.text);
    }
    if (documents_seen_.insert(s.task).second) {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        tables_.tokens += fmt::format("{},{},{}\n", name, i, csv_field(tokens[i]));
      }
    }
    const std::string worker = csv_field(all_.workers[s.worker]);
    if (s.gold && tables_.gold.empty()) tables_.gold = gold_header_;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      if (tags[i].empty()) continue;
      if (s.gold) {
        tables_.gold += fmt::format("{},{},{}\n", name, i, csv_field(tags[i]));
      } else {
        tables_.answers += fmt::format("{},{},{},{}\n", name, i, worker, csv_field(tags[i]));
      }
    }
    if (s.gold) {
      ++tables_.gold_count;
    } else {
      count(s);
    }
  }

  void count(const Collected::Submission& s) {
    ++tables_.answer_count;
    worker_answers_.resize(all_.workers.size());
    is_machine_.resize(all_.workers.size());
    ++worker_answers_[s.worker];
    is_machine_[s.worker] = is_machine_[s.worker] || s.machine;
  }

  void write_workers() {
    tables_.workers = "worker,kind,answers\n";
    for (std::uint32_t w = 0; w < worker_answers_.size(); ++w) {
      if (worker_answers_[w] == 0) continue;
      ++tables_.worker_count;
      tables_.machine_count += is_machine_[w] ? 1 : 0;
      tables_.workers += fmt::format("{},{},{}\n", csv_field(all_.workers[w]), is_machine_[w] ? "machine" : "human",
                                     worker_answers_[w]);
    }
  }

  Collected& all_;
  const Platform& platform_;
  const ReadOptions& options_;
  std::string kind_;
  std::uint32_t question_ = 0;
  std::vector<std::pair<std::uint32_t, Said>> chosen_;
  std::vector<std::uint32_t> blank_;
  bool has_seconds_ = false;
  std::string gold_header_;
  std::unordered_set<std::string> gold_seen_;
  std::unordered_set<std::uint32_t> documents_seen_;
  std::vector<std::uint64_t> worker_answers_;
  std::vector<bool> is_machine_;
  PlatformTables tables_;
};

/// Several workers would be several truths.
std::string gold_tags_table(const Collected& truths) {
  if (truths.workers.size() > 1) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: has {} columns of tags: gold has one tag per token", truths.file,
                                                  truths.workers.size()));
  }
  std::string table = "doc,position,tag\n";
  for (const auto& said : truths.said) {
    const std::string name = csv_field(truths.tasks[truths.submissions[said.submission].task]);
    std::size_t position = 0;
    for (const std::string_view tag : lines_of(truths.texts[said.value])) {
      if (!tag.empty()) table += fmt::format("{},{},{}\n", name, position, csv_field(tag));
      ++position;
    }
  }
  return table;
}

}  // namespace

std::string gold_table(const Collected& truths) {
  if (!truths.said.empty() && truths.said.front().shape == Shape::tags) return gold_tags_table(truths);
  std::string table = "task,truth\n";
  for (const auto& said : truths.said) {
    table += fmt::format("{},{}\n", csv_field(truths.tasks[truths.submissions[said.submission].task]),
                         csv_field(truths.texts[said.value]));
  }
  return table;
}

PlatformTables make_tables(Collected& collected, const Platform& platform, const std::string& answers_kind,
                           const ReadOptions& options) {
  return PlatformTableMaker(collected, platform, answers_kind, options).make();
}

}  // namespace wisecrowd::ingest
