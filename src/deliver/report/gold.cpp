#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"
#include "result/rank_facts.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostWrongShown = 50;
constexpr std::size_t kMostGoldClasses = 30;

std::string words_on_calibration(const GoldFacts& gold) {
  const double confidence = gold.mean_confidence();
  const Estimate& accuracy = gold.evaluation.accuracy;
  const std::string both = fmt::format("On gold tasks the labels have a mean probability of {}, and {} are right",
                                       percent(confidence), percent(accuracy.value));
  if (confidence > accuracy.high) return both + ": the probabilities are too sure. Take them as an order, not as odds.";
  if (confidence < accuracy.low) return both + ": the probabilities are too modest.";
  return both + ": as far as these tasks can tell, the probabilities mean what they say.";
}

Json per_class(const Source& source, const GoldFacts& gold) {
  const auto ratio = [](double part, double whole) { return whole > 0 ? number(part / whole) : Json(nullptr); };
  Json list = Json::array();
  for (const std::size_t id : source.classes.ids()) {
    const GoldFacts::OfClass& of = gold.classes[id];
    if (of.predicted + of.gold <= 0) continue;
    list.push_back({{"class", source.classes.reference(ClassId(id))},
                    {"precision", ratio(of.right, of.predicted)},
                    {"recall", ratio(of.right, of.gold)},
                    {"f1", ratio(2 * of.right, of.predicted + of.gold)},
                    {"tasks", number(of.gold, 9)}});
  }
  return list;
}

}  // namespace

void add_gold(const Source& source, Json& document) {
  if (!source.facts.gold) return;
  const GoldFacts& facts = *source.facts.gold;
  const Evaluation& score = facts.evaluation;
  const std::vector<ClassId>& gold = source.result.data.gold;

  Json bins = Json::array();
  for (const GoldFacts::Bin& bin : facts.bins) {
    bins.push_back({{"low", number(bin.low)},
                    {"high", number(bin.high)},
                    {"confidence", number(bin.confidence)},
                    {"accuracy", number(bin.accuracy)},
                    {"accuracy_low", number(bin.accuracy_low)},
                    {"accuracy_high", number(bin.accuracy_high)},
                    {"tasks", number(bin.tasks, 9)}});
  }
  const auto value = [](const std::optional<Estimate>& estimate) {
    return estimate ? number(estimate->value) : Json(nullptr);
  };
  document["calibration"] = {{"bins", std::move(bins)},
                             {"ece", value(score.ece)},
                             {"brier", value(score.brier)},
                             {"log_loss", value(score.log_loss)},
                             {"words", words_on_calibration(facts)}};

  const std::vector<std::size_t> places = source.classes.largest(kMostGoldClasses);
  std::vector<std::size_t> row(source.answers().class_count(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) row[source.classes.ids()[places[i]]] = i;
  std::vector<std::vector<std::uint64_t>> confusion(places.size(), std::vector<std::uint64_t>(places.size(), 0));
  std::vector<std::uint32_t> wrong;
  for (std::size_t t = 0; t < gold.size(); ++t) {
    const ClassId label = source.labels[t];
    if (label == kNoClass || gold[t] == kNoClass) continue;
    const std::size_t truth = row[index(gold[t])], given = row[index(label)];
    if (truth < places.size() && given < places.size()) ++confusion[truth][given];
    if (label != gold[t]) wrong.push_back(static_cast<std::uint32_t>(t));
  }
  const auto surest = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(-source.probability(a), a) < std::pair(-source.probability(b), b);
  };
  const std::size_t shown = std::min(kMostWrongShown, wrong.size());
  std::partial_sort(wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(shown), wrong.end(), surest);
  Json mistakes = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t t = wrong[i];
    mistakes.push_back({{"task", shown_name(source.answers().task_names()[t])},
                        {"label", source.classes.reference(source.labels[t])},
                        {"gold", source.classes.reference(gold[t])},
                        {"probability", number(source.probability(t))}});
  }
  if (shown < wrong.size()) {
    source.sampling.push_back(
        fmt::format("Of {} on gold the {} surest are listed.", counted(wrong.size(), "mistake"), shown));
  }
  document["gold"] = {{"tasks", score.tasks},
                      {"left_blank", score.abstained},
                      {"accuracy", number(score.accuracy.value, 6)},
                      {"low", number(score.accuracy.low, 6)},
                      {"high", number(score.accuracy.high, 6)},
                      {"macro_f1", number(score.macro_f1.value)},
                      {"per_class", per_class(source, facts)},
                      {"classes", places},
                      {"confusion", confusion},
                      {"mistakes", wrong.size()},
                      {"wrong", std::move(mistakes)}};
  if (const auto ranks = rank_facts(source.result, source.context)) {
    document["gold"]["rank_error"] = number(ranks->rank_error.value);
    document["gold"]["quadratic_kappa"] = number(ranks->quadratic_kappa.value);
  }
}

}  // namespace wisecrowd::report
