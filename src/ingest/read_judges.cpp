#include "wisecrowd/read_judges.hpp"

#include "ingest/judge_builder.hpp"

namespace wisecrowd {

JudgeData read_judges(const JudgeInputs& inputs, const JudgeReadOptions& options, const RunContext& context,
                      DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  ingest::JudgeBuilder builder(options, context, notes);
  builder.read_answers(inputs.answers, false);
  if (inputs.machine_answers) builder.read_answers(*inputs.machine_answers, true);
  if (inputs.gold) builder.read_gold(*inputs.gold);
  if (inputs.workers) builder.read_workers(*inputs.workers);
  if (inputs.items) builder.read_items(*inputs.items);
  return builder.build();
}

}  // namespace wisecrowd
