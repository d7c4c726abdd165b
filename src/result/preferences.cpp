#include "wisecrowd/preferences.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/numeric.hpp"
#include "base/output_folder.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

void require_flip(double flip) {
  if (flip >= 0 && flip < 0.5) return;
  throw Error(ErrorCode::bad_parameter,
              fmt::format("the share of wrong pairs cannot be {}: it is at least 0 and below 0.5", flip));
}

}  // namespace

double dpo_loss(double margin) noexcept { return -log_sigmoid(margin); }

double conservative_dpo_loss(double margin, double flip) {
  require_flip(flip);
  return -(1 - flip) * log_sigmoid(margin) - flip * log_sigmoid(-margin);
}

double robust_dpo_loss(double margin, double flip) {
  require_flip(flip);
  return (-(1 - flip) * log_sigmoid(margin) + flip * log_sigmoid(-margin)) / (1 - 2 * flip);
}

std::vector<Preference> preferences(const ComparisonAnswers& answers, const ComparisonFit& fit) {
  std::vector<Preference> list;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const Outcome label = fit.label_of(TaskId(t));
    if (label == Outcome::tie) continue;
    const ItemPair pair = answers.pairs()[t];
    const auto p = fit.posterior_of(TaskId(t));
    const double won = label == Outcome::left ? p[0] : p[1], lost = label == Outcome::left ? p[1] : p[0];
    const double probability = won / (won + lost);
    list.push_back({label == Outcome::left ? pair.first : pair.second,
                    label == Outcome::left ? pair.second : pair.first, probability, 2 * probability - 1});
  }
  return list;
}

std::string preferences_jsonl(const ComparisonResult& result, const std::vector<ItemText>& texts) {
  const NameTable& names = result.data.answers.item_names();
  if (!texts.empty() && texts.size() != names.size()) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("there are {} texts for {} items: give one for each", texts.size(), names.size()));
  }
  std::string lines;
  for (const Preference& preference : preferences(result.data.answers, result.fit)) {
    const std::size_t chosen = index(preference.chosen), rejected = index(preference.rejected);
    if (!texts.empty() && texts[chosen].prompt != texts[rejected].prompt) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("'{}' and '{}' were compared but have different prompts: items of a "
                              "pair must answer the same one",
                              names[chosen], names[rejected]));
    }
    const nlohmann::ordered_json line = {
        {"prompt", texts.empty() ? std::string() : texts[chosen].prompt},
        {"chosen", texts.empty() ? std::string(names[chosen]) : texts[chosen].text},
        {"rejected", texts.empty() ? std::string(names[rejected]) : texts[rejected].text},
        {"weight", preference.weight},
        {"probability", preference.probability}};
    lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return lines;
}

void write_preferences(const ComparisonResult& result, const std::vector<ItemText>& texts, const std::string& path) {
  write_file_whole(path, preferences_jsonl(result, texts));
}

}  // namespace wisecrowd
