#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "deliver/report/sequences_page.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostDocuments = 300, kDocumentBytes = 900'000;
constexpr std::size_t kMostShownTokens = 400;  ///< of a document
constexpr std::size_t kMostTokenBytes = 60;    ///< of a token's text
constexpr std::size_t kMostReaders = 12;       ///< workers whose spans are shown for a document
constexpr std::size_t kMostSequenceWorkers = 1000, kSequenceWorkerBytes = 300'000;
constexpr double kFewRight = 0.5;  ///< of the median worker's F1

Json score_json(const SpanScore& score) {
  const auto estimate = [](const Estimate& e) {
    return Json{{"value", number(e.value, 6)}, {"low", number(e.low, 6)}, {"high", number(e.high, 6)}};
  };
  return {{"precision", estimate(score.precision)}, {"recall", estimate(score.recall)}, {"f1", estimate(score.f1)}};
}

double median_f1(const std::vector<SequenceWorkerSummary>& workers) {
  std::vector<double> all;
  for (const SequenceWorkerSummary& worker : workers) {
    if (!std::isnan(worker.spans.strict_f1())) all.push_back(worker.spans.strict_f1());
  }
  if (all.empty()) return std::nan("");
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), half, all.end());
  return *half;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? std::nan("") : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::span<const TagId> SequencePage::tags_of(std::size_t document) const {
  return std::span(fit_.tags).subspan(answers_.token_offsets()[document], answers_.length(TaskId(document)));
}

Json SequencePage::spans_json(std::span<const TagId> tags) const {
  std::vector<Span> spans;
  append_spans(TaskId{0}, tags, spans);
  Json list = Json::array();
  for (const Span& span : spans) {
    if (span.first < kMostShownTokens) list.push_back({span.first, span.end, span.type});
  }
  return list;
}

Json SequencePage::found_json(std::size_t document) const {
  Json list = Json::array();
  for (std::size_t s = first_span_[document]; s < first_span_[document + 1]; ++s) {
    const Span& span = fit_.spans[s];
    if (span.first >= kMostShownTokens) break;
    list.push_back({span.first, span.end, span.type, number(fit_.span_probability[s])});
  }
  return list;
}

/// [worker, its spans, first and end of what it tagged]
Json SequencePage::said_json(std::size_t document, std::size_t& bytes) const {
  Json list = Json::array();
  const auto offsets = answers_.task_offsets();
  for (AnswerIndex a = offsets[document]; a < offsets[document + 1] && list.size() < kMostReaders; ++a) {
    std::vector<TagId> tags(answers_.length(TaskId(document)), kNoTag);
    std::copy(answers_.tags(a).begin(), answers_.tags(a).end(), tags.begin() + answers_.first(a));
    std::string name = shown_name(answers_.worker_names()[index(answers_.workers()[a])]);
    Json spans = spans_json(tags);
    bytes += embedded_size(name) + 30 + 14 * spans.size();
    list.push_back({std::move(name), std::move(spans), answers_.first(a), answers_.first(a) + answers_.tags(a).size()});
  }
  return list;
}

Json SequencePage::tokens_json(std::size_t document, std::size_t& bytes) const {
  Json list = Json::array();
  const std::size_t begin = answers_.token_offsets()[document];
  const std::size_t count = std::min<std::size_t>(answers_.length(TaskId(document)), kMostShownTokens);
  for (std::size_t t = 0; t < count && result_.data.tokens.size() > 0; ++t) {
    std::string text = shown_words(result_.data.tokens[begin + t], kMostTokenBytes);
    bytes += embedded_size(text) + 1;
    list.push_back(std::move(text));
  }
  return list;
}

/// Those with most doubt first.
Order SequencePage::chosen_documents() const {
  Order all(answers_.task_count());
  std::iota(all.begin(), all.end(), 0U);
  return first_by(all, kMostDocuments, [&](std::uint32_t a, std::uint32_t b) { return doubt_[a] > doubt_[b]; });
}

void SequencePage::add_documents(Json& document) {
  const bool scored = result_.evaluation.has_value();
  Json table;
  for (const char* column : {"name", "length", "answers", "spans", "doubt", "tokens", "found", "said"}) {
    table[column] = Json::array();
  }
  if (scored) table["gold"] = table["wrong"] = Json::array();
  std::size_t bytes = 0, shown = 0, cut = 0;
  for (const std::uint32_t d : chosen_documents()) {
    std::string name = shown_name(answers_.task_names()[d]);
    bytes += embedded_size(name) + 60;
    Json tokens = tokens_json(d, bytes), found = found_json(d), said = said_json(d, bytes);
    bytes += 22 * found.size();
    if (bytes > kDocumentBytes) break;
    ++shown;
    cut += answers_.length(TaskId(d)) > kMostShownTokens ? 1 : 0;
    table["name"].push_back(std::move(name));
    table["length"].push_back(answers_.length(TaskId(d)));
    table["answers"].push_back(answers_.workers_of(TaskId(d)).size());
    table["spans"].push_back(first_span_[d + 1] - first_span_[d]);
    table["doubt"].push_back(number(doubt_[d]));
    table["tokens"].push_back(std::move(tokens));
    table["found"].push_back(std::move(found));
    table["said"].push_back(std::move(said));
    if (!scored) continue;
    const auto gold = result_.data.gold_of(TaskId(d));
    const SpanCounts counts = compare_spans(tags_of(d), gold);
    table["gold"].push_back(spans_json(gold));
    table["wrong"].push_back(counts.found + counts.truth - 2 * counts.right);
  }
  document["documents"] = {{"total", answers_.task_count()},
                           {"shown", shown},
                           {"first_position", result_.data.first_position},
                           {"most_tokens", kMostShownTokens}};
  document["documents"].update(table);
  if (shown < answers_.task_count()) {
    sampling_.push_back(fmt::format("{} of {} are listed: those with most doubtful spans. spans.csv has all of them.",
                                    grouped(shown), counted(answers_.task_count(), "document")));
  }
  if (cut > 0) {
    sampling_.push_back(
        fmt::format("Of {} the first {} tokens are shown.", counted(cut, "long document"), grouped(kMostShownTokens)));
  }
}

