#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

// Bytes of the page.
constexpr std::size_t kTableBytes = 450'000;
constexpr std::size_t kConfusionBytes = 260'000;
constexpr std::size_t kCountBytes = 200'000;
constexpr std::size_t kMostWorkerClasses = 20;
constexpr std::size_t kReasonCharacters = 300;
constexpr std::size_t kNumbersOfRow = 100;  ///< all numbers of a worker's row together

/// As a sentence.
std::string reason_of(const Source& source, std::size_t w) {
  return with_stop(with_capital(
      shown_words(wisecrowd::reason_of(source.advice.workers[w], source.answers().class_names()), kReasonCharacters)));
}

std::size_t add_table(const Source& source, Json& document) {
  const auto& workers = source.result.workers;
  const bool gold = source.result.data.has_gold();
  Json name = Json::array(), answers = Json::array(), accuracy = Json::array(), low = Json::array();
  Json high = Json::array(), bits = Json::array(), agreement = Json::array(), advice = Json::array();
  Json gold_answers = Json::array(), gold_accuracy = Json::array(), gold_low = Json::array(), gold_high = Json::array();
  Json spam = Json::array(), spam_low = Json::array(), spam_high = Json::array(), reason = Json::array();
  std::size_t bytes = 0, shown = 0;
  for (const std::uint32_t w : source.worker_order) {
    const WorkerSummary& worker = workers[w];
    std::string called = shown_name(source.answers().worker_names()[w]);
    const bool judged = source.advice.judged[w] != 0;
    std::string why = judged ? reason_of(source, w) : "";
    bytes += embedded_size(called) + embedded_size(why) + kNumbersOfRow;
    if (bytes > kTableBytes) break;
    ++shown;
    name.push_back(std::move(called));
    answers.push_back(worker.answers);
    accuracy.push_back(number(worker.accuracy));
    low.push_back(number(worker.accuracy_low));
    high.push_back(number(worker.accuracy_high));
    bits.push_back(number(worker.informativeness));
    agreement.push_back(number(source.facts.agreement.by_worker[w]));
    gold_answers.push_back(worker.gold_answers);
    gold_accuracy.push_back(number(worker.gold_accuracy));
    gold_low.push_back(number(worker.gold_accuracy_low));
    gold_high.push_back(number(worker.gold_accuracy_high));
    // The score is 1 for a worker who is always right; as "spam" the other way round is what people expect.
    const Estimate& score = source.advice.workers[w].score;
    spam.push_back(judged ? number(1 - score.value) : Json(nullptr));
    spam_low.push_back(judged ? number(1 - score.high) : Json(nullptr));
    spam_high.push_back(judged ? number(1 - score.low) : Json(nullptr));
    advice.push_back(judged ? Json(std::string(to_string(source.advice.workers[w].advice))) : Json(nullptr));
    reason.push_back(judged ? Json(std::move(why)) : Json(nullptr));
  }
  Json table = {{"total", workers.size()},
                {"shown", shown},
                {"chosen_by", source.workers_chosen_by},
                {"name", std::move(name)},
                {"answers", std::move(answers)},
                {"accuracy", std::move(accuracy)},
                {"low", std::move(low)},
                {"high", std::move(high)}};
  if (gold) {
    table["gold_answers"] = std::move(gold_answers);
    table["gold_accuracy"] = std::move(gold_accuracy);
    table["gold_low"] = std::move(gold_low);
    table["gold_high"] = std::move(gold_high);
  }
  if (!source.result.worker_confusion.empty()) table["bits"] = std::move(bits);
  if (source.advice.judged_count > 0) {
    table["spam"] = std::move(spam);
    table["spam_low"] = std::move(spam_low);
    table["spam_high"] = std::move(spam_high);
    table["advice"] = std::move(advice);
    table["reason"] = std::move(reason);
  }
  table["agreement"] = std::move(agreement);
  document["workers"] = std::move(table);
  return shown;
}

/// Answers of a worker that are expected for each truth among the shown classes.
std::vector<double> expected_counts(const Source& source, std::uint32_t worker, std::span<const std::size_t> ids,
                                    std::span<const std::size_t> column) {
  const CategoryAnswers& answers = source.answers();
  const CategoryFit& fit = source.result.aggregation;
  std::vector<double> counts(ids.size() * ids.size(), 0.0);
  const auto tasks = answers.tasks_of(WorkerId{worker});
  const auto places = answers.answers_of(WorkerId{worker});
  for (std::size_t a = 0; a < tasks.size(); ++a) {
    const std::size_t l = column[index(answers.labels()[places[a]])];
    if (l >= ids.size()) continue;
    const double* row = fit.posterior.data() + index(tasks[a]) * fit.class_count;
    for (std::size_t k = 0; k < ids.size(); ++k) counts[k * ids.size() + l] += row[ids[k]];
  }
  return counts;
}

