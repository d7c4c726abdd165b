#include "ingest/worker_changes.hpp"

#include <fmt/core.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/csv_rows.hpp"
#include "ingest/columns.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace ingest {
namespace {

constexpr std::uint32_t kExcluded = 0xFFFFFFFF;

/// The last name of everybody who has another: chains (a is b, b is c) are followed.
class Merges {
 public:
  explicit Merges(const std::vector<WorkerMerge>& merges) {
    for (const auto& [name, into] : merges) {
      require_name(name, "merged workers: name");
      require_name(into, "merged workers: name");
      const auto [at, is_new] = into_.emplace(name, into);
      if (!is_new && at->second != into) {
        throw Error(ErrorCode::bad_input, fmt::format("merged workers: '{}' cannot become both '{}' and '{}': keep one",
                                                      printable(name), printable(at->second), printable(into)));
      }
    }
    for (const auto& [name, into] : merges) (void)last_name(name);
  }
  [[nodiscard]] std::string_view last_name(std::string_view name) const {
    std::string_view at = name;
    for (std::size_t step = 0; step <= into_.size(); ++step) {
      const auto next = into_.find(std::string(at));
      if (next == into_.end() || next->second == at) return at;
      at = next->second;
    }
    throw Error(ErrorCode::bad_input, fmt::format("merged workers: '{}' becomes itself again by way of others: keep "
                                                  "one name for them",
                                                  printable(name)));
  }

 private:
  std::unordered_map<std::string, std::string> into_;
};

void warn_of_unknown(const std::vector<std::string>& unknown, std::size_t asked, std::string_view what,
                     const std::string& file, DataReport& report) {
  if (unknown.empty()) return;
  std::vector<std::string> quoted;
  for (const std::string& name : unknown) quoted.push_back(fmt::format("'{}'", printable(name)));
  report.warnings.push_back({"workers_not_found",
                             fmt::format("{}: {} of {} workers to be {} gave no answers: {}.", file, unknown.size(),
                                         asked, what, shortened_list(quoted, 3)),
                             "Are the names spelled alike?"});
}

/// Puts new ids in place of the old and closes the gaps of those excluded.
void translate(Table& table, const std::vector<std::uint32_t>& new_ids, bool keep_lines) {
  std::uint64_t row = 0;
  for (auto& piece : table.pieces) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const std::uint32_t id = new_ids[piece.workers[i]];
      if (id == kExcluded) continue;
      piece.tasks[kept] = piece.tasks[i];
      piece.workers[kept] = id;
      piece.payload[kept] = piece.payload[i];
      if (keep_lines) table.kept_rows.push_back(row);
      ++kept;
    }
    piece.tasks.resize(kept);
    piece.workers.resize(kept);
    piece.payload.resize(kept);
  }
}

}  // namespace

void change_workers(const ReadOptions& options, Table& table, NameTable& workers, DataReport& report) {
  if (options.exclude_workers.empty() && options.merge_workers.empty()) return;
  const Merges merges(options.merge_workers);
  const std::unordered_set<std::string> excluded(options.exclude_workers.begin(), options.exclude_workers.end());
  for (const std::string& name : excluded) require_name(name, "excluded workers: name");

  std::unordered_map<std::string_view, std::uint32_t> id_of_name;
  std::unordered_set<std::string> met;  // names of the request that occur
  std::vector<std::string> left;
  std::vector<std::uint32_t> new_ids(workers.size(), kExcluded);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const std::string name(workers[w]);
    const std::string_view last = merges.last_name(name);
    const bool by_own_name = excluded.contains(name);
    const bool by_last_name = excluded.contains(std::string(last));
    met.insert(name);
    if (by_last_name) met.emplace(last);
    if (by_own_name || by_last_name) continue;
    // The views are of names that outlive this loop: those of the table and of the request.
    const auto [at, is_new] =
        id_of_name.try_emplace(last == name ? workers[w] : last, static_cast<std::uint32_t>(left.size()));
    if (is_new) left.emplace_back(last);
    new_ids[w] = at->second;
  }
  std::vector<std::string> unknown;
  for (const std::string& name : options.exclude_workers) {
    if (!met.contains(name)) unknown.push_back(name);
  }
  warn_of_unknown(unknown, options.exclude_workers.size(), "excluded", table.file, report);
  unknown.clear();
  for (const WorkerMerge& merge : options.merge_workers) {
    if (!met.contains(merge.name)) unknown.push_back(merge.name);
  }
  warn_of_unknown(unknown, options.merge_workers.size(), "merged", table.file, report);
  if (left.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: all {} workers are excluded, so no answer is left", table.file, workers.size()));
  }
  translate(table, new_ids,
            options.duplicates == DuplicatePolicy::reject || !table.numbers.empty() || !table.rights.empty());
  workers = NameTable(left);
}

