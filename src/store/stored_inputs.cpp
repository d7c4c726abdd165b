#include <fmt/core.h>

#include <filesystem>

#include "store/read_result.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::store {

namespace fs = std::filesystem;

std::optional<std::string> recorded_input(const RunRecord& record, std::string_view role) {
  for (const auto& [name, path] : record.inputs) {
    if (name == role) return path;
  }
  return std::nullopt;
}

std::string locate_input(const std::string& folder, const std::string& role, const std::string& path) {
  if (path == "-") {
    throw Error(ErrorCode::io, fmt::format("the {} of the result in '{}' came from standard input, so they cannot be "
                                           "read again: give them as a file with `{}`",
                                           role, folder, role));
  }
  std::error_code unknown;
  if (fs::exists(path, unknown)) return path;
  fs::path result = fs::absolute(folder).lexically_normal();
  if (!result.has_filename()) result = result.parent_path();  // "result/"
  const fs::path beside = result.parent_path() / path;        // an absolute path stays what it is
  if (fs::exists(beside, unknown)) return beside.string();
  throw Error(
      ErrorCode::io,
      fmt::format("the {} '{}' that the result in '{}' was made from are not there: say where they are now with "
                  "`{}=FILE`",
                  role, path, folder, role));
}

void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::bad_input,
              fmt::format("'{}' {}: it was changed since, so run the method again with `out`", path, why));
}

void check_same(const StoredRecord& stored, const AnswerGraph& answers, std::uint64_t hash, const std::string& folder,
                const std::string& path) {
  if (hash == stored.record.data_hash) return;
  const bool same_size = answers.task_count() == stored.tasks && answers.worker_count() == stored.workers &&
                         answers.answer_count() == stored.answers;
  throw Error(ErrorCode::bad_input,
              fmt::format("the answers in '{}' are not those that the result in '{}' was made from ({}): give the old "
                          "file with `answers`, or run the method again on the new one",
                          path, folder,
                          same_size ? std::string("as many, but not the same")
                                    : fmt::format("{} answers by {} workers to {} tasks now, {} by {} to {} then",
                                                  answers.answer_count(), answers.worker_count(), answers.task_count(),
                                                  stored.answers, stored.workers, stored.tasks)));
}

RunInputs inputs_of(const StoredRecord& stored, const std::string& folder, const ReadResultOptions& options) {
  if (options.time_column) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("`time` is for answers that are categories, and these are {}", stored.answers_kind));
  }
  RunInputs inputs;
  inputs.answers = options.answers
                       ? *options.answers
                       : locate_input(folder, "answers", recorded_input(stored.record, "answers").value_or("-"));
  inputs.gold = options.gold;
  if (const auto then = recorded_input(stored.record, "gold"); then && !inputs.gold) {
    inputs.gold = locate_input(folder, "gold", *then);
  }
  return inputs;
}

bool takes_new_gold(const ReadResultOptions& options, std::uint64_t known, RunRecord& record) {
  if (!options.gold || record.gold_use != "none") return false;
  record.gold_use = "evaluation";
  record.gold_tasks = known;
  return known > 0;
}

}  // namespace wisecrowd::store
