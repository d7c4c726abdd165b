#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

std::string network_words(const NetworkSpec& network) {
  if (network.kind == "mlp") {
    return fmt::format("mlp, {} of {}, dropout {}", counted(network.layers, "hidden layer"),
                       counted(network.hidden, "unit"), network.dropout);
  }
  if (network.kind == "cnn") return fmt::format("cnn, dropout {}", network.dropout);
  return shown_words(network.kind, 200);
}

std::string part_words(const LearnScore& score) {
  const std::string tasks = grouped(score.chosen.tasks);
  return score.part == "answered_tasks" ? tasks + " answered tasks, labelled by classifier and answers together"
         : score.part == "test_rows"    ? tasks + " test rows, labelled by the classifier alone"
         : score.part == "valid_rows"   ? tasks + " valid rows, labelled by the classifier alone"
                                        : tasks + " rows that nobody answered, labelled by the classifier alone";
}

}  // namespace

void add_run(const Source& source, Json& document) {
  const CategoryResult& result = source.result;
  document["run"] = run_facts(result.record, result.aggregation, source.options, source.answers().content_hash());
  document["run"]["abstain_below"] = number(result.record.abstain_below);
}

void add_counts(const Source& source, Json& document) {
  const Description& description = source.facts.description;
  document["counts"] = {{"tasks", description.tasks},
                        {"workers", description.workers},
                        {"classes", description.classes},
                        {"answers", description.answers},
                        {"answers_per_task", number(description.answers_per_task.mean)},
                        {"answers_per_worker", number(description.answers_per_worker.mean)},
                        {"tasks_without_answers", description.unanswered_tasks},
                        {"abstained", std::count(source.labels.begin(), source.labels.end(), kNoClass)}};
}

void add_convergence(const Source& source, Json& document) {
  // Learners keep theirs in the learning curves.
  document["convergence"] = convergence_facts(source.result.aggregation, !source.options.learned, source.sampling);
}

void add_comparison(const Source& source, Json& document) {
  if (!source.options.comparison) {
    if (!source.options.comparison_note.empty()) source.sampling.push_back(source.options.comparison_note);
    return;
  }
  const Comparison& comparison = *source.options.comparison;
  Json rows = Json::array();
  for (const ComparedMethod& row : comparison.rows) {
    Json entry = {{"method", shown_words(row.method, 200)}, {"this", row.is_this}};
    if (!row.note.empty()) entry["note"] = shown_words(row.note, 400);
    if (comparison.by == "held-out") {
      entry["log_probability"] = number(row.log_probability.value);
      entry["low"] = number(row.log_probability.low);
      entry["high"] = number(row.log_probability.high);
    } else {
      entry["accuracy"] = number(row.accuracy.value, 6);
      entry["low"] = number(row.accuracy.low, 6);
      entry["high"] = number(row.accuracy.high, 6);
      entry["log_loss"] = number(row.log_loss);
    }
    entry["agreement_with_result"] = number(row.agreement);
    entry["seconds"] = number(row.seconds, 3);
    rows.push_back(std::move(entry));
  }
  document["comparison"] = {{"by", comparison.by}, {"rows", std::move(rows)}, {"words", comparison.words}};
}

void add_learning(const Source& source, Json& document) {
  if (!source.options.learned) return;
  const LearnSummary& learned = *source.options.learned;
  const std::size_t every = std::max<std::size_t>(step_of(learned.curve.size()), 1);
  Json epochs = Json::array(), objective = Json::array(), held_out = Json::array();
  bool hidden = false;
  for (std::size_t e = 0; e < learned.curve.size(); e += every) {
    epochs.push_back(e + 1);
    objective.push_back(number(learned.curve[e].objective, 5));
    held_out.push_back(number(learned.curve[e].held_out, 5));
    hidden = hidden || !std::isnan(learned.curve[e].held_out);
  }
  Json curves = Json::array();
  if (!epochs.empty()) curves.push_back({{"name", "objective"}, {"epochs", epochs}, {"value", std::move(objective)}});
  if (hidden) {
    curves.push_back(
        {{"name", "log probability of hidden answers"}, {"epochs", epochs}, {"value", std::move(held_out)}});
  }
  Json scores = Json::array();
  for (const LearnScore& score : learned.scores) {
    const Estimate& accuracy = score.chosen.accuracy;
    scores.push_back({{"part", score.part},
                      {"words", part_words(score)},
                      {"accuracy", number(accuracy.value, 6)},
                      {"low", number(accuracy.low, 6)},
                      {"high", number(accuracy.high, 6)},
                      {"tasks", score.chosen.tasks},
                      {"last", number(score.last.accuracy.value)}});
  }
  const std::string words =
      !hidden ? fmt::format("Trained for {}; the last one was kept, because nothing was hidden to choose by.",
                            counted(learned.epochs, "epoch"))
              : fmt::format(
                    "Trained for {}; epoch {} was kept, at which answers to hidden tasks are predicted best. Gold "
                    "had no part in that choice.",
                    counted(learned.epochs, "epoch"), learned.chosen_epoch);
  document["learning"] = {{"curves", std::move(curves)},
                          {"epochs", learned.epochs},
                          {"chosen_epoch", learned.chosen_epoch},
                          {"network", network_words(learned.network)},
                          {"rows",
                           {{"rows", learned.rows},
                            {"train", learned.train_rows},
                            {"valid", learned.valid_rows},
                            {"test", learned.test_rows},
                            {"shape", learned.row_shape}}},
                          {"scores", std::move(scores)},
                          {"words", words}};
}

void add_savings(const Source& source, Json& document) {
  if (!source.options.savings) return;
  const Savings& savings = *source.options.savings;
  Json policies = Json::array(), rows = Json::array();
  for (const Savings::Curve& curve : savings.curves) {
    const std::size_t every = std::max<std::size_t>(step_of(curve.answers.size()), 1);
    Json answers = Json::array(), accuracy = Json::array(), low = Json::array(), high = Json::array();
    for (std::size_t p = 0; p < curve.answers.size(); p += every) {
      answers.push_back(number(curve.answers[p], 6));
      accuracy.push_back(number(curve.accuracy[p]));
      low.push_back(number(curve.low[p]));
      high.push_back(number(curve.high[p]));
    }
    policies.push_back({{"name", shown_name(curve.policy)},
                        {"answers", std::move(answers)},
                        {"accuracy", std::move(accuracy)},
                        {"low", std::move(low)},
                        {"high", std::move(high)}});
  }
  for (const Savings::Row& row : savings.rows) {
    rows.push_back({{"policy", shown_name(row.policy)},
                    {"slack", number(row.slack)},
                    {"reached", row.reached},
                    {"needed", number(row.needed, 6)},
                    {"saved", number(row.saved)},
                    {"low", number(row.low)},
                    {"high", number(row.high)}});
  }
  document["savings"] = {{"policies", std::move(policies)},
                         {"accuracy_of_all", number(savings.accuracy_of_all)},
                         {"rows", std::move(rows)},
                         {"words", savings.words}};
}

}  // namespace wisecrowd::report
