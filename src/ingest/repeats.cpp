#include "ingest/repeats.hpp"

#include <fmt/core.h>

#include "ingest/problems.hpp"

namespace wisecrowd::ingest {

void note_repeats(const Table& table, const AnswerGraph& answers, std::span<const RepeatedPair> repeated,
                  const BuildReport& built, DataReport& report) {
  for (const RepeatedPair& pair : repeated.first(std::min(repeated.size(), kMostProblemsShown))) {
    report.problems.push_back(
        {table.file, table.line_of_answer(pair.later), "", "",
         fmt::format("worker '{}' already answered task '{}' in line {}: remove one, or choose the duplicate policy "
                     "{} or {}",
                     printable(answers.worker_names()[pair.worker]), printable(answers.task_names()[pair.task]),
                     table.line_of_answer(pair.earlier), to_string(DuplicatePolicy::keep_last),
                     to_string(DuplicatePolicy::repeat))});
  }
  report.problem_count += built.repeats;
  sort_problems(report);
}

void note_duplicates(const std::string& file, const BuildReport& built, bool first_kept, DataReport& notes) {
  notes.duplicates_dropped = built.duplicates_dropped;
  notes.duplicates_contradicting = built.duplicates_contradicting;
  if (built.duplicates_dropped > 0) {
    notes.warnings.push_back(
        {"duplicates",
         fmt::format("{}: {} a task and worker, {} of them contradict the other answer. The {} answer was kept", file,
                     built.duplicates_dropped == 1 ? "1 answer repeats"
                                                   : fmt::format("{} answers repeat", built.duplicates_dropped),
                     built.duplicates_contradicting, first_kept ? "first" : "last"),
         "if every answer should count, read them with `duplicates=repeat`; if none should repeat, clean the file",
         Severity::note});
  }
}

}  // namespace wisecrowd::ingest
