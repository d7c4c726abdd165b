#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {

std::string choices_csv(std::span<const Choice> choices, const std::function<std::string_view(TaskId)>& task_name,
                        const std::function<std::string_view(WorkerId)>& worker_name) {
  TextBuffer text;
  text.append("task,worker,expected_gain,cost\n");
  for (const Choice& choice : choices) {
    text.append_field(task_name(choice.task));
    text.append(',');
    text.append_field(worker_name(choice.worker));
    text.append(',');
    text.append_number(choice.expected_gain);
    text.append(',');
    text.append_number(choice.cost);
    text.append('\n');
  }
  return std::string(text.text());
}

std::string csv_name(std::string_view name) { return csv_field(name); }

void write_selection_file(const std::string& path, std::string_view text) { write_file_whole(path, text); }

void write_selection_folder(const std::string& directory, std::span<const std::pair<std::string, std::string>> files,
                            const std::string& about) {
  OutputFolder folder(directory, "summary.json");
  for (const auto& [name, text] : files) {
    OutputFile file = folder.create(name);
    file.append(text);
    file.finish();
  }
  nlohmann::ordered_json record = {{"version", WISECROWD_VERSION}};
  record.update(nlohmann::ordered_json::parse(about));
  folder.commit(record);
}

}  // namespace wisecrowd
