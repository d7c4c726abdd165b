#include "ingest/span_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/csv_text.hpp"
#include "ingest/column_aliases.hpp"
#include "ingest/column_search.hpp"
#include "ingest/first_row.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/platforms/tokens.hpp"
#include "ingest/problems.hpp"
#include "ingest/tag_rows.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kHeaderBytes = std::size_t{1} << 18;
constexpr std::string_view kLengthAliases[] = {"length", "tokens", "token_count", "n_tokens"};

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Whether the first row of a table names the ends of spans. The input can still be read from its beginning.
bool has_span_columns(Input& input, const Tuning& tuning, const RunContext& context) {
  const std::string head = look_at(input, kHeaderBytes, context);
  const Input beginning{input.name, std::string_view(head)};
  const auto source = open_input(beginning, context);
  WindowReader window(*source);
  std::uint64_t line = 1;
  if (head.find_first_not_of(" \t\r\n") == std::string::npos) return false;  // the reader says what is wrong with it
  return are_span_columns(read_first_row(window, display_name(input), TableFormat::automatic, tuning, line).names);
}

/// What is known of a document beside its spans.
struct KnownDocument {
  struct Listed {
    std::uint32_t position;
    std::uint64_t line;
    std::string text;
  };
  std::vector<Listed> listed;  ///< tokens, as a file lists them
  std::string text;
  std::vector<Token> words;  ///< of the text
  std::uint32_t tokens = 0;  ///< how many there are
  std::uint64_t places = 0;  ///< how many there are of what spans count: tokens, or characters of the text
};

/// A table whose rows are gone through; problems are collected and settled at its end.
class RowsOf {
 public:
  RowsOf(const Input& input, const ReadOptions& options, const Tuning& tuning, const RunContext& context)
      : file_{input, options, tuning, context} {
    found_.file = display_name(input);
  }
  using Fields = std::vector<std::string>;
  template <class Header, class Row>
  void read(const Header& header, const Row& row) {
    read_table_rows(
        file_, [&](const Fields& names) { names_ = names, header(names); },
        [&](const Fields& fields, std::uint64_t line) {
          ++found_.problems.rows;
          row(fields, line);
        },
        found_);
  }
  void problem(std::uint64_t line, std::size_t column, std::string_view value, std::string message) {
    DataReport& problems = found_.problems;
    ++problems.problem_count;
    if (problems.problems.size() == kMostProblemsShown) return;
    problems.problems.push_back({found_.file, line, printable(names_[column]), printable(value), std::move(message)});
  }
  /// Strict: throws if there was a problem.
  DataReport settle() {
    found_.problems.rows_dropped = found_.problems.problem_count;
    sort_problems(found_.problems);
    settle_problems(found_.file, file_.options.lenient, found_.problems);
    return std::move(found_.problems);
  }
  [[nodiscard]] const std::string& file() const noexcept { return found_.file; }

 private:
  PlatformFile file_;
  Collected found_;
  Fields names_;
};

/// How long documents are: by their tokens, their texts, or their numbers of tokens.
class KnownDocuments {
 public:
  enum class By { tokens, texts, lengths };

  void read(const Input& input, const ReadOptions& options, const Tuning& tuning, const RunContext& context,
            DataReport& notes) {
    RowsOf rows(input, options, tuning, context);
    std::size_t document = kNoColumn, position = kNoColumn, value = kNoColumn;
    rows.read(
        [&](const std::vector<std::string>& names) {
          document = find_document_column(names);
          position = find_alias(names, kPositionAliases);
          value = find_alias(names, kTokenAliases);
          by = position != kNoColumn ? By::tokens : value != kNoColumn ? By::texts : By::lengths;
          if (by == By::lengths) value = find_alias(names, kLengthAliases);
          if (document != kNoColumn && value != kNoColumn) return;
          throw Error(ErrorCode::bad_input,
                      fmt::format("{}: the header must name a document and its tokens (doc,position,token), its text "
                                  "(doc,text) or its number of tokens (doc,length)",
                                  rows.file()));
        },
        [&](const std::vector<std::string>& fields, std::uint64_t line) {
          if (fields[document].empty()) return rows.problem(line, document, "", "is empty: fill it in");
          if (by == By::tokens) return take_token(rows, fields, document, position, value, line);
          auto [place, is_new] = all_.try_emplace(fields[document]);
          if (!is_new) {
            return rows.problem(line, document, fields[document], "stands there twice: keep one of the rows");
          }
          if (by == By::texts) return take_text(place->second, fields[value]);
          const auto length = whole_number(fields[value]);
          if (!length || *length == 0 || *length > kLongestDocument) {
            all_.erase(place);
            return rows.problem(line, value, fields[value], "is not the number of tokens of a document");
          }
          place->second.tokens = *length;
          place->second.places = *length;
        });
    if (by == By::tokens) number_tokens(rows, position);
    const DataReport found = rows.settle();
    notes.warnings.insert(notes.warnings.end(), found.warnings.begin(), found.warnings.end());
  }

