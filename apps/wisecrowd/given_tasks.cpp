#include "given_tasks.hpp"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "screen_text.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::app {
namespace {

Split split_named(std::string_view name, const std::string& path) {
  if (name == "train") return Split::train;
  if (name == "valid") return Split::valid;
  if (name == "test") return Split::test;
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: column 'split': '{}' is none of train, valid and test", path, printable(name)));
}

/// The file as it is, to be handed on.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw Error(ErrorCode::io, fmt::format("cannot read '{}'", printable(path)));
  if (text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd")) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is compressed, but will become tasks.csv as it is: unpack it first", printable(path)));
  }
  return text;
}

/// What tasks there are, with their splits and, if there are features, their rows.
void read_tasks(const std::string& tasks, const std::string& features, const RunContext& context, GivenFiles& files) {
  if (!features.empty()) {
    FeatureTable table = read_features(features, tasks.empty() ? std::nullopt : std::optional(tasks), {}, context);
    files.tasks.names = std::move(table.names);
    files.tasks.splits = std::move(table.split);
    files.features = std::move(table.features);
    files.tasks.rows.resize(files.tasks.names.size());
    std::iota(files.tasks.rows.begin(), files.tasks.rows.end(), 0U);
    if (!files.features.is_sparse()) {
      files.tasks.features = files.features.dense;
      files.tasks.feature_columns = files.features.columns();
    }
    return;
  }
  ReadOptions options;
  options.label_column = "split";
  const LabelTable table = read_label_table(tasks, options, context);
  files.tasks.names = table.tasks;
  for (const ClassId split : table.labels) {
    files.tasks.splits.push_back(split_named(table.classes[index(split)], tasks));
  }
}

}  // namespace

GivenFiles read_given_tasks(const std::string& gold, const std::string& tasks, const std::string& features,
                            const RunContext& context) {
  GivenFiles files;
  LabelTable truth = read_label_table(gold, {}, context);
  files.tasks.classes = std::move(truth.classes);
  if (tasks.empty() && features.empty()) {
    files.tasks.names = std::move(truth.tasks);
    files.tasks.truth = std::move(truth.labels);
    return files;
  }
  read_tasks(tasks, features, context, files);
  if (!tasks.empty()) files.task_table = text_of(tasks);
  std::unordered_map<std::string_view, std::size_t> number;
  for (std::size_t t = 0; t < files.tasks.names.size(); ++t) number.emplace(files.tasks.names[t], t);
  files.tasks.truth.assign(files.tasks.names.size(), kNoClass);
  for (std::size_t t = 0; t < truth.tasks.size(); ++t) {
    const auto found = number.find(truth.tasks[t]);
    if (found == number.end()) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: task '{}' is not in '{}': are these files of the same tasks?", printable(gold),
                              printable(truth.tasks[t]), printable(tasks.empty() ? features : tasks)));
    }
    files.tasks.truth[found->second] = truth.labels[t];
  }
  return files;
}

}  // namespace wisecrowd::app
