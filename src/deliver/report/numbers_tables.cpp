#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "base/math.hpp"
#include "base/permutation.hpp"
#include "deliver/report/numbers_page.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostNumberTasks = 1000, kMostMissed = 300, kMostOutlying = 150;
constexpr std::size_t kMostNumberWorkers = 1000, kMostBusy = 400, kMostErring = 300, kMostExact = 100;
constexpr std::size_t kNumberTaskBytes = 700'000, kNumberWorkerBytes = 400'000, kGoldPointBytes = 250'000;
constexpr std::size_t kMostValues = 30;  ///< answers of a task
constexpr std::size_t kMostGoldPoints = 1000, kMostMisses = 50;
constexpr double kMostHistogramBins = 24;
constexpr double kWideRange = 4;                     ///< times the range of the middle 98 %: then tails are left out
constexpr double kApart = 2;                         ///< scatters: answers to a task are far apart
constexpr double kNoisy = 2;                         ///< times the median worker's scale
constexpr double kBiasErrors = 3, kBiasShare = 0.5;  ///< standard errors, and of the median worker's scale
constexpr int kValueDigits = 12;                     ///< of answers and gold, which are shown as they are

constexpr std::array<std::pair<NumberOddity, const char*>, 5> kNumberOddities = {
    std::pair{kMissed, "truth outside the interval"}, std::pair{kOutlying, "outlying answer"},
    std::pair{kScattered, "answers far apart"}, std::pair{kFewAnswers, "few answers"},
    std::pair{kNoAnswers, "no answers"}};

Json row_json(std::span<const double> values, int digits = 6) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value, digits));
  return list;
}

/// 1, 2 or 5 times a power of ten, so that the range has few enough bins.
double bin_width(double range) {
  const double power = math::pow(10, std::floor(std::log10(range / kMostHistogramBins)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= kMostHistogramBins) return factor * power;
  }
  return 10 * power;
}

double quantile_of(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(std::round(share * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

double NumberPage::spread_of(std::size_t t) const {
  const auto offsets = answers_.task_offsets();
  const double count = offsets[t + 1] - offsets[t];
  std::vector<double> spread(dimensions_, 0.0);
  for (std::size_t d = 0; count > 1 && d < dimensions_; ++d) {
    double mean = 0, squares = 0;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) mean += answers_.value(a)[d] / count;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      squares += (answers_.value(a)[d] - mean) * (answers_.value(a)[d] - mean);
    }
    spread[d] = std::sqrt(squares / (count - 1));
  }
  return largest(spread);
}

void NumberPage::look_at_tasks() {
  const auto offsets = answers_.task_offsets();
  const double few = std::min(3.0, facts_.description.answers_per_task.median);
  for (std::size_t t = 0; t < fit_.task_count; ++t) {
    const std::size_t count = offsets[t + 1] - offsets[t];
    unsigned odd = count == 0 ? kNoAnswers : static_cast<double>(count) < few ? kFewAnswers : 0U;
    uncertainty_.push_back(static_cast<float>(largest(row(fit_.deviation, t))));
    apart_.push_back(static_cast<float>(spread_of(t)));
    if (apart_.back() > kApart) odd |= kScattered;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) odd |= is_far(a) ? kOutlying : 0U;
    for (std::size_t d = 0; scored(t) && d < dimensions_; ++d) {
      const std::size_t at = t * dimensions_ + d;
      const double truth = result_.data.gold[at];
      if (truth < fit_.low[at] || truth > fit_.high[at]) odd |= kMissed;
    }
    oddities_.push_back(static_cast<std::uint8_t>(odd));
  }
}

