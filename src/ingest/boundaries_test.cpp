// Windows, chunks and blocks of 64 bytes are cut at places that must not matter. A plain serial parser, written without
// any of them, says what is right.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "ingest/read.hpp"
#include "ingest/windows.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using ingest::Tuning;

struct Row {
  std::vector<std::string> fields;
  std::size_t line;
  bool bad = false;  // text after a closing quote, or an unclosed one
};

/// One character at a time.
std::vector<Row> reference_rows(const std::string& text, char delimiter) {
  std::vector<Row> rows;
  std::size_t line = 1;
  std::size_t at = 0;
  const auto is_end = [](char c) { return c == '\n' || c == '\r'; };
  while (at < text.size()) {
    if (is_end(text[at])) {
      at += text.compare(at, 2, "\r\n") == 0 ? 2 : 1;
      ++line;
      continue;
    }
    Row row{{}, line};
    for (bool more = true; more;) {
      std::string field;
      const bool quoted = at < text.size() && text[at] == '"';
      if (quoted) {
        bool closed = false;
        for (++at; at < text.size() && !closed; ++at) {
          if (text[at] == '"' && at + 1 < text.size() && text[at + 1] == '"') {
            field += text[at++];
          } else if (text[at] == '"') {
            closed = true;
          } else {
            line += text[at] == '\n' || (text[at] == '\r' && text.compare(at, 2, "\r\n") != 0) ? 1 : 0;
            field += text[at];
          }
        }
        row.bad = row.bad || !closed;
      }
      const std::size_t begin = at;
      while (at < text.size() && text[at] != delimiter && !is_end(text[at])) ++at;
      if (quoted && at > begin) row.bad = true;
      field += text.substr(begin, at - begin);
      row.fields.push_back(field);
      more = at < text.size() && text[at] == delimiter;
      at += more ? 1 : 0;
    }
    rows.push_back(row);
  }
  return rows;
}

/// The same as the reader makes of it: answers and the lines of bad rows.
struct Outcome {
  std::string answers;
  std::vector<std::uint64_t> bad_lines;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome reference(const std::string& text) {
  Outcome outcome;
  CategoryAnswersBuilder builder;
  const auto rows = reference_rows(text, ',');
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const auto& fields = rows[r].fields;
    const bool blank = std::all_of(fields.begin(), fields.end(), [](const std::string& field) {
      return field.find_first_not_of(" \t") == std::string::npos;
    });
    if (blank && !rows[r].bad) continue;
    const bool good =
        !rows[r].bad && fields.size() == 3 && !fields[0].empty() && !fields[1].empty() && !fields[2].empty();
    if (good) {
      builder.add(fields[0], fields[1], fields[2]);
    } else {
      outcome.bad_lines.push_back(rows[r].line);
    }
  }
  outcome.answers = fmt::format("{:016x}", builder.build().content_hash());
  return outcome;
}

Outcome ours(const std::string& text, const Tuning& tuning, const RunContext& context) {
  Outcome outcome;
  DataReport report;
  const CategoryData data =
      ingest::read_dataset({"a.csv", text}, std::nullopt, {.lenient = true}, tuning, context, &report);
  outcome.answers = fmt::format("{:016x}", data.answers.content_hash());
  for (const auto& problem : report.problems) {
    if (outcome.bad_lines.empty() || outcome.bad_lines.back() != problem.line)
      outcome.bad_lines.push_back(problem.line);
  }
  return outcome;
}

const std::string kCorners =
    "task,worker,label\r\n"
    "t1,w1,a\r\n"
    "\"t,1\",\"w\"\"1\",\"a\nb\"\r\n"
    "\r\n"
    "t2,w\"2,\"\"\"\"\n"
    "\"t\r\n3\",w1,a\r"
    "t4,w1\r"
    "\"t5\"x,w1,a\n"
    "\"\",w1,a\n"
    "t6,w1,a,b\n\n"
    "\"a longer name, with more than sixty-four bytes in it, so that it spans blocks\",w1,\"b\"\"\"\r\n"
    "t7,w3,c";

TEST(Boundaries, EveryWindowAndChunkSize) {
  const RunContext one({.threads = 1});
  const RunContext two({.threads = 2});
  const Outcome expected = reference(kCorners);
  ASSERT_EQ(expected.bad_lines.size(), 4U);
  for (std::size_t window = 1; window <= kCorners.size() + 1; ++window) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{1000}}) {
      const Tuning tuning{.window_bytes = window, .chunk_bytes = chunk};
      ASSERT_EQ(ours(kCorners, tuning, window % 5 == 0 ? two : one), expected) << window << " " << chunk;
    }
  }
}

TEST(Boundaries, EveryShiftOfTheText) {
  const RunContext context({.threads = 1});
  // A first row of growing length moves all that follows through the blocks.
  for (std::size_t shift = 1; shift <= 130; ++shift) {
    std::string text = kCorners;
    text.insert(text.find("t1,"), fmt::format("{},w,a\n", std::string(shift, 's')));
    ASSERT_EQ(ours(text, {}, context), reference(text)) << shift;
  }
}

TEST(Boundaries, RandomTexts) {
  const RunContext context({.threads = 2});
  Rng rng(7);
  const std::string alphabet[] = {"a", "b", ",", ",", ",", "\n", "\n", "\r", "\r\n", "\"", "\"", "\"\"", "\xC3\xA9"};
  int compared = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = "task,worker,label\nt,w,a\n";
    const std::size_t length = rng.below(100);
    for (std::size_t i = 0; i < length; ++i) text += alphabet[rng.below(std::size(alphabet))];
    const Outcome expected = reference(text);
    if (expected.bad_lines.size() > 6) continue;  // each may have three problems, and only twenty are listed
    const Tuning tuning{.window_bytes = 1 + rng.below(60), .chunk_bytes = 1 + rng.below(40)};
    ASSERT_EQ(ours(text, tuning, context), expected) << testing::PrintToString(text);
    ++compared;
  }
  EXPECT_GT(compared, 2000);
}

TEST(Boundaries, CutsAreRowEnds) {
  const std::string text = kCorners;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::string padded = text.substr(0, size);
    padded.append(64, '\0');
    const std::string_view view(padded.data(), size);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{20}}) {
      for (const bool at_end : {false, true}) {
        const auto ends = ingest::cut_rows(view, at_end, chunk, ',', true);
        std::size_t before = 0;
        for (const std::size_t end : ends) {
          ASSERT_GT(end, before);
          before = end;
        }
        if (at_end) {
          ASSERT_EQ(before, size);
        }
      }
    }
  }
}

TEST(Boundaries, RowsThatAreTooLong) {
  const RunContext context({.threads = 1});
  const Tuning tuning{.window_bytes = 16, .chunk_bytes = 8, .max_row_bytes = 100};
  const std::string good = "task,worker,label\n" + std::string(80, 't') + ",w,a\n";
  EXPECT_EQ(ingest::read_dataset({"a.csv", good}, std::nullopt, {}, tuning, context).answers.answer_count(), 1U);
  for (const std::string& text : {"task,worker,label\nt,w,a\nt,\"w,a\n" + std::string(300, 'x') + "\n",
                                  "task,worker,label\nt,w,a\nt,w," + std::string(300, 'x') + "\n"}) {
    try {
      (void)ingest::read_dataset({"a.csv", text}, std::nullopt, {.lenient = true}, tuning, context);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("a.csv:3: a row is longer than 100 bytes"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace wisecrowd
