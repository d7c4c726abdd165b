#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"

// What `fairness` found, from its record. The record was read from a file, so nothing in it is taken for granted.

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostGaps = 60, kMostGroups = 50, kMostBiased = 50;

std::string text_in(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? shown_name(found->get<std::string>()) : std::string();
}

Json number_in(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_number() ? number(found->get<double>(), kHeadlineDigits) : Json(nullptr);
}

const Json& list_in(const Json& record, const char* key) {
  static const Json kEmpty = Json::array();
  const auto found = record.find(key);
  return found != record.end() && found->is_array() ? *found : kEmpty;
}

/// The three figures of an estimate, or nulls.
Json estimate_in(const Json& record, const char* key) {
  const auto found = record.find(key);
  const Json none = Json::object();
  const Json& estimate = found != record.end() && found->is_object() ? *found : none;
  return {{"value", number_in(estimate, "value")},
          {"low", number_in(estimate, "low")},
          {"high", number_in(estimate, "high")}};
}

double value_of(const Json& value) { return value.is_number() ? value.get<double>() : 0; }

Json gap_rows(const Json& record) {
  Json rows = Json::array();
  for (const Json& gap : list_in(record, "gaps")) {
    if (!gap.is_object() || rows.size() == kMostGaps) continue;
    Json row = estimate_in(gap, "gap");
    for (const char* key : {"labels", "measure", "positive", "highest", "lowest", "truth"})
      row[key] = text_in(gap, key);
    Json rates = Json::array();
    for (const Json& rate : list_in(gap, "rates")) {
      if (rates.size() == kMostGroups) break;
      rates.push_back(rate.is_object() ? number_in(rate, "value") : Json(nullptr));
    }
    row["rates"] = std::move(rates);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json worker_rows(const Json& workers) {
  Json rows = Json::array();
  for (const Json& worker : list_in(workers, "notable")) {
    if (!worker.is_object() || rows.size() == kMostBiased) continue;
    rows.push_back({{"worker", text_in(worker, "worker")},
                    {"group", text_in(worker, "group")},
                    {"positive", text_in(worker, "positive")},
                    {"answers", number_in(worker, "answers")},
                    {"false_positive", estimate_in(worker, "false_positive_gap")},
                    {"true_positive", estimate_in(worker, "true_positive_gap")},
                    {"biased", worker.contains("biased") && worker["biased"] == true}});
  }
  return rows;
}

/// What stands out, in a few sentences.
std::string words_of(const Json& facts, double biased) {
  const Json* widest = nullptr;
  bool by_posterior = false;
  for (const Json& row : facts.at("gaps")) {
    by_posterior = by_posterior || row.at("truth") == "posterior";
    if (row.at("labels") != "labels" || row.at("measure") == "equalised_odds" || value_of(row.at("low")) <= 0) continue;
    if (widest == nullptr || value_of(row.at("value")) > value_of(widest->at("value"))) widest = &row;
  }
  std::string words = "No gap of the labels between groups is beyond chance.";
  if (widest != nullptr) {
    std::string measure = widest->at("measure").get<std::string>();
    std::replace(measure.begin(), measure.end(), '_', ' ');
    words = fmt::format(
        "The widest gap of the labels beyond chance is in {}: {:.1f} points (95 %: {:.1f} to {:.1f}), {} "
        "above {}.",
        measure, 100 * value_of(widest->at("value")), 100 * value_of(widest->at("low")),
        100 * value_of(widest->at("high")), widest->at("highest").get<std::string>(),
        widest->at("lowest").get<std::string>());
  }
  words += biased > 0
               ? fmt::format(" {} of workers' gaps cannot be chance.", grouped(static_cast<std::uint64_t>(biased)))
               : " No worker's gap is beyond chance.";
  if (by_posterior) {
    words +=
        " There is no gold in two groups, so the truth is what the model expects, and a bias that all workers share "
        "cannot be known.";
  }
  return words;
}

}  // namespace

void add_fairness(const Source& source, Json& document) {
  if (source.options.fairness.empty()) return;
  const Json record = Json::parse(source.options.fairness, nullptr, false);
  if (!record.is_object()) return;
  const auto found = record.find("workers");
  const Json none = Json::object();
  const Json& workers = found != record.end() && found->is_object() ? *found : none;
  Json groups = Json::array();
  for (const Json& group : list_in(record, "groups")) {
    if (!group.is_object() || groups.size() == kMostGroups) continue;
    groups.push_back({{"name", text_in(group, "group")},
                      {"tasks", number_in(group, "tasks")},
                      {"gold_tasks", number_in(group, "gold_tasks")}});
  }
  Json facts = {{"column", text_in(record, "group_column")},
                {"reference", text_in(record, "reference")},
                {"groups", std::move(groups)},
                {"gaps", gap_rows(record)},
                {"workers", worker_rows(workers)}};
  facts["words"] = shown_words(words_of(facts, value_of(number_in(workers, "biased"))));
  document["fairness"] = std::move(facts);
}

}  // namespace wisecrowd::report