void name_workers(const ReadOptions& options, const std::string& file, CategoryData& data, DataReport& report) {
  if (options.trusted_workers.empty() && options.worker_groups.empty()) return;
  const NameTable& names = data.answers.worker_names();
  std::unordered_map<std::string_view, std::uint32_t> id_of;
  for (std::uint32_t w = 0; w < names.size(); ++w) id_of.emplace(names[w], w);
  const auto find = [&](const std::string& name) {
    return id_of.find(options.safe_names ? spreadsheet_safe(name) : name);
  };
  for (const std::string& name : options.trusted_workers) {
    const auto at = find(name);
    if (at == id_of.end()) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: '{}' is to be trusted, but no worker of that name answered: "
                                                    "name one of those in the file",
                                                    file, printable(name)));
    }
    data.trusted.push_back(WorkerId{at->second});
  }
  if (options.worker_groups.empty()) return;
  std::unordered_map<std::string_view, std::uint32_t> label_of;
  std::vector<std::string> unknown;
  constexpr std::uint32_t kAlone = 0xFFFFFFFF;
  data.worker_groups.assign(names.size(), kAlone);
  for (const WorkerGroup& entry : options.worker_groups) {
    const auto at = find(entry.worker);
    if (at == id_of.end()) {
      unknown.push_back(entry.worker);
      continue;
    }
    const std::uint32_t label =
        label_of.emplace(entry.group, static_cast<std::uint32_t>(label_of.size())).first->second;
    std::uint32_t& own = data.worker_groups[at->second];
    if (own != kAlone && own != label) {
      throw Error(ErrorCode::bad_input, fmt::format("groups: worker '{}' is in two groups, '{}' among them: keep one",
                                                    printable(entry.worker), printable(entry.group)));
    }
    own = label;
  }
  auto next = static_cast<std::uint32_t>(label_of.size());
  for (std::uint32_t& label : data.worker_groups) label = label == kAlone ? next++ : label;
  warn_of_unknown(unknown, options.worker_groups.size(), "put into groups", file, report);
}

}  // namespace ingest

namespace {

/// The rows of a small file of ours or the user's making.
struct NameRows {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> numbers;  ///< of each row in the file, from 1
};

NameRows read_name_rows(const std::string& path) {
  std::string text = read_text_file(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  NameRows found;
  CsvRows rows(text);
  while (rows.next()) {
    std::vector<std::string> fields = rows.fields();
    if (fields.back().ends_with('\r')) fields.back().pop_back();
    while (!fields.empty() && fields.back().empty()) fields.pop_back();  // as spreadsheets write short lines
    if (fields.empty()) continue;
    found.rows.push_back(std::move(fields));
    found.numbers.push_back(rows.row());
  }
  if (found.rows.empty()) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: there is no name in it: write one per line", path));
  }
  return found;
}

std::string place(const std::string& path, std::size_t row) { return fmt::format("{}:{}: name", path, row); }

}  // namespace

std::vector<std::string> read_worker_list(const std::string& path) {
  const NameRows found = read_name_rows(path);
  const std::size_t column = ingest::find_worker_column(found.rows.front());
  const bool has_header = column != ingest::kNoColumn;
  std::vector<std::string> names;
  for (std::size_t r = has_header ? 1 : 0; r < found.rows.size(); ++r) {
    const auto& fields = found.rows[r];
    if (!has_header && fields.size() > 1) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}:{}: the line has {} fields: write one name per line (in quotes if it holds a comma), "
                              "or give a table whose header names the worker column",
                              path, found.numbers[r], fields.size()));
    }
    const std::size_t at = has_header ? column : 0;
    require_name(at < fields.size() ? fields[at] : "", place(path, found.numbers[r]));
    names.push_back(fields[at]);
  }
  return names;
}

std::vector<WorkerMerge> read_worker_merges(const std::string& path) {
  const NameRows found = read_name_rows(path);
  const auto& first = found.rows.front();
  const bool has_header =
      first.size() == 2 && ingest::normalised(first[0]) == "old" && ingest::normalised(first[1]) == "new";
  std::vector<WorkerMerge> merges;
  for (std::size_t r = has_header ? 1 : 0; r < found.rows.size(); ++r) {
    const auto& fields = found.rows[r];
    if (fields.size() < 2 || (has_header && fields.size() != 2)) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}:{}: the line has {} name{}: {}", path, found.numbers[r], fields.size(),
                              fields.size() == 1 ? "" : "s",
                              has_header ? "two are wanted, the old and the new"
                                         : "write the names of one worker into one line, the one to keep first"));
    }
    for (const std::string& name : fields) require_name(name, place(path, found.numbers[r]));
    if (has_header) {
      merges.push_back({fields[0], fields[1]});
    } else {
      for (std::size_t i = 1; i < fields.size(); ++i) merges.push_back({fields[i], fields[0]});
    }
  }
  return merges;
}

std::vector<WorkerGroup> read_worker_groups(const std::string& path) {
  const NameRows found = read_name_rows(path);
  const auto& first = found.rows.front();
  std::size_t worker = ingest::find_worker_column(first), group = ingest::kNoColumn;
  for (std::size_t c = 0; c < first.size(); ++c) {
    if (ingest::normalised(first[c]) == "group") group = c;
  }
  const bool has_header = worker != ingest::kNoColumn && group != ingest::kNoColumn;
  if (!has_header) worker = 0, group = 1;
  std::vector<WorkerGroup> groups;
  for (std::size_t r = has_header ? 1 : 0; r < found.rows.size(); ++r) {
    const auto& fields = found.rows[r];
    if (fields.size() <= std::max(worker, group) || (!has_header && fields.size() != 2)) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}:{}: the line has {} field{}: write a worker and its group into each line, under the "
                              "header worker,group",
                              path, found.numbers[r], fields.size(), fields.size() == 1 ? "" : "s"));
    }
    require_name(fields[worker], place(path, found.numbers[r]));
    require_name(fields[group], place(path, found.numbers[r]));
    groups.push_back({fields[worker], fields[group]});
  }
  return groups;
}

}  // namespace wisecrowd