  [[nodiscard]] const KnownDocument* find(const std::string& name) const {
    const auto place = all_.find(name);
    return place == all_.end() ? nullptr : &place->second;
  }

  /// doc,position,token; empty where only lengths are known.
  [[nodiscard]] std::string token_table() const {
    if (by == By::lengths) return "";
    std::string table = "doc,position,token\n";
    for (const auto& [name, document] : all_) {
      for (std::uint32_t i = 0; i < document.tokens; ++i) {
        table += fmt::format("{},{},{}\n", csv_field(name), first + i,
                             csv_field(by == By::texts ? document.words[i].text : document.listed[i].text));
      }
    }
    return table;
  }

  By by = By::lengths;
  std::uint32_t first = 0;  ///< the position of the first token of a document

 private:
  void take_token(RowsOf& rows, const std::vector<std::string>& fields, std::size_t document, std::size_t position,
                  std::size_t value, std::uint64_t line) {
    const auto place = whole_number(fields[position]);
    if (!place || *place >= kLongestDocument) {
      return rows.problem(line, position, fields[position], "is not the position of a token");
    }
    all_[fields[document]].listed.push_back({*place, line, fields[value]});
  }

  static void take_text(KnownDocument& document, const std::string& text) {
    document.text = text;
    document.words = tokens_of(document.text, true);
    document.tokens = static_cast<std::uint32_t>(document.words.size());
    document.places = static_cast<std::uint64_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }

  void number_tokens(RowsOf& rows, std::size_t column) {
    first = 1;
    for (auto& [name, document] : all_) {
      std::stable_sort(document.listed.begin(), document.listed.end(),
                       [](const auto& a, const auto& b) { return a.position < b.position; });
      first = std::min(first, document.listed.front().position);
    }
    for (auto& [name, document] : all_) {
      for (std::size_t i = 0; i < document.listed.size(); ++i) {
        const auto& token = document.listed[i];
        if (token.position == first + i) continue;
        rows.problem(token.line, column, fmt::format("{}", token.position),
                     fmt::format("follows a gap in document '{}', or is there twice: number tokens {}, {}, {} …",
                                 printable(name), first, first + 1, first + 2));
        break;
      }
      document.tokens = static_cast<std::uint32_t>(document.listed.size());
      document.places = document.tokens;
    }
  }

  std::map<std::string, KnownDocument> all_;
};

/// The tags of one worker in one document while rows come in.
struct Marks {
  std::vector<std::uint64_t> lines;  ///< by token: the line of its span, 0 outside
  std::vector<std::string> tags;
};

/// Makes a table of tags of a table of spans.
class SpanReader {
 public:
  SpanReader(const KnownDocuments& documents, const Input& input, const ReadOptions& options, const Tuning& tuning,
             const RunContext& context, bool gold)
      : documents_(documents), options_(options), gold_(gold), rows_(input, options, tuning, context) {}

  std::string read(DataReport& notes) {
    rows_.read(
        [&](const std::vector<std::string>& names) {
          plan_ = plan_spans(rows_.file(), names, options_, gold_);
          last_belongs_ = normalised(names[plan_.numbers[1]]) == "last";
        },
        [&](const std::vector<std::string>& fields, std::uint64_t line) { take(fields, line); });
    const DataReport found = rows_.settle();
    notes.warnings.insert(notes.warnings.end(), found.warnings.begin(), found.warnings.end());
    notes.rows_dropped += found.rows_dropped;
    notes.problem_count += found.problem_count;
    if (marks_.empty()) refuse_all_rows(rows_.file(), found);
    return table();
  }