void add_confusion(const Source& source, std::size_t shown, Json& document) {
  if (source.result.worker_confusion.empty()) return;
  const std::size_t classes = source.answers().class_count();
  const std::vector<std::size_t> places = source.classes.largest(kMostWorkerClasses);
  std::vector<std::size_t> ids, column(classes, classes + places.size());
  for (const std::size_t place : places) {
    column[source.classes.ids()[place]] = ids.size();
    ids.push_back(source.classes.ids()[place]);
  }
  Json share = Json::array(), counts = Json::array();
  std::size_t share_bytes = 0, count_bytes = 0, with_share = 0;
  const std::size_t cell_bytes = 6;
  const std::size_t table_bytes = ids.size() * ids.size() * cell_bytes;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::uint32_t w = source.worker_order[i];
    share_bytes += table_bytes;
    count_bytes += table_bytes;
    if (share_bytes > kConfusionBytes) {
      share.push_back(nullptr);
      counts.push_back(nullptr);
      continue;
    }
    ++with_share;
    Json table = Json::array();
    for (const std::size_t k : ids) {
      for (const std::size_t l : ids) {
        const double p = source.result.worker_confusion[(w * classes + k) * classes + l];
        table.push_back(number(std::round(1000 * p) / 1000, 3));
      }
    }
    share.push_back(std::move(table));
    if (count_bytes > kCountBytes) {
      counts.push_back(nullptr);
      continue;
    }
    Json expected = Json::array();
    for (const double count : expected_counts(source, w, ids, column)) {
      expected.push_back(number(count < 100 ? std::round(10 * count) / 10 : std::round(count), 6));
    }
    counts.push_back(std::move(expected));
  }
  document["worker_confusion"] = {{"classes", places}, {"share", std::move(share)}, {"counts", std::move(counts)}};
  if (with_share < shown) {
    source.sampling.push_back(fmt::format("Confusion tables are shown for {} of the {} listed.", grouped(with_share),
                                          counted(shown, "worker")));
  }
  if (classes > ids.size()) {
    source.sampling.push_back(
        fmt::format("Workers' confusion tables hold the {} largest of {}.", ids.size(), counted(classes, "class")));
  }
}

/// All workers by answers and accuracy, for when not all are listed.
Json density(const Source& source) {
  const auto& workers = source.result.workers;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 1;
  for (const WorkerSummary& worker : workers) {
    most = std::max(most, worker.answers);
    if (worker.answers > 0) least = std::min(least, worker.answers);
  }
  const std::vector<std::uint64_t> edges = count_edges(std::min(least, most), most);
  constexpr std::size_t kBands = 20;
  std::vector<std::vector<std::uint64_t>> count(edges.size() - 1, std::vector<std::uint64_t>(kBands, 0));
  for (const WorkerSummary& worker : workers) {
    if (worker.answers == 0) continue;
    const auto column = std::upper_bound(edges.begin(), edges.end(), worker.answers) - edges.begin() - 1;
    const auto band = std::min(static_cast<std::size_t>(worker.accuracy * kBands), kBands - 1);
    ++count[static_cast<std::size_t>(column)][band];
  }
  Json bands = Json::array();
  for (std::size_t b = 0; b <= kBands; ++b) bands.push_back(number(static_cast<double>(b) / kBands));
  return {{"answers_edges", edges}, {"accuracy_edges", std::move(bands)}, {"count", count}};
}

}  // namespace

AdviceCounts advice_counts(const Source& source) {
  AdviceCounts counts;
  for (std::size_t w = 0; w < source.advice.judged.size(); ++w) {
    if (source.advice.judged[w] == 0) continue;
    switch (source.advice.workers[w].advice) {
      case WorkerAdvice::keep: ++counts.keep; break;
      case WorkerAdvice::retrain: ++counts.retrain; break;
      case WorkerAdvice::recode: ++counts.recode; break;
      case WorkerAdvice::check: ++counts.check; break;
      case WorkerAdvice::stop:
        ++counts.stop;
        if (source.advice.workers[w].reason == AdviceReason::colludes) break;
        ++counts.guessers;
        counts.answers_of_guessers += source.result.workers[w].answers;
        break;
      case WorkerAdvice::unsure: ++counts.unsure; break;
    }
  }
  return counts;
}

void add_workers(const Source& source, Json& document) {
  const std::size_t workers = source.result.workers.size();
  const std::size_t shown = add_table(source, document);
  if (shown < workers) {
    source.sampling.push_back(
        fmt::format("{} of {} are listed: {}. The picture of answers against accuracy counts all.", grouped(shown),
                    counted(workers, "worker"), source.workers_chosen_by));
    document["worker_density"] = density(source);
  }
  add_confusion(source, shown, document);
  if (source.advice.judged_count > 0) {
    const AdviceCounts counts = advice_counts(source);
    document["advice_counts"] = {{"keep", counts.keep},   {"retrain", counts.retrain}, {"recode", counts.recode},
                                 {"check", counts.check}, {"stop", counts.stop},       {"unsure", counts.unsure}};
  }
  if (source.advice.judged_count < workers) {
    source.sampling.push_back(
        source.advice.judged_count == 0
            ? "There is no advice on single workers: with so many classes, or without confusion tables, it would take "
              "too long."
            : fmt::format("Advice is given for {} of {}; judging all would take too long.",
                          grouped(source.advice.judged_count), counted(workers, "worker")));
  }
}

}  // namespace wisecrowd::report
