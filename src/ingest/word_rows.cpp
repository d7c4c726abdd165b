#include "ingest/word_rows.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/hash.hpp"
#include "data/interner.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest {
namespace {

class WordRows final : public RowHandler {
 public:
  WordRows(const TableContext& table, Chunk& chunk, const WordColumns& columns)
      : RowHandler(table, chunk), columns_(columns) {}

  struct Entry {
    std::size_t name_end;
    std::uint64_t word;
    std::uint32_t count;
  };
  std::string characters;  // names of tasks
  std::vector<Entry> entries;

  void clear() override {
    characters.clear();
    entries.clear();
  }

 protected:
  bool take(const DelimitedRow& row, std::uint64_t line) override {
    const Field task = row.field(columns_.task), word = row.field(columns_.word), count = row.field(columns_.count);
    bool good = usable(task, columns_.task, line);
    good = usable(word, columns_.word, line) && good;
    if (!usable(count, columns_.count, line)) return false;
    std::uint32_t number = 0;
    const char* const end = count.text.data() + count.text.size();
    const auto [at, code] = std::from_chars(count.text.data(), end, number);
    if (code != std::errc() || at != end) {
      problem(line, table_.plan.names[columns_.count], count.text,
              "is no count: how often a word is in a text is a whole number; give other numbers as an .npy array");
      return false;
    }
    if (!good) return false;
    characters += task.text;
    entries.push_back({characters.size(), hash_bytes(word.text, 0), number});
    return true;
  }

 private:
  const WordColumns& columns_;
};

/// A word of a task.
struct TaskWord {
  std::uint32_t task;
  std::uint64_t word;
  std::uint64_t count;
};

}  // namespace

std::optional<WordColumns> find_word_columns(const RowScan& scan) {
  const WordColumns columns{scan.find_task(), scan.find("word"), scan.find("count")};
  if (scan.names().size() != 3 || columns.task == kNoColumn || columns.word == kNoColumn ||
      columns.count == kNoColumn) {
    return std::nullopt;
  }
  return columns;
}

TextTable read_word_counts(RowScan& scan, const WordColumns& columns, const FeatureOptions& options,
                           DataReport& report) {
  Interner names;
  std::vector<TaskWord> words;
  scan.scan(
      [&](const TableContext& context, Chunk& chunk) { return std::make_unique<WordRows>(context, chunk, columns); },
      [&](RowHandler& handler, std::uint64_t) {
        const auto& rows = static_cast<const WordRows&>(handler);
        std::size_t begin = 0;
        for (const WordRows::Entry& entry : rows.entries) {
          const auto name = std::string_view(rows.characters).substr(begin, entry.name_end - begin);
          begin = entry.name_end;
          words.push_back({names.intern(name), entry.word, entry.count});
        }
      });
  sort_problems(report);
  settle_problems(scan.file(), options.lenient, report);
  TextTable table;
  table.names = std::move(names).release();
  if (table.names.size() == 0) refuse_all_rows(scan.file(), report);
  std::sort(words.begin(), words.end(),
            [](const TaskWord& a, const TaskWord& b) { return a.task != b.task ? a.task < b.task : a.word < b.word; });
  std::size_t at = 0;
  for (std::uint32_t task = 0; task < table.names.size(); ++task) {
    while (at < words.size() && words[at].task == task) {
      std::uint64_t count = 0;
      const std::uint64_t word = words[at].word;
      for (; at < words.size() && words[at].task == task && words[at].word == word; ++at) count += words[at].count;
      if (count == 0) continue;
      table.counts.words.push_back(word);
      table.counts.counts.push_back(
          static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max())));
    }
    table.counts.ends.push_back(table.counts.words.size());
  }
  return table;
}

}  // namespace wisecrowd::ingest
