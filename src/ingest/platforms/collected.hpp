#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/interner.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

/// How a platform holds what was said.
enum class Shape : std::uint8_t {
  label,   ///< one class, or a text
  set,     ///< a JSON list of classes
  number,  ///< a decimal
  box,     ///< "x,y,width,height"
  spans,   ///< a JSON list of [begin, end, type]
  tags,    ///< a line per token of the document, whose text has its tokens in lines; blank where there is no tag
  pair,    ///< which of two items
  other,   ///< something that is not read; the value says what
};

/// Where a submission stands: a line of a table, or an element of a JSON list and a part of that.
struct Place {
  static constexpr std::uint32_t kWhole = 0xFFFFFFFF;
  std::uint64_t row = 0;        ///< lines count from 1, elements from 0
  const char* list = "";        ///< "annotations"; a literal
  std::uint32_t part = kWhole;  ///< of that list
};

/// Everything that a platform's file holds, names and values kept once.
class Collected {
 public:
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;
  /// One act of one worker: an annotation, an assignment, a response.
  struct Submission {
    std::uint32_t task, worker;
    std::uint32_t time = kNothing;  ///< of `texts`
    double seconds = std::numeric_limits<double>::quiet_NaN();
    Place place;
    bool machine = false;
    bool gold = false;  ///< it is the truth, and nobody's answer
  };
  /// What it says to one question.
  struct Said {
    std::uint32_t submission, question;
    Shape shape;
    std::uint32_t value;             ///< of `texts`; pairs: the left item
    std::uint32_t right = kNothing;  ///< pairs: the right item
    std::string_view outcome = {};   ///< pairs: left, right or tie; a literal
  };

  Interner tasks, workers, questions, texts;
  std::vector<Submission> submissions;
  std::vector<Said> said;
  std::unordered_map<std::uint32_t, std::uint32_t> documents;  ///< text of a task, for spans
  std::map<std::string, std::uint64_t> left_out;
  /// Of each question: the type of its control, and what it is asked of.
  std::unordered_map<std::uint32_t, std::pair<std::string, std::string>> controls;
  /// Assignments that wait to be accepted, and whose they are.
  std::map<std::string, std::uint32_t> assignments;
  bool sides_known = true;      ///< pairs: left and right are as they were shown
  bool code_points = false;     ///< offsets of spans count characters, not UTF-16 units
  bool rows_are_lines = false;  ///< places are lines
  DataReport problems;
  std::string file;

  std::uint32_t submit(std::string_view task, std::string_view worker, const Place& place);
  void say(std::uint32_t submission, std::string_view question, Shape shape, std::string_view value);
  void say_pair(std::uint32_t submission, std::string_view question, std::string_view left, std::string_view right,
                std::string_view outcome);
  void set_time(std::uint32_t submission, std::string_view time);
  /// Something cannot be read. `inside` is where in the place, "/result/0".
  void problem(const Place& place, const std::string& inside, std::string_view value, const std::string& message);
  /// "file at /3/annotations/0", "file:12"
  [[nodiscard]] std::string text_of(const Place& place, const std::string& inside = "") const;
};

}  // namespace wisecrowd::ingest
