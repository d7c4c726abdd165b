#include "score_text.hpp"

#include <nlohmann/json.hpp>

namespace wisecrowd::app {

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all = {
      {"accuracy", "accuracy", true, [](const Evaluation& e) { return std::optional(e.accuracy); },
       "share of right labels"},
      {"macro-F1", "macro_f1", true, [](const Evaluation& e) { return std::optional(e.macro_f1); },
       "F1, every class alike"},
      {"log-loss", "log_loss", false, [](const Evaluation& e) { return e.log_loss; }, "surprise per task; 0 is best"},
      {"Brier", "brier", false, [](const Evaluation& e) { return e.brier; }, "squared error; 0 is best"},
      {"ECE", "ece", false, [](const Evaluation& e) { return e.ece; }, "how far probabilities are off"},
  };
  return all;
}

nlohmann::ordered_json score_json(const Evaluation& evaluation) {
  nlohmann::ordered_json json = {{"tasks", evaluation.tasks}};
  for (const Measure& measure : measures()) {
    if (const auto estimate = measure.of(evaluation)) {
      json[measure.name] = {{"value", estimate->value}, {"low", estimate->low}, {"high", estimate->high}};
    } else {
      json[measure.name] = nullptr;
    }
  }
  return json;
}

}  // namespace wisecrowd::app