/// The worst misses on gold first, then the least certain, then those with outlying answers.
Order NumberPage::chosen_tasks() const {
  Order all(fit_.task_count), missed, outlying;
  std::iota(all.begin(), all.end(), 0U);
  for (const std::uint32_t t : all) {
    if (oddities_[t] & kMissed) missed.push_back(t);
    if (oddities_[t] & kOutlying) outlying.push_back(t);
  }
  const bool few = all.size() <= kMostNumberTasks;
  const auto uncertain = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(-uncertainty_[a], -apart_[a]) < std::pair(-uncertainty_[b], -apart_[b]);
  };
  missed = first_by(missed, few ? all.size() : kMostMissed,
                    [&](std::uint32_t a, std::uint32_t b) { return miss(a) > miss(b); });
  outlying = first_by(outlying, few ? 0 : kMostOutlying,
                      [&](std::uint32_t a, std::uint32_t b) { return apart_[a] > apart_[b]; });
  const Order hard = first_by(all, kMostNumberTasks, uncertain);
  Order order;
  std::vector<bool> there(all.size(), false);
  const auto take = [&](const Order& group, std::size_t most) {
    for (const std::uint32_t t : group) {
      if (there[t] || order.size() >= most) continue;
      there[t] = true;
      order.push_back(t);
    }
  };
  take(missed, kMostNumberTasks);
  take(hard, kMostNumberTasks - outlying.size());
  take(outlying, kMostNumberTasks);
  take(hard, kMostNumberTasks);
  return order;
}

Json NumberPage::said_of(std::size_t t, std::size_t& bytes) const {
  const auto offsets = answers_.task_offsets();
  Order order(offsets[t + 1] - offsets[t]);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(offsets[t]));
  // By size, so that a reader sees where most stand; with many answers the outlying ones are not lost.
  const Order shown = first_by(order, kMostValues, [&](std::uint32_t a, std::uint32_t b) {
    return order.size() > kMostValues ? is_far(a) > is_far(b) : answers_.value(a)[0] < answers_.value(b)[0];
  });
  Json list = Json::array();
  for (const std::uint32_t a : shown) {
    std::string name = shown_name(answers_.worker_names()[index(answers_.workers()[a])]);
    Json far = Json::array();
    for (std::size_t d = 0; d < dimensions_; ++d) {
      if (facts_.outlying.far[a * dimensions_ + d] != 0) far.push_back(d);
    }
    bytes += embedded_size(name) + 10 + 12 * dimensions_;
    list.push_back({std::move(name), row_json(answers_.value(a), kValueDigits), std::move(far)});
  }
  return list;
}

/// The estimates that there are, sorted.
std::vector<double> NumberPage::sorted_estimates(std::size_t d) const {
  std::vector<double> values;
  for (std::size_t at = d; at < fit_.estimate.size(); at += dimensions_) {
    if (!std::isnan(fit_.estimate[at])) values.push_back(fit_.estimate[at]);
  }
  std::sort(values.begin(), values.end());
  return values;
}

Json NumberPage::histogram(const std::vector<double>& values, std::size_t d) const {
  if (values.empty()) return nullptr;
  const auto quantile = [&](double share) { return quantile_of(values, share); };
  double low = values.front(), high = values.back();
  const double middle = quantile(0.99) - quantile(0.01);
  if (middle > 0 && high - low > kWideRange * middle) {
    low = std::max(low, quantile(0.01) - middle / 2);
    high = std::min(high, quantile(0.99) + middle / 2);
  }
  if (!std::isfinite(high - low)) return nullptr;
  if (high == low) high = low + std::max(1.0, std::abs(low) / 100);
  const double width = bin_width(high - low);
  const double start = std::floor(low / width);
  const auto bins = static_cast<std::size_t>(std::floor(high / width) - start) + 1;
  std::vector<std::uint64_t> tasks(bins, 0), said(bins, 0);
  std::uint64_t below = 0, above = 0, said_outside = 0;
  const auto place = [&](double value) { return std::floor(value / width) - start; };
  for (const double value : values) {
    const double bin = place(value);
    if (bin < 0)
      ++below;
    else if (bin >= static_cast<double>(bins))
      ++above;
    else
      ++tasks[static_cast<std::size_t>(bin)];
  }
  for (AnswerIndex a = 0; a < answers_.answer_count(); ++a) {
    const double bin = place(answers_.value(a)[d]);
    if (bin < 0 || bin >= static_cast<double>(bins))
      ++said_outside;
    else
      ++said[static_cast<std::size_t>(bin)];
  }
  Json edges = Json::array();
  for (std::size_t b = 0; b <= bins; ++b)
    edges.push_back(number((start + static_cast<double>(b)) * width, kValueDigits));
  return {{"edges", std::move(edges)},      {"count", tasks}, {"answers", said}, {"below", below}, {"above", above},
          {"answers_outside", said_outside}};
}

