#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/csv_rows.hpp"
#include "ingest/columns.hpp"
#include "ingest/platforms/platform.hpp"
#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd::ingest::conll {
namespace {

constexpr std::string_view kBlanks = " \t";

/// A tag that is not there.
bool is_missing(std::string_view text) { return text.empty() || text == "?" || text == "_" || text == "-"; }

bool is_tag(std::string_view text) {
  ParsedTag tag;
  return is_missing(text) || parse_tag(text, tag);
}

/// What stands after "key =" in a line "# key = value"; nothing in other lines.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  const auto skip = [&](std::string_view text) {
    if (!line.starts_with(text)) return false;
    line.remove_prefix(text.size());
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    return true;
  };
  if (!skip("#") || !skip(key) || !skip("=")) return std::nullopt;
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

bool is_comment(std::string_view line) {
  return line.starts_with("# ") && (line.find(" = ") != std::string_view::npos || line.starts_with("# newdoc"));
}

/// A document while it is read: its tokens, and their tags by column.
struct Document {
  std::vector<std::string> tokens;
  std::vector<std::vector<std::string>> tags;
  std::uint64_t line = 0;
};

/// Lines of one token each, with a tag by every worker.
class ConllReader {
 public:
  explicit ConllReader(Collected& into) : into_(into) {}

  void read(const PlatformFile& file) {
    into_.rows_are_lines = true;
    const auto source = open_input(file.input, file.context);
    read_lines(*source, file, [&](std::string_view line, std::uint64_t number) {
      if (number != last_ + 1) blank_line();
      last_ = number;
      take_line(line, number);
    });
    submit();
  }

 private:
  void take_line(std::string_view line, std::uint64_t number) {
    if (is_comment(line)) return take_comment(line, number);
    if (line.starts_with("-DOCSTART-")) {
      marked_ = true;
      return begin_document("");
    }
    std::vector<std::string> fields = split(line);
    if (columns_ == 0) {
      columns_ = fields.size();
      if (take_header(fields)) return;
    }
    if (fields.size() != columns_ || columns_ < 2) {
      return into_.problem({.row = number}, "", line.substr(0, 60),
                           columns_ < 2 ? "a token and a tag by each worker are wanted, with blanks or tabs between"
                                        : fmt::format("has {} columns, and the first line {}: one for each worker",
                                                      fields.size(), columns_));
    }
    take_token(fields, number);
  }

  void take_comment(std::string_view line, std::uint64_t number) {
    if (const auto name = value_of(line, "newdoc id")) {
      marked_ = true;
      return begin_document(*name, number);
    }
    if (const auto name = value_of(line, "sent_id"); name && !marked_) begin_document(*name, number);
  }

  /// Divides documents, unless marks do.
  void blank_line() {
    if (!marked_ && document_column_ == kNoColumn) begin_document("");
  }

  void begin_document(std::string_view name, std::uint64_t number = 0) {
    current_.clear();
    if (name.empty()) return;
    current_ = name;
    if (documents_.contains(current_)) {
      into_.problem({.row = number}, "", name, "names a document for the second time: give each a name of its own");
    }
  }

  std::vector<std::string> split(std::string_view line) {
    if (columns_ == 0) {
      separator_ = line.find('\t') != std::string_view::npos  ? '\t'
                   : line.find(' ') == std::string_view::npos ? ','
                                                              : ' ';
    }
    if (separator_ == ',') {
      CsvRows row(line);
      (void)row.next();
      return row.fields();
    }
    std::vector<std::string> fields;
    const std::string_view ends = separator_ == '\t' ? std::string_view("\t") : kBlanks;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find_first_of(ends, at), line.size());
      if (separator_ == '\t' || end > at) fields.emplace_back(line.substr(at, end - at));
      at = end + 1;
    }
    return fields;
  }

  /// A first line without a tag names the workers.
  bool take_header(const std::vector<std::string>& fields) {
    const bool header = fields.size() > 1 && std::none_of(fields.begin() + 1, fields.end(), is_tag);
    if (header) {
      token_column_ = find_token_column(fields);
      const std::size_t document = find_document_column(fields);
      if (document != token_column_) document_column_ = document;
    }
    for (std::size_t c = 0; c < fields.size(); ++c) {
      if (c != token_column_ && c != document_column_) workers_.push_back(c);
    }
    for (const std::size_t c : workers_) {
      names_.push_back(header ? fields[c] : fmt::format("worker_{}", names_.size() + 1));
    }
    const std::set<std::string> different(names_.begin(), names_.end());
    if (different.size() != names_.size() || different.contains("")) {
      into_.problem({.row = last_}, "", "",
                    "two columns have the same name, or one has none: the first line names the "
                    "workers");
    }
    return header;
  }

  void take_token(const std::vector<std::string>& fields, std::uint64_t number) {
    for (const std::size_t c : workers_) {
      if (is_tag(fields[c])) continue;
      into_.problem(
          {.row = number}, "", fields[c],
          fmt::format("is no tag of the BIO scheme, in column {}: {}; one that is missing is ?", c + 1, kBioScheme));
      return;
    }
    if (document_column_ != kNoColumn) current_ = fields[document_column_];
    while (current_.empty()) {
      const std::string name = fmt::format("{}", ++unnamed_);
      if (!documents_.contains(name)) current_ = name;
    }
    auto [place, is_new] = documents_.try_emplace(current_);
    Document& document = place->second;
    if (is_new) {
      document.line = number;
      document.tags.resize(workers_.size());
      order_.push_back(current_);
    }
    document.tokens.push_back(fields[token_column_]);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      const std::string& tag = fields[workers_[w]];
      document.tags[w].push_back(is_missing(tag) ? "" : tag);
    }
  }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (&part == &parts.front() ? "" : "\n") + part;
    return text;
  }

  void submit() {
    for (const std::string& name : order_) {
      const Document& document = documents_.at(name);
      into_.documents[into_.tasks.intern(name)] = into_.texts.intern(joined(document.tokens));
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        const auto& tags = document.tags[w];
        if (std::all_of(tags.begin(), tags.end(), [](const std::string& tag) { return tag.empty(); })) continue;
        into_.say(into_.submit(name, names_[w], {.row = document.line}), "tags", Shape::tags, joined(tags));
      }
    }
  }

  Collected& into_;
  std::uint64_t last_ = 0;  // line that was not blank
  bool marked_ = false;     // something else than blank lines divides documents
  std::string current_;     // the document; empty: one without a name begins
  std::uint64_t unnamed_ = 0;
  std::size_t columns_ = 0, token_column_ = 0, document_column_ = kNoColumn;
  char separator_ = ' ';
  std::vector<std::size_t> workers_;  // their columns
  std::vector<std::string> names_;
  std::map<std::string, Document> documents_;
  std::vector<std::string> order_;
};

void read(const PlatformFile& file, Collected& into) { ConllReader(into).read(file); }

}  // namespace

Platform platform() {
  return {.info = {.title = "CoNLL",
                   .summary = "a line per token with a tag by each worker, blank lines between documents"},
          .read = read,
          .read_gold = read};
}

}  // namespace wisecrowd::ingest::conll