 private:
  [[nodiscard]] std::string table() const {
    std::string text = gold_ ? "doc,position,tag\n" : "doc,position,worker,tag\n";
    for (const auto& [key, marks] : marks_) {
      const std::string name = csv_field(key.first), worker = csv_field(key.second);
      for (std::size_t i = 0; i < marks.tags.size(); ++i) {
        const std::string tag = marks.tags[i].empty() ? "O" : csv_field(marks.tags[i]);
        text += gold_ ? fmt::format("{},{},{}\n", name, documents_.first + i, tag)
                      : fmt::format("{},{},{},{}\n", name, documents_.first + i, worker, tag);
      }
    }
    return text;
  }

  void take(const std::vector<std::string>& fields, std::uint64_t line) {
    for (const std::size_t column : {plan_.task, plan_.worker}) {
      if (column != kNoColumn && fields[column].empty()) {
        return rows_.problem(line, column, "", "is empty: fill it in or remove the row");
      }
    }
    const KnownDocument* const document = documents_.find(fields[plan_.task]);
    if (document == nullptr) {
      return rows_.problem(line, plan_.task, fields[plan_.task],
                           "is not among the documents whose tokens are known: add it there, or correct it");
    }
    const std::size_t start = plan_.numbers[0], end = plan_.numbers[1];
    const bool nothing = fields[start].empty() && fields[end].empty() && fields[plan_.label].empty();
    std::pair<std::uint64_t, std::uint64_t> tokens{0, 0};
    if (!nothing && !tokens_of_row(*document, fields, line, tokens)) return;
    Marks& marks = marks_[{fields[plan_.task], gold_ ? "" : fields[plan_.worker]}];
    marks.tags.resize(document->tokens);
    marks.lines.resize(document->tokens);
    for (std::uint64_t i = tokens.first; i < tokens.second; ++i) {
      if (marks.lines[i] == 0) continue;
      return rows_.problem(line, start, fields[start],
                           fmt::format("this span overlaps the one in line {}: a token has one tag, so keep one of "
                                       "them",
                                       marks.lines[i]));
    }
    for (std::uint64_t i = tokens.first; i < tokens.second; ++i) {
      marks.lines[i] = line;
      marks.tags[i] = (i == tokens.first ? "B-" : "I-") + fields[plan_.label];
    }
  }

  /// From the first token to the one after the last.
  bool tokens_of_row(const KnownDocument& document, const std::vector<std::string>& fields, std::uint64_t line,
                     std::pair<std::uint64_t, std::uint64_t>& tokens) {
    const bool characters = documents_.by == KnownDocuments::By::texts;
    const std::string_view noun = characters ? "characters" : "tokens";
    const std::uint64_t from = characters ? 0 : documents_.first;
    std::uint64_t ends[2] = {0, 0};
    for (const std::size_t side : {0, 1}) {
      const std::string& text = fields[plan_.numbers[side]];
      const auto value = whole_number(text);
      if (!value || *value < from) {
        rows_.problem(
            line, plan_.numbers[side], text,
            fmt::format("is no place in a document: {} are counted {}, {}, {} …", noun, from, from + 1, from + 2));
        return false;
      }
      ends[side] = *value - from;
    }
    if (last_belongs_) ++ends[1];
    if (ends[0] >= ends[1]) {
      rows_.problem(line, plan_.numbers[1], fields[plan_.numbers[1]],
                    last_belongs_
                        ? fmt::format("is before the first place of the span, {}", fields[plan_.numbers[0]])
                        : fmt::format("is not behind the start of the span, {}: an end is the place after the "
                                      "last one; call the column last if it is the last one",
                                      fields[plan_.numbers[0]]));
      return false;
    }
    if (ends[1] > document.places) {
      rows_.problem(line, plan_.numbers[1], fields[plan_.numbers[1]],
                    fmt::format("is beyond the document '{}', which has {} {}", printable(fields[plan_.task]),
                                document.places, noun));
      return false;
    }
    if (fields[plan_.label].empty()) {
      rows_.problem(line, plan_.label, "",
                    "is empty: every span has a type; leave start, end and type blank where a "
                    "worker marked nothing");
      return false;
    }
    tokens = {ends[0], ends[1]};
    return !characters || touched(document, fields, line, tokens);
  }

