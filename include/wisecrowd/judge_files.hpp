#pragma once

#include <string>
#include <vector>

#include "wisecrowd/judges.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/trust_study.hpp"

// The folder that a look at judges leaves.

namespace wisecrowd {

/// A look at judges, and how it came about.
struct JudgeRun {
  JudgeData data;
  JudgeStudyOptions options;
  JudgeStudy study;
  RunRecord record;
};

/// The tables of a study: judges, biases, prevalence, families, versions, calibration, leaderboard, next, labels. Files
/// and data frames are made of them; some have no rows.
[[nodiscard]] std::vector<ValueTable> judge_tables(const JudgeData& data, const JudgeStudy& study);

/// Writes a file <table>.csv for each table that has rows (and judges.csv, next.csv as far as asked for), of
/// comparisons preferences.jsonl, and run.json; whole or not at all.
Status write_judges(const JudgeRun& run, const std::string& directory, const RunContext& context);
/// The run as a JSON object, as in run.json.
[[nodiscard]] std::string judges_json(const JudgeRun& run);

/// JSON Lines as TRL reads them, a line per task that is no tie: prompt (the question), chosen, rejected, and further
/// keys probability (that the chosen one is the better, ties left aside), margin (its log odds) and weight (0: nothing
/// is known, 1: certain). Throws bad_input when the data are no comparisons.
[[nodiscard]] std::string judged_preferences(const JudgeData& data, const MixedCrowdFit& fit);

}  // namespace wisecrowd