void NumberPage::add_dimensions(Json& document) {
  Json list = Json::array();
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const DimensionDescription& own = facts_.description.dimensions[d];
    const Distribution& values = own.values;
    const std::vector<double> sorted = sorted_estimates(d);
    Json estimates = nullptr;
    if (!sorted.empty()) {
      estimates = {{"minimum", number(sorted.front(), 6)},
                   {"lower_quartile", number(quantile_of(sorted, 0.25), 6)},
                   {"median", number(quantile_of(sorted, 0.5), 6)},
                   {"upper_quartile", number(quantile_of(sorted, 0.75), 6)},
                   {"maximum", number(sorted.back(), 6)}};
    }
    list.push_back({{"name", dimension_name(d)},
                    {"answers",
                     {{"minimum", number(values.minimum, kValueDigits)},
                      {"lower_quartile", number(values.lower_quartile, kValueDigits)},
                      {"median", number(values.median, kValueDigits)},
                      {"mean", number(values.mean, kValueDigits)},
                      {"upper_quartile", number(values.upper_quartile, kValueDigits)},
                      {"maximum", number(values.maximum, kValueDigits)}}},
                    {"estimates", std::move(estimates)},
                    {"deviation", number(own.deviation)},
                    {"within", number(own.deviation_within)},
                    {"scatter", number(facts_.outlying.scatter[d])},
                    {"alpha", number(own.alpha)},
                    {"icc", number(own.icc)},
                    {"usual_scale", number(usual_scale_[d])},
                    {"histogram", histogram(sorted, d)}});
  }
  document["dimensions"] = std::move(list);
}

void NumberPage::add_tasks(Json& document) {
  const auto offsets = answers_.task_offsets();
  Json table;
  for (const char* column :
       {"name", "answers", "estimate", "deviation", "low", "high", "gold", "said", "more_said", "uncertainty", "why"}) {
    table[column] = Json::array();
  }
  std::size_t bytes = 0, shown = 0;
  for (const std::uint32_t t : chosen_tasks()) {
    std::string name = shown_name(answers_.task_names()[t]);
    bytes += embedded_size(name) + 70 + 60 * dimensions_;
    Json said = said_of(t, bytes);
    if (bytes > kNumberTaskBytes) break;
    ++shown;
    const std::size_t count = offsets[t + 1] - offsets[t];
    Json why = Json::array();
    for (const auto& [what, words] : kNumberOddities) {
      if (oddities_[t] & what) why.push_back(words);
    }
    table["name"].push_back(std::move(name));
    table["answers"].push_back(count);
    for (const auto& [column, values] : {std::pair{"estimate", &fit_.estimate}, std::pair{"deviation", &fit_.deviation},
                                         std::pair{"low", &fit_.low}, std::pair{"high", &fit_.high}}) {
      table[column].push_back(row_json(row(*values, t)));
    }
    const bool known = result_.data.has_gold(TaskId(t));
    table["gold"].push_back(known ? row_json(result_.data.gold_of(TaskId(t)), kValueDigits) : Json(nullptr));
    table["more_said"].push_back(count - said.size());
    table["said"].push_back(std::move(said));
    table["uncertainty"].push_back(number(uncertainty_[t], 3));
    table["why"].push_back(std::move(why));
  }
  const std::string chosen_by =
      shown == fit_.task_count
          ? std::string(facts_.evaluation ? "all tasks, the worst misses and the least certain first"
                                          : "all tasks, the least certain first")
          : fmt::format("{}the least certain, and those with outlying answers",
                        facts_.evaluation ? "the worst misses on gold, " : "");
  Json counts = Json::object();
  for (const auto& [what, words] : kNumberOddities) {
    counts[words] =
        std::count_if(oddities_.begin(), oddities_.end(), [odd = what](std::uint8_t own) { return (own & odd) != 0; });
  }
  document["tasks"] = {{"total", fit_.task_count}, {"shown", shown}, {"chosen_by", chosen_by}, {"counts", counts}};
  document["tasks"].update(table);
  if (shown < fit_.task_count) {
    sampling_.push_back(fmt::format("{} of {} are listed: {}. estimates.csv has all of them.", grouped(shown),
                                    counted(fit_.task_count, "task"), chosen_by));
  }
  std::vector<std::uint64_t> per_task, per_worker;
  for (std::size_t t = 0; t < fit_.task_count; ++t) per_task.push_back(offsets[t + 1] - offsets[t]);
  for (const NumberWorkerSummary& worker : result_.workers) per_worker.push_back(worker.answers);
  if (!per_task.empty()) document["answers_per_task_histogram"] = count_histogram(per_task);
  if (!per_worker.empty()) document["answers_per_worker_histogram"] = count_histogram(per_worker);
}

