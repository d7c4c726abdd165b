#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/byte_source.hpp"
#include "ingest/platforms/collected.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/platforms.hpp"

namespace wisecrowd::ingest {

/// What the beginning of a file tells.
struct FileHead {
  std::string name;  ///< of the file
  bool is_json = false;
  std::set<std::string> keys;  ///< JSON: paths of keys of the first object, "annotations/result"; lists are passed
  std::vector<std::string> columns;  ///< tables: the first row

  [[nodiscard]] bool has(std::string_view key) const { return keys.contains(std::string(key)); }
  [[nodiscard]] bool has_column(std::string_view column) const;
  [[nodiscard]] bool has_column_like(std::string_view beginning) const;
};
[[nodiscard]] FileHead head_of(const std::string& name, std::string_view bytes);

/// What a reader of a platform's files is given.
struct PlatformFile {
  Input input;
  const ReadOptions& options;
  const Tuning& tuning;
  const RunContext& context;
  bool wants_texts = false;  ///< the texts of all tasks, because spans in them are asked for
};

/// A platform: what its file is called and how it is read.
struct Platform {
  PlatformInfo info;
  bool (*recognises)(const FileHead& head) = nullptr;
  void (*read)(const PlatformFile& file, Collected& into) = nullptr;
  /// The same for a file of gold, where the platform has such files of its own.
  void (*read_gold)(const PlatformFile& file, Collected& into) = nullptr;
  /// Ordinary tables with these columns for task, worker and label need no reader of their own.
  std::vector<std::string> columns = {};
  std::vector<std::string> time_names = {};  ///< what the time of an answer is called there
};
[[nodiscard]] const Platform& platform_entry(std::string_view name);
/// The platform that such a file can only be of, or null.
[[nodiscard]] const Platform* recognised(const FileHead& head);

using TableRow = std::function<void(const std::vector<std::string>& fields, std::uint64_t line)>;
using TableHeader = std::function<void(const std::vector<std::string>& names)>;
/// Throws bad_input unless all of these were found; kNoColumn means that they were not.
void require_columns(const std::string& file, std::string_view platform,
                     const std::vector<std::pair<std::string, std::size_t>>& found);
/// Calls header(names), then row(fields, line) for every row of a table; rows with problems are noted.
void read_table_rows(const PlatformFile& file, const TableHeader& header, const TableRow& row, Collected& into);

/// Calls line(text, number) for every line of a source that is not blank.
void read_lines(ByteSource& source, const PlatformFile& file,
                const std::function<void(std::string_view text, std::uint64_t number)>& line);

/// Inputs as the readers of tables want them: those of a platform as tables in memory.
struct PreparedInputs {
  Input answers;
  std::optional<Input> gold, tokens;
  ReadOptions options;
  std::shared_ptr<const PlatformTables> tables;  ///< holds the memory; null where the answers are an ordinary table

  /// Adds what the reader of the platform has to say.
  void tell(DataReport* report) const;
};

/// Recognises, or takes as it is told, the platform of the answers. `answers_kind` is how they will be read; `timed`:
/// times are wanted, too.
[[nodiscard]] PreparedInputs prepare_inputs(const std::string& answers, const std::optional<std::string>& gold,
                                            std::string_view answers_kind, bool timed, const ReadOptions& options,
                                            const RunContext& context);

/// Tables of one question out of all that was collected.
[[nodiscard]] PlatformTables make_tables(Collected& collected, const Platform& platform,
                                         const std::string& answers_kind, const ReadOptions& options);
/// The table of a file of gold: task,truth, or for tags doc,position,tag.
[[nodiscard]] std::string gold_table(const Collected& truths);
/// Everything that a file holds.
[[nodiscard]] Collected collect(const Platform& platform, const PlatformFile& file);

}  // namespace wisecrowd::ingest