void SequencePage::add_types(Json& document) {
  const std::size_t types = answers_.type_names().size();
  std::vector<std::uint64_t> found(types, 0);
  std::vector<double> sure(types, 0.0);
  for (std::size_t s = 0; s < fit_.spans.size(); ++s) {
    ++found[fit_.spans[s].type];
    sure[fit_.spans[s].type] += fit_.span_probability[s];
  }
  Json list = Json::array();
  for (std::size_t x = 0; x < types; ++x) {
    Json entry = {{"name", shown_name(answers_.type_names()[x])},
                  {"found", found[x]},
                  {"probability", number(found[x] == 0 ? std::nan("") : sure[x] / static_cast<double>(found[x]))},
                  {"marked", description_.spans_of_type[x]},
                  {"pairwise_f1", number(description_.pairwise_f1_of_type[x])}};
    if (result_.evaluation) {
      entry["gold"] = result_.evaluation->types[x].counts.truth;
      entry["score"] = score_json(result_.evaluation->types[x].strict);
    }
    list.push_back(std::move(entry));
  }
  document["types"] = std::move(list);
  document["agreement"] = {{"pairwise_f1", number(description_.pairwise_f1)},
                           {"pairwise_relaxed_f1", number(description_.pairwise_relaxed_f1)},
                           {"alpha", number(description_.token_alpha)},
                           {"outside", number(description_.outside_share)},
                           {"misplaced", description_.misplaced_tags}};
}

void SequencePage::add_workers(Json& document) {
  const bool gold = result_.data.has_gold();
  Order order(result_.workers.size());
  std::iota(order.begin(), order.end(), 0U);
  order = first_by(order, kMostSequenceWorkers,
                   [&](std::uint32_t a, std::uint32_t b) { return result_.workers[a].tags > result_.workers[b].tags; });
  Json table;
  for (const char* column : {"name", "documents", "tags", "accuracy", "spans", "precision", "recall", "f1", "why"}) {
    table[column] = Json::array();
  }
  if (gold) table["gold_accuracy"] = table["gold_f1"] = Json::array();
  const double usual = median_f1(result_.workers);
  std::size_t bytes = 0, shown = 0;
  for (const std::uint32_t w : order) {
    const SequenceWorkerSummary& worker = result_.workers[w];
    std::string name = shown_name(answers_.worker_names()[w]);
    bytes += embedded_size(name) + 90;
    if (bytes > kSequenceWorkerBytes) break;
    ++shown;
    const double f1 = worker.spans.strict_f1();
    Json why = Json::array();
    if (f1 < kFewRight * usual) why.push_back("few right spans");
    if (worker.spans.found == 0 && worker.spans.truth > 0) why.push_back("marks nothing");
    if (worker.documents == 1) why.push_back("one document");
    table["name"].push_back(std::move(name));
    table["documents"].push_back(worker.documents);
    table["tags"].push_back(worker.tags);
    table["accuracy"].push_back(number(worker.accuracy));
    table["spans"].push_back(worker.spans.found);
    table["precision"].push_back(number(ratio(worker.spans.right, worker.spans.found)));
    table["recall"].push_back(number(ratio(worker.spans.right, worker.spans.truth)));
    table["f1"].push_back(number(f1));
    table["why"].push_back(std::move(why));
    if (!gold) continue;
    table["gold_accuracy"].push_back(number(worker.gold_accuracy));
    table["gold_f1"].push_back(number(worker.gold_spans.strict_f1()));
  }
  document["workers"] = {{"total", result_.workers.size()}, {"shown", shown}};
  document["workers"].update(table);
  if (shown < result_.workers.size()) {
    sampling_.push_back(fmt::format("{} of {} are listed: those with most tags. workers.csv has all of them.",
                                    grouped(shown), counted(result_.workers.size(), "worker")));
  }
}

void SequencePage::add_gold(Json& document) {
  if (!result_.evaluation) return;
  const SequenceEvaluation& evaluation = *result_.evaluation;
  document["gold"] = {{"documents", evaluation.documents},
                      {"tokens", evaluation.tokens},
                      {"token_accuracy", number(evaluation.token_accuracy.value, 6)},
                      {"found", evaluation.counts.found},
                      {"truth", evaluation.counts.truth},
                      {"strict", score_json(evaluation.strict)},
                      {"relaxed", score_json(evaluation.relaxed)}};
}

}  // namespace wisecrowd::report
