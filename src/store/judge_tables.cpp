#include <algorithm>
#include <cmath>
#include <limits>

#include "wisecrowd/judge_files.hpp"

namespace wisecrowd {
namespace {

/// A table that is filled row by row: every cell is named, so columns cannot get out of step.
class TableMaker {
 public:
  explicit TableMaker(std::string name) { table_.name = std::move(name); }

  template <class Value>
  TableMaker& put(const std::string& column, const Value& value) {
    if (at_ == table_.columns.size()) table_.columns.push_back({column, empty_column(value)});
    add(table_.columns[at_++], value);
    return *this;
  }
  TableMaker& put(const std::string& column, const Estimate& estimate) {
    return put(column, estimate.value).put(column + "_low", estimate.low).put(column + "_high", estimate.high);
  }
  void end_row() { at_ = 0; }
  [[nodiscard]] ValueTable done() && { return std::move(table_); }

 private:
  static TableColumn::Values empty_column(double) { return std::vector<double>(); }
  static TableColumn::Values empty_column(std::uint64_t) { return std::vector<std::uint64_t>(); }
  static TableColumn::Values empty_column(bool) { return std::vector<bool>(); }
  static TableColumn::Values empty_column(std::string_view) { return std::vector<std::string>(); }
  static void add(TableColumn& column, double value) { std::get<std::vector<double>>(column.values).push_back(value); }
  static void add(TableColumn& column, std::uint64_t value) {
    std::get<std::vector<std::uint64_t>>(column.values).push_back(value);
  }
  static void add(TableColumn& column, bool value) { std::get<std::vector<bool>>(column.values).push_back(value); }
  static void add(TableColumn& column, std::string_view value) {
    std::get<std::vector<std::string>>(column.values).emplace_back(value);
  }

  ValueTable table_;
  std::size_t at_ = 0;
};

/// What a task is: its name, or the question and its two items.
void put_task(TableMaker& table, const JudgeData& data, TaskId task) {
  if (data.kind != JudgedKind::comparisons) {
    table.put("task", data.tasks[index(task)]);
    return;
  }
  const ItemPair& pair = data.pairs[index(task)];
  table.put("question", std::string_view(data.asked[index(task)]))
      .put("left", data.items[index(pair.first)])
      .put("right", data.items[index(pair.second)]);
}

ValueTable judge_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("judges");
  for (const JudgeReliability& judge : study.reliability) {
    const JudgeInfo& info = data.judges[index(judge.worker)];
    const double more = judge.needs_known ? static_cast<double>(judge.more_tasks) : std::nan("");
    const double answers = judge.needs_known ? static_cast<double>(judge.more_answers) : std::nan("");
    table.put("worker", data.workers[index(judge.worker)])
        .put("kind", to_string(info.kind))
        .put("family", std::string_view(info.family))
        .put("version", std::string_view(info.version))
        .put("price", info.price)
        .put("tasks", judge.tasks)
        .put("answers", judge.answers)
        .put("accuracy", judge.accuracy)
        .put("people_tasks", judge.people_tasks)
        .put("against_people", judge.against_people)
        .put("agreement", judge.agreement)
        .put("base_rate", judge.base_rate)
        .put("kappa", judge.kappa)
        .put("repeated_tasks", judge.repeated_tasks)
        .put("consistency", judge.consistency)
        .put("swapped_tasks", judge.swapped_tasks)
        .put("order_consistency", judge.order_consistency)
        .put("temperature", judge.temperature)
        .put("log_loss", judge.log_loss)
        .put("calibrated_log_loss", judge.calibrated_log_loss)
        .put("more_tasks", more)
        .put("more_answers", answers)
        .end_row();
  }
  return std::move(table).done();
}

ValueTable bias_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("biases");
  for (const BiasEstimate& bias : study.biases) {
    table.put("worker", data.workers[index(bias.worker)])
        .put("bias", to_string(bias.bias))
        .put("effect", bias.effect)
        .put("share", bias.share)
        .put("answers", bias.answers)
        .put("clear", bias.clear)
        .end_row();
  }
  return std::move(table).done();
}

