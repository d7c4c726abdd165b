// Runs every row of the text files beside this one against the real data, where they are at hand.

#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

struct Row {
  std::string file;
  int line = 0;
  std::string set, method, parameters, duplicates, measure;
  double reference = 0, tolerance = 0;
};

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<Row> rows_of(const std::string& name) {
  std::ifstream file(testing::source_folder() + "/tests/reproduce/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<Row> rows;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (trimmed(text).empty() || text[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream stream(text);
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(trimmed(cell));
    EXPECT_GE(cells.size(), 7U) << name << ":" << line;
    if (cells.size() < 7) continue;
    rows.push_back(
        {name, line, cells[0], cells[1], cells[2], cells[3], cells[4], std::stod(cells[5]), std::stod(cells[6])});
  }
  return rows;
}

/// Answers for inference, gold for scoring only.
struct Scored {
  CategoryData data;
  std::vector<ClassId> gold;
};

const Scored& load(const std::string& folder, DuplicatePolicy policy) {
  static std::map<std::pair<std::string, DuplicatePolicy>, Scored> cache;
  auto [at, fresh] = cache.try_emplace({folder, policy});
  if (fresh) {
    ReadOptions options;
    options.duplicates = policy;
    at->second.data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", options, RunContext());
    at->second.gold.swap(at->second.data.gold);
  }
  return at->second;
}

double measured(const Row& row, const std::string& root) {
  const Scored& scored =
      load(root + "/" + row.set, row.duplicates == "repeat" ? DuplicatePolicy::repeat : DuplicatePolicy::keep_last);
  Parameters parameters(aggregation_method(row.method).parameters);
  std::istringstream settings(row.parameters);
  for (std::string setting; settings >> setting;) {
    const auto equals = setting.find('=');
    parameters.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  const RunContext context;
  const auto result = aggregate(scored.data, row.method, parameters, context);
  if (row.measure == "log_likelihood") return result.log_likelihood;
  return evaluate(result.labels, result.posterior, scored.gold, result.class_count,
                  {.tie_rule = result.tie_rule, .bootstrap = 0}, context)
      .accuracy.value;
}

class Reproduce : public ::testing::TestWithParam<std::string> {};

TEST_P(Reproduce, EveryRow) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  for (const Row& row : rows_of(GetParam())) {
    if (!std::filesystem::exists(*root + "/" + row.set)) {
      ADD_FAILURE() << "no data set " << row.set;
      continue;
    }
    EXPECT_NEAR(measured(row, *root), row.reference, row.tolerance)
        << row.file << ":" << row.line << ": " << row.set << " " << row.method << " " << row.parameters;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Reproduce, ::testing::Values("label_only_reference.txt", "data_collection.txt"),
                         [](const auto& instance) { return instance.param.substr(0, instance.param.find('.')); });

/// The plain command must do at least as well over all sets as the best fixed configuration of the family.
TEST(Reproduce, TheDefaultIsAtLeastTheBestFixedConfiguration) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  std::vector<std::string> sets;
  for (const auto& entry : std::filesystem::directory_iterator(*root + "/aggregate")) {
    sets.push_back("aggregate/" + entry.path().filename().string());
  }
  ASSERT_EQ(sets.size(), 13U);
  const auto mean = [&](const std::string& method, const std::string& parameters) {
    double sum = 0;
    for (const auto& set : sets) sum += measured({"", 0, set, method, parameters, "keep_last", "accuracy"}, *root);
    return sum / static_cast<double>(sets.size());
  };
  double best = 0;
  std::string best_name;
  for (const std::string prior : {"uniform", "learned"}) {
    for (const std::string setting :
         {"dawid_skene pseudo_count=0.01", "dawid_skene pseudo_count=1",
          "dawid_skene pseudo_count=1 diagonal_pseudo_count=3", "dawid_skene pseudo_count=0.01 diagonal_pseudo_count=3",
          "one_coin ", "confusion_vector "}) {
      const auto space = setting.find(' ');
      const double value = mean(setting.substr(0, space), setting.substr(space + 1) + " class_prior=" + prior);
      if (value > best) {
        best = value;
        best_name = setting + " " + prior;
      }
    }
  }
  const double ours = mean(std::string(default_aggregation_method()), "");
  const double base = mean("hierarchical_dawid_skene", "");
  RecordProperty("default", std::to_string(ours));
  RecordProperty("base", std::to_string(base));
  RecordProperty("best_fixed", std::to_string(best));
  EXPECT_GE(base, best) << "best fixed: " << best_name;
  EXPECT_GE(ours, best) << "best fixed: " << best_name;
  EXPECT_GE(ours, 0.830);
}

}  // namespace
}  // namespace wisecrowd
