#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/csv_rows.hpp"
#include "store/read_result.hpp"
#include "wisecrowd/read_sequences.hpp"

namespace wisecrowd {
namespace {

std::size_t column_of(const CsvRows& header, const char* name, const std::string& path) {
  const std::size_t at = header.column(name);
  if (at == header.fields().size()) store::refuse_file(path, fmt::format("has no column '{}'", name));
  return at;
}

double probability_in(const CsvRows& rows, std::size_t column, const std::string& path) {
  const double p = rows.number(column);
  if (!(p >= 0 && p <= 1)) {
    store::refuse_file(path, fmt::format("has something other than a probability in record {}", rows.row()));
  }
  return p;
}

TagId tag_named(std::string_view text, const NameTable& types) {
  ParsedTag tag;
  if (!parse_tag(text, tag)) return kNoTag;
  if (tag.outside) return kOutside;
  for (std::size_t x = 0; x < types.size(); ++x) {
    if (types[x] == tag.type) return tag.begins ? begin_tag(x) : inside_tag(x);
  }
  return kNoTag;
}

void read_tags(const std::string& path, const SequenceData& data, SequenceFit& fit) {
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  const std::size_t document = column_of(rows, "doc", path), position = column_of(rows, "position", path);
  const std::size_t tag = column_of(rows, "tag", path), probability = column_of(rows, "probability", path);
  const auto offsets = data.answers.token_offsets();
  for (std::size_t d = 0; d < data.answers.task_count(); ++d) {
    for (std::size_t t = offsets[d]; t < offsets[d + 1]; ++t) {
      const auto expected = static_cast<double>(data.first_position + t - offsets[d]);
      if (!rows.next() || rows.fields().size() <= std::max({document, position, tag, probability}) ||
          rows.fields()[document] != data.answers.task_names()[d] || rows.number(position) != expected) {
        store::refuse_file(path, fmt::format("does not go on with the tokens of the answers in record {}", rows.row()));
      }
      fit.tags.push_back(tag_named(rows.fields()[tag], data.answers.type_names()));
      if (fit.tags.back() == kNoTag) {
        store::refuse_file(path, fmt::format("has something other than a tag in record {}", rows.row()));
      }
      fit.probability.push_back(probability_in(rows, probability, path));
    }
  }
  if (rows.next()) store::refuse_file(path, "has more rows than there are tokens");
}

void read_spans(const std::string& path, const SequenceData& data, SequenceFit& fit) {
  const auto offsets = data.answers.token_offsets();
  for (std::size_t d = 0; d < data.answers.task_count(); ++d) {
    append_spans(TaskId(d), std::span(fit.tags).subspan(offsets[d], offsets[d + 1] - offsets[d]), fit.spans);
  }
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  const std::size_t first = column_of(rows, "first", path), probability = column_of(rows, "probability", path);
  for (const Span& span : fit.spans) {
    if (!rows.next() || rows.number(first) != static_cast<double>(data.first_position + span.first)) {
      store::refuse_file(path, fmt::format("has another span than tags.csv in record {}", rows.row()));
    }
    fit.span_probability.push_back(probability_in(rows, probability, path));
  }
  if (rows.next()) store::refuse_file(path, "has more spans than tags.csv");
}

void read_workers(const std::string& path, const SequenceData& data, SequenceFit& fit) {
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) store::refuse_file(path, "is empty");
  const std::size_t accuracy = column_of(rows, "accuracy", path);
  for (std::size_t w = 0; w < data.answers.worker_count(); ++w) {
    if (!rows.next() || rows.fields().front() != data.answers.worker_names()[w]) {
      store::refuse_file(path, fmt::format("has another name than expected in record {}", rows.row()));
    }
    fit.accuracy.push_back(rows.number(accuracy));
  }
}

std::string recorded_text(const RunRecord& record, std::string_view name) {
  for (const auto& [known, value] : record.reading) {
    if (known == name) return value;
  }
  return "";
}

}  // namespace

StoredRun store::read_sequences(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                const RunContext& context) {
  const RunRecord& record = stored.record;
  RunInputs inputs = inputs_of(stored, folder, options);
  SequenceFiles files;
  files.answers = std::move(inputs.answers);
  files.gold = std::move(inputs.gold);
  if (const auto tokens = recorded_input(record, "tokens")) files.tokens = locate_input(folder, "tokens", *tokens);
  files.position_column = recorded_text(record, "position_column");
  files.gold_position_column = recorded_text(record, "gold_position_column");
  SequenceData data = wisecrowd::read_sequences(files, read_options(record.reading), context);
  const SequenceAnswers& answers = data.answers;
  check_same(stored, answers, answers.content_hash(), folder, files.answers);

  SequenceFit fit;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.document_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.tag_count = answers.tag_count();
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  read_tags(file("tags.csv"), data, fit);
  read_spans(file("spans.csv"), data, fit);
  read_workers(file("workers.csv"), data, fit);

  std::optional<SequenceEvaluation> evaluation = std::move(stored.sequence_evaluation);
  const auto known = std::count_if(data.gold.begin(), data.gold.end(), [](TagId tag) { return tag != kNoTag; });
  if (takes_new_gold(options, static_cast<std::uint64_t>(known), stored.record)) {
    evaluation = evaluate_sequences(answers.token_offsets(), fit.tags, data.gold, answers.type_names().size());
  }
  SequenceResult result = make_result(std::move(data), std::move(fit), std::move(stored.record));
  result.evaluation = std::move(evaluation);
  StoredRun run;
  run.result = std::move(result);
  return run;
}

}  // namespace wisecrowd