ValueTable prevalence_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("prevalence");
  for (const PrevalenceEstimate& share : study.prevalence) {
    table.put("worker", data.workers[index(share.worker)])
        .put("class", data.classes[index(share.of)])
        .put("raw", share.raw)
        .put("corrected", share.corrected)
        .put("tasks", share.tasks)
        .end_row();
  }
  return std::move(table).done();
}

ValueTable family_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("families");
  for (const FamilySummary& family : study.families) {
    std::string members;
    for (const WorkerId worker : family.members) {
      members += (members.empty() ? "" : "|") + std::string(data.workers[index(worker)]);
    }
    table.put("family", std::string_view(family.name))
        .put("judges", std::string_view(members))
        .put("common_tasks", family.common_tasks)
        .put("error_correlation", family.error_correlation)
        .put("effective_voices", family.effective_voices)
        .put("found", family.found)
        .end_row();
  }
  return std::move(table).done();
}

ValueTable version_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("versions");
  for (const VersionChange& change : study.versions) {
    table.put("family", std::string_view(change.family))
        .put("earlier", data.workers[index(change.earlier)])
        .put("later", data.workers[index(change.later)])
        .put("tasks", change.tasks)
        .put("difference", change.difference)
        .put("alike", change.alike)
        .end_row();
  }
  return std::move(table).done();
}

ValueTable calibration_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("calibration");
  for (const JudgeReliability& judge : study.reliability) {
    for (const auto& [when, bins] : {std::pair("raw", &judge.raw_bins), {"calibrated", &judge.calibrated_bins}}) {
      for (const JudgeReliability::Bin& bin : *bins) {
        table.put("worker", data.workers[index(judge.worker)])
            .put("probabilities", std::string_view(when))
            .put("confidence", bin.confidence)
            .put("right", bin.right)
            .put("tasks", bin.tasks)
            .end_row();
      }
    }
  }
  return std::move(table).done();
}

ValueTable leaderboard_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("leaderboard");
  for (const auto& [by, board] : {std::pair("everybody", &study.everybody), {"people", &study.people}}) {
    if (!*board) continue;
    for (const LeaderboardRow& row : (*board)->rows) {
      table.put("by", std::string_view(by))
          .put("rank", row.rank)
          .put("rank_low", row.rank_low)
          .put("rank_high", row.rank_high)
          .put("item", data.items[index(row.item)])
          .put("score", row.score)
          .put("tasks", row.tasks)
          .end_row();
    }
  }
  return std::move(table).done();
}

ValueTable next_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("next");
  for (const NextTask& next : study.next) {
    put_task(table, data, next.task);
    table.put("label", data.classes[index(next.label)])
        .put("probability", next.probability)
        .put("people", next.people)
        .put("machines", next.machines)
        .put("disagreement", next.disagreement)
        .end_row();
  }
  return std::move(table).done();
}

/// The truth of all together, and the weight that a task deserves in training.
ValueTable label_rows(const JudgeData& data, const JudgeStudy& study) {
  TableMaker table("labels");
  const MixedCrowdFit& fit = study.fit;
  const auto classes = static_cast<double>(fit.class_count);
  for (std::size_t t = 0; t < data.tasks.size() && !fit.posterior.empty(); ++t) {
    const ClassId label = fit.label_of(TaskId(t));
    const double p = fit.posterior_of(TaskId(t))[index(label)];
    put_task(table, data, TaskId(t));
    table.put("label", data.classes[index(label)]).put("probability", p);
    for (std::size_t k = 0; k < fit.class_count; ++k) {
      table.put("p_" + std::string(data.classes[k]), fit.posterior_of(TaskId(t))[k]);
    }
    table.put("weight", std::max(0.0, (classes * p - 1) / (classes - 1))).end_row();
  }
  return std::move(table).done();
}

}  // namespace

std::vector<ValueTable> judge_tables(const JudgeData& data, const JudgeStudy& study) {
  std::vector<ValueTable> tables;
  for (const auto make : {judge_rows, bias_rows, prevalence_rows, family_rows, version_rows, calibration_rows,
                          leaderboard_rows, next_rows, label_rows}) {
    tables.push_back(make(data, study));
  }
  return tables;
}

}  // namespace wisecrowd