Order NumberPage::chosen_workers(std::string& chosen_by) const {
  Order all(fit_.worker_count), spoke;
  std::iota(all.begin(), all.end(), 0U);
  const auto more_answers = [&](std::uint32_t a, std::uint32_t b) {
    return result_.workers[a].answers > result_.workers[b].answers;
  };
  if (all.size() <= kMostNumberWorkers) {
    chosen_by = "all workers";
    return first_by(all, all.size(), more_answers);
  }
  std::vector<double> error(all.size(), 0.0);
  for (const std::uint32_t w : all) {
    std::vector<double> own(dimensions_);
    for (std::size_t d = 0; d < dimensions_; ++d) own[d] = error_of(w, d);
    error[w] = largest(own);
    if (result_.workers[w].answers > 0) spoke.push_back(w);
  }
  Order sample;
  const Permutation shuffled(all.size(), context_.rng("report workers"));
  for (std::size_t i = 0; i < kMostNumberWorkers; ++i) sample.push_back(static_cast<std::uint32_t>(shuffled(i)));
  chosen_by = "those with most answers, those who err most, those who err least, and some at random";
  return in_turn(
      {first_by(spoke, kMostBusy, more_answers),
       first_by(spoke, kMostErring, [&](std::uint32_t a, std::uint32_t b) { return error[a] > error[b]; }),
       first_by(spoke, kMostExact, [&](std::uint32_t a, std::uint32_t b) { return error[a] < error[b]; }), sample},
      all.size(), kMostNumberWorkers);
}

std::vector<std::string> NumberPage::oddities_of_worker(std::size_t w) const {
  std::vector<std::string> words;
  const auto answers = static_cast<double>(result_.workers[w].answers);
  bool biased = false, noisy = false;
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const double bias = std::abs(fit_.bias[w * dimensions_ + d]), scale = fit_.scale[w * dimensions_ + d];
    biased = biased || (bias > kBiasErrors * scale / std::sqrt(answers) && bias > kBiasShare * usual_scale_[d]);
    noisy = noisy || scale > kNoisy * usual_scale_[d];
  }
  if (noisy) words.emplace_back("noisy");
  if (biased) words.emplace_back("biased");
  if (answers < 3) words.emplace_back("few answers");
  return words;
}

