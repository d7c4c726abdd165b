#include "sequence_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "number_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownSequenceWorkers = 3;  // of the best, and of the worst
constexpr std::size_t kShownSpans = 5;

std::string tokens_of(const SequenceData& data, const Span& span) {
  std::string text;
  const std::size_t begin = data.answers.token_offsets()[index(span.document)];
  for (std::uint32_t t = span.first; t < span.end; ++t) {
    text += (t > span.first ? " " : "") + std::string(data.tokens[begin + t]);
  }
  return text;
}

/// The first spans, and how many there are of each type.
std::string span_table(const SequenceResult& result, const Screen& screen) {
  const SequenceData& data = result.data;
  const SequenceFit& fit = result.fit;
  const bool texts = data.tokens.size() > 0;
  std::vector<Column> columns = {
      {"document", Column::Side::left}, {"first"}, {"last"}, {"type", Column::Side::left}, {"probability"}};
  if (texts) columns.push_back({"text", Column::Side::left});
  Table table(columns);
  for (std::size_t s = 0; s < std::min(fit.spans.size(), kShownSpans); ++s) {
    const Span& span = fit.spans[s];
    std::vector<std::string> row = {printable(data.answers.task_names()[index(span.document)]),
                                    grouped(data.first_position + span.first),
                                    grouped(data.first_position + span.end - 1),
                                    printable(data.answers.type_names()[span.type]), percent(fit.span_probability[s])};
    if (texts) row.push_back(shortened(tokens_of(data, span), 40));
    table.add(row);
  }
  if (fit.spans.size() > kShownSpans) table.add({fmt::format("… {} more", grouped(fit.spans.size() - kShownSpans))});
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

std::string sequence_worker_table(const SequenceResult& result, const Screen& screen) {
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    if (result.workers[w].tags > 0) order.push_back(w);
  }
  const auto worth = [&](std::size_t w) {
    const double f1 = result.workers[w].spans.strict_f1();
    return std::isnan(f1) ? result.workers[w].accuracy - 1 : f1;
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return worth(a) != worth(b) ? worth(a) > worth(b) : a < b; });
  Table table({{"worker", Column::Side::left}, {"documents"}, {"tags"}, {"right tags"}, {"spans"}, {"span F1"}});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool shown = i < kShownSequenceWorkers || i + kShownSequenceWorkers >= order.size();
    if (!shown && i == kShownSequenceWorkers) {
      table.add({fmt::format("… {} more", grouped(order.size() - 2 * kShownSequenceWorkers))});
    }
    if (!shown) continue;
    const SequenceWorkerSummary& worker = result.workers[order[i]];
    table.add({printable(result.data.answers.worker_names()[order[i]]), grouped(worker.documents), grouped(worker.tags),
               percent(worker.accuracy), grouped(worker.spans.found), fixed(worker.spans.strict_f1(), 3)});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

nlohmann::ordered_json span_score_json(const SpanScore& score) {
  return {{"precision", estimate_json(score.precision)},
          {"recall", estimate_json(score.recall)},
          {"f1", estimate_json(score.f1)}};
}

nlohmann::ordered_json span_count_json(const SpanCounts& counts) {
  return {{"found", counts.found}, {"gold", counts.truth}, {"right", counts.right}};
}

}  // namespace

std::string sequence_data_line(const SequenceAnswers& answers, const Screen& screen) {
  return fmt::format("{}     {} by {} to {}, {} of {}, {} of spans\n", screen.bold("Data"),
                     counted(answers.answer_count(), "answer"), counted(answers.worker_count(), "worker"),
                     counted(answers.task_count(), "document"), counted(answers.tag_answer_count(), "tag"),
                     counted(answers.token_count(), "token"), counted(answers.type_names().size(), "type"));
}

std::string sequence_score_lines(const SequenceEvaluation& evaluation, const NameTable& types, const Screen& screen) {
  Table table({{"spans", Column::Side::left}, {"found"}, {"gold"}, {"precision"}, {"recall"}, {"F1"}, {"95 %"}});
  const auto add = [&](const std::string& name, const SpanCounts& counts, const SpanScore& score) {
    table.add({name, grouped(counts.found), grouped(counts.truth), fixed(score.precision.value, 3),
               fixed(score.recall.value, 3), fixed(score.f1.value, 3),
               fmt::format("{} – {}", fixed(score.f1.low, 3), fixed(score.f1.high, 3))});
  };
  add("strict", evaluation.counts, evaluation.strict);
  add("relaxed", evaluation.counts, evaluation.relaxed);
  for (std::size_t x = 0; x < types.size() && types.size() > 1; ++x) {
    add(fmt::format("strict, {}", printable(types[x])), evaluation.types[x].counts, evaluation.types[x].strict);
  }
  return table.text(screen.width, screen.dim_on(), screen.off()) +
         fmt::format("  right tags of tokens: {} ({} – {})\n", percent(evaluation.token_accuracy.value),
                     percent(evaluation.token_accuracy.low), percent(evaluation.token_accuracy.high));
}

