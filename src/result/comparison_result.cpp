#include <algorithm>
#include <limits>

#include "base/csv_text.hpp"
#include "wisecrowd/comparison_learn_result.hpp"

namespace wisecrowd {

ComparisonResult make_result(ComparisonData data, ComparisonFit fit, RunRecord record) {
  ComparisonResult result;
  const ComparisonAnswers& answers = data.answers;
  record.data_hash = answers.content_hash();
  const auto share = [](double part, double whole) {
    return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
  };
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    ComparisonWorkerSummary& worker = result.workers.emplace_back();
    const auto places = answers.answers_of(WorkerId(w));
    const auto tasks = answers.tasks_of(WorkerId(w));
    worker.answers = places.size();
    worker.reliability = fit.reliability[w];
    worker.side_bias = fit.side_bias[w];
    worker.tie_rate = fit.tie_rate[w];
    double left = 0, decisive = 0, agreeing = 0, right = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const ComparisonAnswer answer = answers.answer(tasks[i], places[i]);
      if (const auto truth = data.gold_of(tasks[i])) {
        ++worker.gold_answers;
        right += ComparisonAnswers::outcome_of(answers.codes()[places[i]]) == *truth ? 1 : 0;
      }
      if (answer.outcome == Outcome::tie) continue;
      decisive += 1;
      left += answer.outcome == Outcome::left ? 1 : 0;
      const double ahead =
          (fit.score[index(answer.left)] - fit.score[index(answer.right)]) * (answer.outcome == Outcome::left ? 1 : -1);
      agreeing += ahead > 0 ? 1 : ahead == 0 ? 0.5 : 0;
    }
    worker.left_share = answers.sides_known() ? share(left, decisive) : share(0, 0);
    worker.agreement = share(agreeing, decisive);
    worker.gold_accuracy = share(right, static_cast<double>(worker.gold_answers));
  }
  result.data = std::move(data);
  result.fit = std::move(fit);
  result.record = std::move(record);
  return result;
}

ComparisonResult rounded_for_files(const ComparisonResult& result) {
  ComparisonResult written = result;
  ComparisonFit& fit = written.fit;
  for (auto* values : {&fit.score, &fit.deviation, &fit.low, &fit.high, &fit.rank, &fit.rank_low, &fit.rank_high,
                       &fit.reliability, &fit.side_bias, &fit.tie_rate, &fit.group_score, &fit.group_of_worker}) {
    for (double& value : *values) value = written_number(value);
  }
  for (double& value : fit.pair_posterior) value = written_probability(value);
  for (ComparisonWorkerSummary& worker : written.workers) {
    for (double* value : {&worker.reliability, &worker.side_bias, &worker.tie_rate}) *value = written_number(*value);
  }
  return written;
}

std::vector<ItemId> ranking(const ComparisonFit& fit) {
  std::vector<ItemId> order;
  for (std::size_t i = 0; i < fit.item_count; ++i) order.push_back(ItemId(i));
  std::sort(order.begin(), order.end(), [&](ItemId a, ItemId b) {
    return fit.score[index(a)] != fit.score[index(b)] ? fit.score[index(a)] > fit.score[index(b)] : a < b;
  });
  return order;
}

ComparisonLearnResult make_learn_result(ComparisonData data, ComparisonLearned learned, NameTable row_names,
                                        std::vector<std::uint32_t> row_of_item, const NetworkSpec& network,
                                        RunRecord record) {
  ComparisonLearnResult result;
  result.row_comparisons.assign(row_names.size(), 0);
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    const ItemPair pair = data.answers.pairs()[t];
    const std::size_t count = data.answers.workers_of(TaskId(t)).size();
    result.row_comparisons[row_of_item[index(pair.first)]] += count;
    result.row_comparisons[row_of_item[index(pair.second)]] += count;
  }
  result.crowd = make_result(std::move(data), std::move(learned.fit), std::move(record));
  result.network = network;
  result.row_names = std::move(row_names);
  result.row_score = std::move(learned.row_score);
  result.scorer = std::move(learned.scorer);
  return result;
}

}  // namespace wisecrowd