void NumberPage::add_workers(Json& document) {
  const bool gold = result_.data.has_gold();
  std::vector<std::uint64_t> outlying(fit_.worker_count, 0);
  for (AnswerIndex a = 0; a < answers_.answer_count(); ++a) {
    if (is_far(a)) ++outlying[index(answers_.workers()[a])];
  }
  Json table;
  for (const char* column : {"name", "answers", "bias", "scale", "error", "outlying", "why"}) {
    table[column] = Json::array();
  }
  if (gold) table["gold_answers"] = table["gold_error"] = Json::array();
  std::string chosen_by;
  std::size_t bytes = 0, shown = 0;
  for (const std::uint32_t w : chosen_workers(chosen_by)) {
    std::string name = shown_name(answers_.worker_names()[w]);
    bytes += embedded_size(name) + 60 + 50 * dimensions_;
    if (bytes > kNumberWorkerBytes) break;
    ++shown;
    const NumberWorkerSummary& worker = result_.workers[w];
    std::vector<double> error(dimensions_);
    for (std::size_t d = 0; d < dimensions_; ++d) error[d] = error_of(w, d);
    table["name"].push_back(std::move(name));
    table["answers"].push_back(worker.answers);
    table["bias"].push_back(row_json(worker.bias));
    table["scale"].push_back(row_json(worker.scale));
    table["error"].push_back(row_json(error));
    table["outlying"].push_back(outlying[w]);
    table["why"].push_back(oddities_of_worker(w));
    if (!gold) continue;
    table["gold_answers"].push_back(worker.gold_answers);
    table["gold_error"].push_back(row_json(worker.gold_error));
  }
  document["workers"] = {{"total", fit_.worker_count}, {"shown", shown}, {"chosen_by", chosen_by}};
  document["workers"].update(table);
  if (shown < fit_.worker_count) {
    sampling_.push_back(fmt::format("{} of {} are listed: {}. workers.csv has all of them.", grouped(shown),
                                    counted(fit_.worker_count, "worker"), chosen_by));
  }
}

void NumberPage::add_gold(Json& document) {
  if (!facts_.evaluation) return;
  const NumberEvaluation& evaluation = *facts_.evaluation;
  Json scores = Json::array();
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const NumberScore& score = evaluation.dimensions[d];
    const auto estimate = [](const Estimate& e) {
      return Json{{"value", number(e.value, 6)}, {"low", number(e.low, 6)}, {"high", number(e.high, 6)}};
    };
    scores.push_back({{"absolute_error", estimate(score.absolute_error)},
                      {"squared_error", estimate(score.squared_error)},
                      {"correlation", number(facts_.correlation[d])},
                      {"r_squared", number(score.r_squared)},
                      {"bias", number(score.bias, 6)},
                      {"coverage", number(score.coverage)}});
  }
  Order known;
  const Permutation shuffled(fit_.task_count, context_.rng("report gold"));
  for (std::size_t i = 0; i < fit_.task_count; ++i) {
    const std::size_t t = shuffled(i);
    if (scored(t) && !std::isnan(fit_.estimate[t * dimensions_])) known.push_back(static_cast<std::uint32_t>(t));
  }
  const auto point = [&](std::uint32_t t) {
    return Json{{"task", shown_name(answers_.task_names()[t])},
                {"estimate", row_json(row(fit_.estimate, t))},
                {"low", row_json(row(fit_.low, t))},
                {"high", row_json(row(fit_.high, t))},
                {"gold", row_json(result_.data.gold_of(TaskId(t)), kValueDigits)}};
  };
  Json points = Json::array(), misses = Json::array();
  std::size_t bytes = 0;
  for (const std::uint32_t t : known) {
    bytes += embedded_size(shown_name(answers_.task_names()[t])) + 60 + 48 * dimensions_;
    if (points.size() == kMostGoldPoints || bytes > kGoldPointBytes) break;
    points.push_back(point(t));
  }
  if (points.size() < known.size()) {
    sampling_.push_back(fmt::format("The picture of estimates and truths holds {} of {}, chosen at random.",
                                    grouped(points.size()), counted(known.size(), "gold task")));
  }
  for (const std::uint32_t t :
       first_by(known, kMostMisses, [&](std::uint32_t a, std::uint32_t b) { return miss(a) > miss(b); })) {
    misses.push_back(point(t));
  }
  document["gold"] = {{"tasks", evaluation.tasks},
                      {"missing", evaluation.missing},
                      {"dimensions", std::move(scores)},
                      {"points", std::move(points)},
                      {"misses", std::move(misses)}};
}

}  // namespace wisecrowd::report
