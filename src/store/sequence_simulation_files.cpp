#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/sequence_tables.hpp"
#include "store/simulation_record.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd {
namespace {

bool write_tag_answers(OutputFile& file, const SequenceSimulation& simulation, const RunContext& context) {
  const SequenceAnswers& answers = simulation.data.answers;
  file.append("doc,position,worker,tag\n");
  std::vector<std::string> tags;
  for (std::size_t k = 0; k < answers.tag_count(); ++k) tags.push_back(tag_name(TagId(k), answers.type_names()));
  const auto offsets = answers.task_offsets();
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    auto document = static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), begin) - offsets.begin());
    for (std::size_t a = begin; a < end; ++a) {
      while (offsets[document] <= a) ++document;
      const auto own = answers.tags(static_cast<AnswerIndex>(a));
      for (std::size_t t = 0; t < own.size(); ++t) {
        if (own[t] == kNoTag) continue;
        text.append(answers.task_names()[document - 1]);
        text.append(',');
        text.append_count(answers.first(static_cast<AnswerIndex>(a)) + t);
        text.append(',');
        text.append(answers.worker_names()[index(answers.workers()[a])]);
        text.append(',');
        text.append(tags[index(own[t])]);
        text.append('\n');
      }
    }
  };
  return write_rows(file, {answers.answer_count(), 4, "writing answers"}, format, context);
}

bool write_annotators(OutputFile& file, const SequenceSimulation& simulation, const RunContext& context) {
  file.append("worker,kind,recall,boundary_errors,type_errors\n");
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      text.append(simulation.data.answers.worker_names()[w]);
      text.append(',');
      text.append(simulation.worker_kind[w]);
      for (const auto* values : {&simulation.recall, &simulation.boundary, &simulation.wrong_type}) {
        text.append(',');
        text.append_number((*values)[w]);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {simulation.worker_kind.size(), 4, "writing workers"}, format, context);
}

}  // namespace

Status write_simulation(const SequenceSimulation& simulation, const std::string& directory, const RunContext& context) {
  if (simulation.status == Status::cancelled) return Status::cancelled;
  OutputFolder folder(directory, "simulation.json");
  const bool complete =
      add_file(folder, "answers.csv", [&](OutputFile& f) { return write_tag_answers(f, simulation, context); }) &&
      add_file(folder, "gold.csv",
               [&](OutputFile& f) { return write_tags(f, simulation.data, simulation.data.gold, {}, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& f) { return write_annotators(f, simulation, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::simulation_record(kSequenceSimulation, "sequences",
                                         {{"documents", simulation.size.documents},
                                          {"workers", simulation.size.workers},
                                          {"types", simulation.size.types},
                                          {"answers_per_document", simulation.size.answers_per_document}},
                                         simulation.seed, simulation.parameters));
  return Status::converged;
}

}  // namespace wisecrowd
