#include "wisecrowd/sequence_result.hpp"

#include <algorithm>
#include <limits>

#include "base/csv_text.hpp"
#include "result/sequence_report_facts.hpp"

namespace wisecrowd {
namespace {

SequenceWorkerSummary summarise(const SequenceData& data, const SequenceFit& fit, WorkerId worker) {
  const SequenceAnswers& answers = data.answers;
  SequenceWorkerSummary out;
  const auto own = answers.answers_of(worker);
  const auto documents = answers.tasks_of(worker);
  out.documents = own.size();
  out.accuracy = fit.accuracy[index(worker)];
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto tags = answers.tags(own[i]);
    const std::size_t begin = answers.token_offsets()[index(documents[i])] + answers.first(own[i]);
    out.tags +=
        static_cast<std::uint64_t>(std::count_if(tags.begin(), tags.end(), [](TagId tag) { return tag != kNoTag; }));
    out.spans.add(compare_spans(tags, std::span(fit.tags).subspan(begin, tags.size())));
    if (!data.has_gold()) continue;
    const auto gold = std::span(data.gold).subspan(begin, tags.size());
    out.gold_spans.add(compare_spans(tags, gold));
    for (std::size_t t = 0; t < tags.size(); ++t) {
      if (tags[t] == kNoTag || gold[t] == kNoTag) continue;
      ++out.gold_tags;
      right += tags[t] == gold[t] ? 1 : 0;
    }
  }
  out.gold_accuracy = out.gold_tags == 0 ? std::numeric_limits<double>::quiet_NaN()
                                         : static_cast<double>(right) / static_cast<double>(out.gold_tags);
  return out;
}

}  // namespace

SequenceResult make_result(SequenceData data, SequenceFit fit, RunRecord record) {
  SequenceResult result;
  record.data_hash = data.answers.content_hash();
  for (std::size_t w = 0; w < data.answers.worker_count(); ++w) {
    result.workers.push_back(summarise(data, fit, WorkerId(w)));
  }
  result.data = std::move(data);
  result.fit = std::move(fit);
  result.record = std::move(record);
  return result;
}

SequenceResult rounded_for_files(const SequenceResult& result) {
  SequenceResult written = result;
  SequenceFit& fit = written.fit;
  fit.posterior.clear();
  fit.worker_tables.clear();
  for (auto* values : {&fit.probability, &fit.span_probability}) {
    for (double& value : *values) value = written_probability(value);
  }
  for (double& value : fit.accuracy) value = written_number(value);
  for (SequenceWorkerSummary& worker : written.workers) worker.accuracy = written_number(worker.accuracy);
  return written;
}

SequenceReportFacts report_facts(const SequenceResult& result) { return {describe(result.data.answers)}; }

}  // namespace wisecrowd