nlohmann::ordered_json sequence_evaluation_json(const SequenceEvaluation& evaluation, const NameTable& types) {
  nlohmann::ordered_json json = {{"documents", evaluation.documents},
                                 {"tokens", evaluation.tokens},
                                 {"token_accuracy", estimate_json(evaluation.token_accuracy)},
                                 {"spans", span_count_json(evaluation.counts)},
                                 {"strict", span_score_json(evaluation.strict)},
                                 {"relaxed", span_score_json(evaluation.relaxed)}};
  auto& list = json["types"] = nlohmann::ordered_json::array();
  for (std::size_t x = 0; x < types.size(); ++x) {
    list.push_back({{"type", std::string(types[x])},
                    {"spans", span_count_json(evaluation.types[x].counts)},
                    {"strict", span_score_json(evaluation.types[x].strict)}});
  }
  return json;
}

std::string sequence_summary(const SequenceResult& result, bool is_default, double seconds, const Screen& screen) {
  std::string text = sequence_data_line(result.data.answers, screen);
  text += fmt::format("{}   {}{}, {}", screen.bold("Method"), result.record.method, is_default ? " (default)" : "",
                      duration(seconds));
  if (result.fit.iterations > 1) text += fmt::format(", {}", counted(result.fit.iterations, "iteration"));
  text += fmt::format("\n{}    {}\n", screen.bold("Found"), counted(result.fit.spans.size(), "span"));
  const std::string spans = span_table(result, screen);
  if (!spans.empty()) text += "\n" + spans;
  if (result.evaluation) {
    text += fmt::format("\n{}   against gold of {}\n", screen.bold("Scored"),
                        counted(result.evaluation->documents, "document"));
    text += sequence_score_lines(*result.evaluation, result.data.answers.type_names(), screen);
  }
  const std::string workers = sequence_worker_table(result, screen);
  if (!workers.empty()) text += "\n" + workers;
  return text;
}

std::string sequence_description_text(const SequenceDescription& d, const SequenceAnswers& answers,
                                      const Screen& screen) {
  std::string text = sequence_data_line(answers, screen) + "\n";
  Table counts({{"answers per", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  const auto add = [&](const char* name, const Distribution& v) {
    counts.add({name, short_number(v.minimum), short_number(v.lower_quartile), short_number(v.median),
                short_number(v.mean), short_number(v.upper_quartile), short_number(v.maximum)});
  };
  add("document", d.answers_per_task);
  add("worker", d.answers_per_worker);
  text += counts.text(screen.width, screen.dim_on(), screen.off()) + "\n";
  Table types({{"spans", Column::Side::left}, {"in all answers"}, {"pairwise F1"}});
  std::uint64_t all = 0;
  for (const std::uint64_t spans : d.spans_of_type) all += spans;
  for (std::size_t x = 0; x < d.spans_of_type.size(); ++x) {
    types.add({printable(answers.type_names()[x]), grouped(d.spans_of_type[x]), fixed(d.pairwise_f1_of_type[x], 3)});
  }
  types.add({"all types", grouped(all), fixed(d.pairwise_f1, 3)});
  text += types.text(screen.width, screen.dim_on(), screen.off());
  text += fmt::format("\n  pairwise F1, relaxed: {}; alpha of tokens: {}; outside: {}\n",
                      fixed(d.pairwise_relaxed_f1, 3), fixed(d.token_alpha, 3), percent(d.outside_share));
  text += fmt::format("  answers that leave out tokens: {}; tokens without an answer: {}\n", grouped(d.partial_answers),
                      grouped(d.untagged_tokens));
  text += "\n  " +
          wrapped(
              "pairwise F1 compares the spans of two workers on one document, all pairs together: 1 means that they "
              "mark the same; relaxed counts spans of one type that share a token. alpha is Krippendorff's for tags.",
              screen.width, 2) +
          "\n";
  return text;
}

nlohmann::ordered_json sequence_description_json(const SequenceDescription& d, const SequenceAnswers& answers,
                                                 const std::vector<Warning>& warnings) {
  nlohmann::ordered_json json = {{"answers_kind", "sequences"},
                                 {"documents", d.tasks},
                                 {"workers", d.workers},
                                 {"answers", d.answers},
                                 {"tokens", d.tokens},
                                 {"tags", d.tags},
                                 {"hash", fmt::format("{:016x}", answers.content_hash())},
                                 {"untagged_tokens", d.untagged_tokens},
                                 {"partial_answers", d.partial_answers},
                                 {"misplaced_tags", d.misplaced_tags},
                                 {"outside_share", d.outside_share},
                                 {"silent_workers", d.silent_workers},
                                 {"answers_per_document", distribution_json(d.answers_per_task)},
                                 {"answers_per_worker", distribution_json(d.answers_per_worker)},
                                 {"components", d.components},
                                 {"krippendorff_alpha", d.token_alpha},
                                 {"pairwise_f1", d.pairwise_f1},
                                 {"pairwise_relaxed_f1", d.pairwise_relaxed_f1}};
  auto& list = json["types"] = nlohmann::ordered_json::array();
  for (std::size_t x = 0; x < d.spans_of_type.size(); ++x) {
    list.push_back({{"type", std::string(answers.type_names()[x])},
                    {"spans", d.spans_of_type[x]},
                    {"pairwise_f1", d.pairwise_f1_of_type[x]}});
  }
  json["warnings"] = warnings_json(warnings);
  return json;
}

}  // namespace wisecrowd::app
