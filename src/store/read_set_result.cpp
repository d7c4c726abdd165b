#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/csv_rows.hpp"
#include "base/csv_text.hpp"
#include "store/read_result.hpp"

namespace wisecrowd {
namespace {

/// Columns of a table of ours, by name; `header` must stand at the first row.
class OurColumns {
 public:
  OurColumns(const CsvRows& header, const std::string& path) : header_(header), path_(path) {}
  [[nodiscard]] bool has(const std::string& name) const { return header_.column(name) != header_.fields().size(); }
  [[nodiscard]] std::size_t at(const std::string& name) const {
    if (!has(name)) store::refuse_file(path_, fmt::format("has no column '{}'", name));
    return header_.column(name);
  }

 private:
  const CsvRows& header_;
  const std::string& path_;
};

double share_in(const CsvRows& row, std::size_t column, const std::string& path) {
  const double value = row.number(column);
  if (!(value >= 0 && value <= 1)) {
    store::refuse_file(path, fmt::format("has something other than a share in record {}", row.row()));
  }
  return value;
}

void expect_name(const CsvRows& rows, const NameTable& names, std::size_t at, const std::string& path) {
  if (at == names.size() || rows.fields().front() != names[at]) {
    store::refuse_file(path, fmt::format("has another name than expected in record {}", rows.row()));
  }
}

/// Numbers with `|` between, as they stand beside the candidates.
std::vector<double> shares_in(std::string_view text, const CsvRows& row, const std::string& path) {
  std::vector<double> shares;
  while (!text.empty()) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || !(value >= 0 && value <= 1)) {
      store::refuse_file(path, fmt::format("has something other than a share in record {}", row.row()));
    }
    shares.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  return shares;
}

/// The classes of a list as SetText writes it.
std::vector<ClassId> classes_in(const std::string& text, const std::map<std::string, ClassId, std::less<>>& ids,
                                const CsvRows& row, const std::string& path) {
  std::vector<std::string> names;
  if (text.starts_with('[')) {
    const auto list = nlohmann::ordered_json::parse(text, nullptr, false);
    for (const auto& item : list.is_array() ? list : nlohmann::ordered_json::array()) {
      names.push_back(item.is_string() ? item.get<std::string>() : "");
    }
  } else {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find('|', from), text.size());
      names.push_back(text.substr(from, end - from));
      from = end + 1;
    }
  }
  std::vector<ClassId> classes;
  for (const std::string& name : names) {
    const auto at = ids.find(name);
    if (at == ids.end()) store::refuse_file(path, fmt::format("names an unknown class in record {}", row.row()));
    classes.push_back(at->second);
  }
  return classes;
}

/// A row of sets.csv where all classes have columns.
void read_all_shares(const CsvRows& row, const std::vector<std::size_t>& columns, const std::string& path,
                     SetFit& fit) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    fit.candidates.push_back(ClassId(k));
    fit.probability.push_back(share_in(row, columns[k], path));
  }
}

void read_set_file(const std::string& path, const SetAnswers& answers, SetFit& fit) {
  std::map<std::string, ClassId, std::less<>> ids;
  for (std::size_t k = 0; k < answers.class_count(); ++k) ids.emplace(answers.class_names()[k], ClassId(k));
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  const OurColumns header(rows, path);
  const std::size_t set_column = header.at("set");
  const bool listed = header.has("candidates") && header.has("probabilities");
  const std::size_t shares = listed ? header.at("probabilities") : 0;
  const std::size_t names = listed ? header.at("candidates") : 0;
  std::vector<std::size_t> columns;
  for (std::size_t k = 0; k < fit.class_count && !listed; ++k) {
    columns.push_back(header.at(fmt::format("p_{}", answers.class_names()[k])));
  }
  fit.offsets.assign(1, 0);
  std::size_t at = 0;
  for (; rows.next(); ++at) {
    expect_name(rows, answers.task_names(), at, path);
    const bool known = set_column < rows.fields().size() && !rows.fields()[set_column].empty();
    fit.known.push_back(known ? 1 : 0);
    if (known && !listed) read_all_shares(rows, columns, path, fit);
    if (known && listed) {
      const auto candidates = classes_in(rows.fields().at(names), ids, rows, path);
      const auto own = shares_in(rows.fields().at(shares), rows, path);
      if (own.size() != candidates.size()) {
        store::refuse_file(path, fmt::format("has {} probabilities and not {} in record {}", own.size(),
                                             candidates.size(), rows.row()));
      }
      fit.candidates.insert(fit.candidates.end(), candidates.begin(), candidates.end());
      fit.probability.insert(fit.probability.end(), own.begin(), own.end());
    }
    fit.offsets.push_back(fit.candidates.size());
  }
  if (at != answers.task_count()) {
    store::refuse_file(path, fmt::format("has {} rows, not {}", at, answers.task_count()));
  }
}

void read_set_worker_file(const std::string& path, const SetAnswers& answers, SetFit& fit) {
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  const OurColumns header(rows, path);
  std::vector<std::size_t> hit, clear;
  for (std::size_t k = 0; k < fit.class_count; ++k) {
    hit.push_back(header.at(fmt::format("sensitivity_{}", answers.class_names()[k])));
    clear.push_back(header.at(fmt::format("specificity_{}", answers.class_names()[k])));
  }
  std::size_t at = 0;
  for (; rows.next(); ++at) {
    expect_name(rows, answers.worker_names(), at, path);
    for (const std::size_t column : hit) fit.sensitivity.push_back(share_in(rows, column, path));
    for (const std::size_t column : clear) fit.specificity.push_back(share_in(rows, column, path));
  }
  if (at != answers.worker_count()) {
    store::refuse_file(path, fmt::format("has {} rows, not {}", at, answers.worker_count()));
  }
}

std::uint64_t known_sets(const SetData& data) {
  std::uint64_t known = 0;
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) known += data.has_gold(TaskId(t)) ? 1 : 0;
  return known;
}

}  // namespace

StoredRun store::read_sets(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                           const RunContext& context) {
  const RunInputs inputs = inputs_of(stored, folder, options);
  SetData data = wisecrowd::read_sets(inputs.answers, inputs.gold, reading_of(stored), context);
  const SetAnswers& answers = data.answers;
  check_same(stored, answers, answers.content_hash(), folder, inputs.answers);

  SetFit fit;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.task_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.class_count = answers.class_count();
  fit.threshold = stored.set_threshold;
  fit.class_prior = std::move(stored.class_prior);
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  read_set_file(file("sets.csv"), answers, fit);
  read_set_worker_file(file("workers.csv"), answers, fit);

  std::optional<SetEvaluation> evaluation = std::move(stored.set_evaluation);
  if (takes_new_gold(options, known_sets(data), stored.record)) evaluation = evaluate_sets(fit, data.gold);
  SetResult result = make_result(std::move(data), std::move(fit), std::move(stored.record));
  for (SetWorkerSummary& worker : result.workers) {
    for (double* value : {&worker.sensitivity, &worker.specificity}) *value = written_number(*value);
  }
  result.evaluation = std::move(evaluation);
  StoredRun run;
  run.result = std::move(result);
  return run;
}

}  // namespace wisecrowd
