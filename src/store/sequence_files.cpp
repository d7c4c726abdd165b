#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "store/run_record.hpp"
#include "store/sequence_tables.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

void append_known(TextBuffer& text, double value) {
  text.append(',');
  if (value == value) text.append_number(value);
}

bool write_spans(OutputFile& file, const SequenceResult& result, const RunContext& context) {
  const SequenceData& data = result.data;
  const SequenceFit& fit = result.fit;
  const bool texts = data.tokens.size() > 0;
  file.append(fmt::format("doc,first,last,type,probability{}\n", texts ? ",text" : ""));
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t s = begin; s < end; ++s) {
      const Span& span = fit.spans[s];
      text.append_field(data.answers.task_names()[index(span.document)]);
      text.append(',');
      text.append_count(data.first_position + span.first);
      text.append(',');
      text.append_count(data.first_position + span.end - 1);
      text.append(',');
      text.append_field(data.answers.type_names()[span.type]);
      text.append(',');
      text.append_probability(fit.span_probability[s]);
      if (texts) {
        text.append(',');
        text.append_field(span_text(data, span));
      }
      text.append('\n');
    }
  };
  return write_rows(file, {fit.spans.size(), 5, "writing spans"}, format, context);
}

bool write_sequence_workers(OutputFile& file, const SequenceResult& result, const RunContext& context) {
  const bool gold = result.data.has_gold();
  file.append(fmt::format("worker,documents,tags,accuracy,spans,span_precision,span_recall,span_f1{}\n",
                          gold ? ",gold_tags,gold_accuracy,gold_span_f1" : ""));
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);  // NaN, a blank, for none of none
  };
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    for (std::size_t w = begin; w < end; ++w) {
      const SequenceWorkerSummary& worker = result.workers[w];
      text.append_field(result.data.answers.worker_names()[w]);
      text.append(',');
      text.append_count(worker.documents);
      text.append(',');
      text.append_count(worker.tags);
      append_known(text, worker.accuracy);
      text.append(',');
      text.append_count(worker.spans.found);
      append_known(text, share(worker.spans.right, worker.spans.found));
      append_known(text, share(worker.spans.right, worker.spans.truth));
      append_known(text, worker.spans.strict_f1());
      if (gold) {
        text.append(',');
        text.append_count(worker.gold_tags);
        append_known(text, worker.gold_accuracy);
        append_known(text, worker.gold_spans.strict_f1());
      }
      text.append('\n');
    }
  };
  return write_rows(file, {result.workers.size(), 8, "writing workers"}, format, context);
}

}  // namespace

bool write_tags(OutputFile& file, const SequenceData& data, std::span<const TagId> tags,
                std::span<const double> probability, const RunContext& context) {
  const SequenceAnswers& answers = data.answers;
  const bool texts = data.tokens.size() > 0;
  file.append(fmt::format("doc,position{},tag{}\n", texts ? ",token" : "", probability.empty() ? "" : ",probability"));
  std::vector<std::string> names;
  for (std::size_t k = 0; k < answers.tag_count(); ++k) names.push_back(tag_name(TagId(k), answers.type_names()));
  const auto offsets = answers.token_offsets();
  const auto format = [&](std::size_t begin, std::size_t end, TextBuffer& text) {
    auto document = static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), begin) - offsets.begin());
    for (std::size_t t = begin; t < end; ++t) {
      while (offsets[document] <= t) ++document;
      if (tags[t] == kNoTag) continue;
      text.append_field(answers.task_names()[document - 1]);
      text.append(',');
      text.append_count(data.first_position + t - offsets[document - 1]);
      if (texts) {
        text.append(',');
        text.append_field(data.tokens[t]);
      }
      text.append(',');
      text.append_field(names[index(tags[t])]);
      if (!probability.empty()) {
        text.append(',');
        text.append_probability(probability[t]);
      }
      text.append('\n');
    }
  };
  return write_rows(file, {tags.size(), 4, "writing tags"}, format, context);
}

std::string span_text(const SequenceData& data, const Span& span) {
  const std::size_t begin = data.answers.token_offsets()[index(span.document)];
  std::string text;
  for (std::uint32_t t = span.first; t < span.end; ++t) {
    if (t > span.first) text += ' ';
    text += data.tokens[begin + t];
  }
  return text;
}

Status write_result(const SequenceResult& result, const std::string& directory, const RunContext& context) {
  OutputFolder folder(directory, store::kRunRecord);
  const bool complete =
      add_file(folder, "tags.csv",
               [&](OutputFile& file) {
                 return write_tags(file, result.data, result.fit.tags, result.fit.probability, context);
               }) &&
      add_file(folder, "spans.csv", [&](OutputFile& file) { return write_spans(file, result, context); }) &&
      add_file(folder, "workers.csv", [&](OutputFile& file) { return write_sequence_workers(file, result, context); });
  if (!complete) return Status::cancelled;
  folder.commit(store::record_json(store::stored_record(result)));
  return Status::converged;
}

std::string run_json(const SequenceResult& result) {
  return json_text(store::record_json(store::stored_record(result)));
}

}  // namespace wisecrowd