  /// Characters as the tokens that they touch.
  bool touched(const KnownDocument& document, const std::vector<std::string>& fields, std::uint64_t line,
               std::pair<std::uint64_t, std::uint64_t>& tokens) {
    const auto& words = document.words;
    const auto first =
        std::partition_point(words.begin(), words.end(), [&](const Token& word) { return word.end <= tokens.first; });
    const auto end =
        std::partition_point(first, words.end(), [&](const Token& word) { return word.begin < tokens.second; });
    tokens = {static_cast<std::uint64_t>(first - words.begin()), static_cast<std::uint64_t>(end - words.begin())};
    if (first != end) return true;
    rows_.problem(line, plan_.numbers[0], fields[plan_.numbers[0]], "this span touches no word of the text");
    return false;
  }

  const KnownDocuments& documents_;
  const ReadOptions& options_;
  bool gold_;
  RowsOf rows_;
  ColumnPlan plan_;
  bool last_belongs_ = false;
  std::map<std::pair<std::string, std::string>, Marks> marks_;  // by document and worker
};

}  // namespace

TagInputs tags_of_spans(SequenceInputs inputs, const ReadOptions& options, const Tuning& tuning,
                        const RunContext& context) {
  TagInputs made{std::move(inputs), options, nullptr, nullptr, nullptr, {}};
  const bool tables = options.format != TableFormat::jsonl && options.layout != TableLayout::wide;
  const bool named_otherwise = !options.task_column.empty() && options.value_columns.empty();
  const bool spans = tables && (!options.value_columns.empty() ||
                                (!named_otherwise && has_span_columns(made.inputs.answers, tuning, context)));
  const bool gold_named = !options.gold_task_column.empty() && options.gold_value_columns.empty();
  const bool gold_spans = made.inputs.gold && (!options.gold_value_columns.empty() ||
                                               (!gold_named && has_span_columns(*made.inputs.gold, tuning, context)));
  if (!spans && !gold_spans) return made;
  if (!made.inputs.tokens) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: spans do not say how long documents are: give `tokens`, a table that lists them "
                            "(doc,position,token), or holds texts (doc,text) or numbers of tokens (doc,length)",
                            display_name(spans ? made.inputs.answers : *made.inputs.gold)));
  }
  KnownDocuments documents;
  documents.read(*made.inputs.tokens, options, tuning, context, made.found);
  if (!spans && documents.by != KnownDocuments::By::tokens) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: answers are tags of tokens, so this table must list these: doc,position,token",
                            display_name(*made.inputs.tokens)));
  }
  const auto replace = [](Input& input, std::shared_ptr<const std::string>& text, std::string table, const char* what) {
    text = std::make_shared<const std::string>(std::move(table));
    input = {display_name(input) + what, *text};
  };
  if (spans) {
    replace(made.inputs.answers, made.answers,
            SpanReader(documents, made.inputs.answers, options, tuning, context, false).read(made.found),
            " (its spans)");
    made.options.task_column = made.options.worker_column = made.options.label_column = "";
    made.options.value_columns.clear();
    made.options.format = TableFormat::csv;
  }
  if (gold_spans) {
    replace(*made.inputs.gold, made.gold,
            SpanReader(documents, *made.inputs.gold, options, tuning, context, true).read(made.found), " (its spans)");
    made.options.gold_task_column = made.options.gold_label_column = "";
    made.options.gold_value_columns.clear();
  }
  const std::string tokens = documents.token_table();
  if (tokens.empty()) {
    made.inputs.tokens.reset();
  } else {
    replace(*made.inputs.tokens, made.tokens, tokens, " (its tokens)");
  }
  return made;
}

}  // namespace wisecrowd::ingest
