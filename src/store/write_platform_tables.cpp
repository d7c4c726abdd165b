#include <nlohmann/json.hpp>

#include "base/output_folder.hpp"
#include "store/run_record.hpp"
#include "wisecrowd/platform_files.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {

void write_platform_tables(const PlatformTables& tables, const std::string& source, const std::string& directory) {
  OutputFolder folder(directory, "conversion.json");
  const auto write = [&](const std::string& name, const std::string& text) {
    if (text.empty()) return;
    OutputFile file = folder.create(name);
    file.append(text);
    file.finish();
  };
  write("answers.csv", tables.answers);
  write("gold.csv", tables.gold);
  write("tokens.csv", tables.tokens);
  write("workers.csv", tables.workers);
  nlohmann::ordered_json left_out = nlohmann::ordered_json::object();
  for (const auto& [what, count] : tables.left_out) left_out[what] = count;
  nlohmann::ordered_json record = {{"version", WISECROWD_VERSION},        {"source", source},
                                   {"platform", tables.platform},         {"question", tables.question},
                                   {"answers_kind", tables.answers_kind}, {"answers", tables.answer_count},
                                   {"workers", tables.worker_count},      {"machines", tables.machine_count},
                                   {"gold", tables.gold_count},           {"left_out", left_out}};
  folder.commit(record);
}

}  // namespace wisecrowd
