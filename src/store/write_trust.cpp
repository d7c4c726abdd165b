#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/csv_rows.hpp"
#include "base/output_folder.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "store/value_tables.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/trust_files.hpp"

namespace wisecrowd {
namespace {

constexpr auto kOrderNames = enum_names<AnswerOrder>({{AnswerOrder::unknown, "unknown"},
                                                      {AnswerOrder::rows, "rows"},
                                                      {AnswerOrder::numbers, "numbers"},
                                                      {AnswerOrder::dates, "dates"}});

/// Reads a cell back; false if it is none of its kind.
bool read_cell(const std::string& field, TableColumn& column) {
  struct Visitor {
    const std::string& field;
    bool operator()(std::vector<std::string>& list) const {
      list.push_back(field);
      return true;
    }
    bool operator()(std::vector<double>& list) const {
      double value = std::numeric_limits<double>::quiet_NaN();
      const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
      list.push_back(value);
      return field.empty() || (code == std::errc() && end == field.data() + field.size());
    }
    bool operator()(std::vector<std::uint64_t>& list) const {
      std::uint64_t value = 0;
      const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
      list.push_back(value);
      return code == std::errc() && end == field.data() + field.size();
    }
    bool operator()(std::vector<bool>& list) const {
      list.push_back(field == "yes");
      return field == "yes" || field == "no";
    }
  };
  return std::visit(Visitor{field}, column.values);
}

void read_value_table(const std::string& path, ValueTable& table) {
  const std::string content = read_text_file(path);
  CsvRows rows(content);
  const auto refuse = [&](std::size_t row, const std::string& what) {
    throw Error(ErrorCode::bad_input, fmt::format("{}:{}: {}: was it changed? Run trust again", path, row, what));
  };
  if (!rows.next() || rows.fields().size() != table.columns.size()) refuse(1, "the header is not that of this table");
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (rows.fields()[c] != table.columns[c].name) {
      refuse(1, fmt::format("column {} is '{}', not '{}'", c + 1, printable(rows.fields()[c]), table.columns[c].name));
    }
  }
  while (rows.next()) {
    if (rows.fields().size() != table.columns.size()) refuse(rows.row(), "the row has another number of fields");
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (!read_cell(rows.fields()[c], table.columns[c])) {
        refuse(rows.row(),
               fmt::format("column '{}': '{}' is no such value", table.columns[c].name, printable(rows.fields()[c])));
      }
    }
  }
}

nlohmann::ordered_json trust_record(const TrustRun& run) {
  store::StoredRecord stored;
  stored.record = run.record;
  stored.fit = run.fit;
  stored.tie_rule = run.fit.tie_rule;
  stored.class_prior = run.fit.class_prior;
  const CategoryAnswers& answers = run.data.answers;
  stored.tasks = answers.task_count();
  stored.workers = answers.worker_count();
  stored.answers = answers.answer_count();
  for (std::size_t k = 0; k < answers.class_count(); ++k) stored.classes.emplace_back(answers.class_names()[k]);
  nlohmann::ordered_json json = store::record_json(std::move(stored));
  const TrustStudy& study = run.study;
  std::vector<std::string> trusted;
  for (const WorkerId worker : run.data.trusted) trusted.emplace_back(answers.worker_names()[index(worker)]);
  nlohmann::ordered_json advice = nlohmann::ordered_json::object();
  for (std::size_t a = 0; a < kWorkerAdviceCount; ++a) {
    const auto what = static_cast<WorkerAdvice>(a);
    advice[std::string(to_string(what))] = std::count_if(study.workers.begin(), study.workers.end(),
                                                         [&](const auto& judged) { return judged.advice == what; });
  }
  json["trust"] = {{"order", name_in(kOrderNames, study.order)},
                   {"trusted", trusted},
                   {"advice", advice},
                   {"groups", study.dependence.groups.size()},
                   {"pairs", study.dependence.pairs.size()},
                   {"attacked_tasks", study.dependence.attacked.size()},
                   {"drift_alarms", study.drift.alarms.size()},
                   {"cannot_be_known", trust_limits(run.data, study)}};
  return json;
}

}  // namespace

Status write_trust(const TrustRun& run, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  for (const ValueTable& table : trust_tables(run.data.answers, run.study)) {
    const bool complete = add_file(folder, table.name + ".csv",
                                   [&](OutputFile& file) { return store::write_value_table(file, table, context); });
    if (!complete) return Status::cancelled;
  }
  folder.commit(trust_record(run));
  return Status::converged;
}

std::string trust_json(const TrustRun& run) { return json_text(trust_record(run)); }

std::vector<ValueTable> read_trust_tables(const std::string& folder) {
  std::vector<ValueTable> tables = trust_tables({}, {});  // no rows, but all columns
  for (ValueTable& table : tables) read_value_table(folder + "/" + table.name + ".csv", table);
  return tables;
}

}  // namespace wisecrowd
