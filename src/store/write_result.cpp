#include <nlohmann/json.hpp>

#include "base/output_folder.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {

Status write_result(const CategoryResult& result, const std::string& directory, const RunContext& context) {
  const CategoryAnswers& answers = result.data.answers;
  OutputFolder folder(directory, store::kRunRecord);
  const bool complete =
      add_file(folder, "labels.csv", [&](OutputFile& file) { return write_labels(file, result, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& file) { return write_workers(file, result, context); }) &&
      add_file(folder, "confusion.csv",
               [&](OutputFile& file) { return write_confusion(file, answers, result.worker_confusion, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const CategoryResult& result) {
  return json_text(store::record_json(store::stored_record(result)));
}

Status write_result(const Result& result, const std::string& directory, const RunContext& context) {
  return std::visit([&](const auto& own) { return write_result(own, directory, context); }, result);
}

std::string run_json(const Result& result) {
  return std::visit([](const auto& own) { return run_json(own); }, result);
}

void check_output_directory(const std::string& directory, const std::string& record) {
  check_output_place(directory, record);
}

void remove_unfinished_output(const std::string& directory, bool own) noexcept { remove_unfinished(directory, own); }

}  // namespace wisecrowd
