#include "wisecrowd/similarity_result.hpp"

#include <limits>

#include "base/csv_text.hpp"

namespace wisecrowd {

SimilarityResult make_result(SimilarityData data, SimilarityFit fit, RunRecord record) {
  const SimilarityAnswers& answers = data.answers;
  SimilarityResult result;
  record.data_hash = answers.content_hash();
  result.workers.resize(answers.worker_count());
  std::vector<std::uint64_t> agreeing(answers.worker_count(), 0), right(answers.worker_count(), 0);
  const auto offsets = answers.task_offsets();
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    const SimilarPair pair = answers.pairs()[p];
    const bool together = fit.cluster[pair.left] == fit.cluster[pair.right];
    const int known = known_same(data, pair);
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
      const std::size_t w = index(answers.workers()[a]);
      SimilarityWorkerSummary& worker = result.workers[w];
      const bool same = answers.same()[a] != 0;
      ++worker.answers;
      worker.said_same += same ? 1 : 0;
      agreeing[w] += same == together ? 1 : 0;
      if (known < 0) continue;
      ++worker.gold_answers;
      right[w] += same == (known == 1) ? 1 : 0;
    }
  }
  const auto share = [](std::uint64_t part, std::uint64_t all) {
    return all == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(part) / static_cast<double>(all);
  };
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    SimilarityWorkerSummary& worker = result.workers[w];
    worker.false_different = fit.false_different[w];
    worker.false_same = fit.false_same[w];
    worker.agreement = share(agreeing[w], worker.answers);
    worker.gold_accuracy = share(right[w], worker.gold_answers);
  }
  result.data = std::move(data);
  result.fit = std::move(fit);
  result.record = std::move(record);
  return result;
}

SimilarityResult rounded_for_files(const SimilarityResult& result) {
  SimilarityResult written = result;
  SimilarityFit& fit = written.fit;
  for (auto* values : {&fit.probability, &fit.same, &fit.false_different, &fit.false_same}) {
    for (double& value : *values) value = written_number(value);
  }
  for (SimilarityWorkerSummary& worker : written.workers) {
    worker.false_different = written_number(worker.false_different);
    worker.false_same = written_number(worker.false_same);
  }
  return written;
}

std::vector<std::uint64_t> cluster_sizes(const SimilarityFit& fit) {
  std::vector<std::uint64_t> sizes(fit.cluster_count(), 0);
  for (const std::uint32_t own : fit.cluster) ++sizes[own];
  return sizes;
}

}  // namespace wisecrowd
