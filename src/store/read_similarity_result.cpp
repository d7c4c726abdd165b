#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "base/csv_rows.hpp"
#include "store/read_result.hpp"
#include "wisecrowd/read_similarities.hpp"

namespace wisecrowd {
namespace {

/// Goes through a table of ours, row by row, with columns that must be there.
class OwnTable {
 public:
  OwnTable(std::string path, std::initializer_list<const char*> columns)
      : path_(std::move(path)), text_(read_text_file(path_)), rows_(text_) {
    if (!rows_.next()) store::refuse_file(path_, "is empty");
    for (const char* name : columns) {
      at_.push_back(rows_.column(name));
      if (at_.back() == rows_.fields().size()) store::refuse_file(path_, fmt::format("has no column '{}'", name));
    }
  }
  bool next() { return rows_.next(); }
  [[nodiscard]] const std::string& text(std::size_t column) const {
    if (at_[column] >= rows_.fields().size()) {
      store::refuse_file(path_, fmt::format("has too few fields in record {}", rows_.row()));
    }
    return rows_.fields()[at_[column]];
  }
  void require(std::size_t column, std::string_view name) const {
    if (text(column) != name) {
      store::refuse_file(path_, fmt::format("has another name than expected in record {}", rows_.row()));
    }
  }
  [[nodiscard]] double share(std::size_t column) const {
    const double value = rows_.number(at_[column]);
    if (!(value >= 0 && value <= 1)) {
      store::refuse_file(path_, fmt::format("has something other than a share in record {}", rows_.row()));
    }
    return value;
  }
  void require_rows(std::size_t found, std::size_t wanted) const {
    if (found != wanted) store::refuse_file(path_, fmt::format("has {} rows, not {}", found, wanted));
  }

 private:
  std::string path_, text_;
  CsvRows rows_;
  std::vector<std::size_t> at_;
};

void read_clusters(const std::string& path, const SimilarityAnswers& answers, SimilarityFit& fit) {
  OwnTable table(path, {"item", "cluster", "probability"});
  std::unordered_map<std::string, std::uint32_t> id_of;
  std::vector<std::string> names;
  std::vector<std::uint32_t> cluster;
  while (cluster.size() < answers.item_count() && table.next()) {
    table.require(0, answers.item_names()[cluster.size()]);
    const auto [at, is_new] = id_of.emplace(table.text(1), static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(table.text(1));
    cluster.push_back(at->second);
    fit.probability.push_back(table.share(2));
  }
  table.require_rows(cluster.size() + (table.next() ? 1 : 0), answers.item_count());
  const auto places = cluster_places(cluster);
  fit.cluster_names.resize(names.size());
  for (std::size_t c = 0; c < names.size(); ++c) fit.cluster_names[places[c]] = names[c];
  for (const std::uint32_t own : cluster) fit.cluster.push_back(places[own]);
}

void read_rates(const std::string& path, const SimilarityAnswers& answers, SimilarityFit& fit) {
  OwnTable table(path, {"worker", "false_different", "false_same"});
  while (fit.false_same.size() < answers.worker_count() && table.next()) {
    table.require(0, answers.worker_names()[fit.false_same.size()]);
    fit.false_different.push_back(table.share(1));
    fit.false_same.push_back(table.share(2));
  }
  table.require_rows(fit.false_same.size() + (table.next() ? 1 : 0), answers.worker_count());
}

void read_pair_probabilities(const std::string& path, const SimilarityAnswers& answers, SimilarityFit& fit) {
  OwnTable table(path, {"left", "right", "probability"});
  while (fit.same.size() < answers.task_count() && table.next()) {
    const SimilarPair pair = answers.pairs()[fit.same.size()];
    table.require(0, answers.item_names()[pair.left]);
    table.require(1, answers.item_names()[pair.right]);
    fit.same.push_back(table.share(2));
  }
  table.require_rows(fit.same.size() + (table.next() ? 1 : 0), answers.task_count());
}

}  // namespace

StoredRun store::read_similarities(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                   const RunContext& context) {
  const RunInputs inputs = inputs_of(stored, folder, options);
  SimilarityData data =
      wisecrowd::read_similarities(inputs.answers, inputs.gold, read_options(stored.record.reading), context);
  const SimilarityAnswers& answers = data.answers;
  check_same(stored, answers, answers.content_hash(), folder, inputs.answers);

  SimilarityFit fit;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  read_clusters(file("clusters.csv"), answers, fit);
  read_rates(file("workers.csv"), answers, fit);
  read_pair_probabilities(file("pairs.csv"), answers, fit);

  std::optional<SimilarityEvaluation> evaluation = std::move(stored.similarity_evaluation);
  if (takes_new_gold(options, gold_count(data), stored.record)) evaluation = evaluate_similarities(fit.cluster, data);
  SimilarityResult result = make_result(std::move(data), std::move(fit), std::move(stored.record));
  result.evaluation = std::move(evaluation);
  StoredRun run;
  run.result = std::move(result);
  return run;
}

}  // namespace wisecrowd
