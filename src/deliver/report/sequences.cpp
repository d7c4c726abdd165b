#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sequences_page.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"

namespace wisecrowd::report {
namespace {

constexpr double kHardlyAgreeF1 = 0.3;  ///< pairwise F1

std::string share_words(const Estimate& estimate) {
  if (std::isnan(estimate.low)) return fmt::format("{:.3f}", estimate.value);
  return fmt::format("{:.3f} (95 % interval {:.3f} to {:.3f})", estimate.value, estimate.low, estimate.high);
}

}  // namespace

SequencePage::SequencePage(const SequenceResult& result, const ReportOptions& options, const RunContext& context)
    : result_(rounded_for_files(result)),
      description_(report_facts(result).description),
      options_(options),
      context_(context),
      answers_(result_.data.answers),
      fit_(result_.fit) {
  std::size_t at = 0;
  for (std::size_t d = 0; d < answers_.task_count(); ++d) {
    first_span_.push_back(at);
    double doubt = 0;
    for (; at < fit_.spans.size() && index(fit_.spans[at].document) == d; ++at) doubt += 1 - fit_.span_probability[at];
    doubt_.push_back(doubt);
  }
  first_span_.push_back(at);
}

Json SequencePage::document() {
  Json document = document_head(result_.record, options_);
  document["answers_kind"] = std::string(Sequences::name);
  document["run"] = run_facts(result_.record, fit_, options_, answers_.content_hash());
  for (const auto add :
       {&SequencePage::add_counts, &SequencePage::add_warnings, &SequencePage::add_headlines, &SequencePage::add_types,
        &SequencePage::add_documents, &SequencePage::add_workers, &SequencePage::add_gold, &SequencePage::add_rest}) {
    if (context_.cancelled()) throw Cancelled();
    (this->*add)(document);
  }
  return document;
}

void SequencePage::add_counts(Json& document) {
  document["counts"] = {{"documents", description_.tasks},
                        {"workers", description_.workers},
                        {"answers", description_.answers},
                        {"tokens", description_.tokens},
                        {"tags", description_.tags},
                        {"spans", fit_.spans.size()},
                        {"types", answers_.type_names().size()},
                        {"answers_per_document", number(description_.answers_per_task.mean)}};
}

void SequencePage::add_warnings(Json& document) {
  const RunRecord& record = result_.record;
  WarningList list(record);
  list.add_new(record.data_warnings);
  list.add_new(fit_.warnings);
  list.add_new(description_.warnings);
  list.add_stopped(fit_, "spans and workers are", "the spans");
  if (description_.pairwise_f1 < kHardlyAgreeF1) {
    list.add(
        Severity::caution, "Workers hardly mark the same",
        fmt::format("two workers on one document agree on few spans (pairwise F1 {:.2f})", description_.pairwise_f1),
        "read some documents below: do instructions say where spans begin and end?");
  }
  list.add_unmeasured(
      fmt::format("the method was given the truth of {}, so they are no test of the tags",
                  counted(record.gold_tasks, "token")),
      "without documents whose truth is known, how right spans are is what the method believes of itself",
      "learn the truth of some random documents");
  document["warnings"] = list.json();
}

std::string SequencePage::verdict(const Json& warnings) const {
  std::string words =
      fmt::format("{} found in {} ({} tokens), from {} by {}; method: {}.",
                  fit_.spans.size() == 1 ? "1 span was" : fmt::format("{} spans were", grouped(fit_.spans.size())),
                  counted(description_.tasks, "document"), grouped(description_.tokens),
                  counted(description_.answers, "answer"), counted(description_.workers, "worker"),
                  options_.method_title.empty() ? result_.record.method : options_.method_title);
  if (result_.evaluation) {
    words +=
        fmt::format(" Against gold of {}, strict F1 of spans is {}.",
                    counted(result_.evaluation->documents, "document"), share_words(result_.evaluation->strict.f1));
  } else if (!fit_.spans.empty()) {
    words += " How many of them are right was not measured.";
  }
  return words + serious_words(warnings, "the spans");
}

void SequencePage::add_headlines(Json& document) {
  Json list = Json::array();
  if (result_.evaluation) {
    const SequenceEvaluation& score = *result_.evaluation;
    list.push_back(
        with_interval(headline("f1", "Span F1, strict", number(score.strict.f1.value, kHeadlineDigits), "none",
                               fmt::format("Both ends and the type agree with gold, on {}. Precision {}, recall {}.",
                                           counted(score.documents, "document"), share_words(score.strict.precision),
                                           share_words(score.strict.recall)),
                               "measured on gold"),
                      score.strict.f1.low, score.strict.f1.high));
    list.push_back(
        with_interval(headline("relaxed", "Span F1, relaxed", number(score.relaxed.f1.value, kHeadlineDigits), "none",
                               "Spans of the same type that share a token count as right.", "measured on gold"),
                      score.relaxed.f1.low, score.relaxed.f1.high));
  } else if (!fit_.spans.empty()) {
    double sure = 0;
    for (const double p : fit_.span_probability) sure += p;
    list.push_back(headline("precision", "Spans expected to be right",
                            number(sure / static_cast<double>(fit_.spans.size()), kHeadlineDigits), "share",
                            "With exactly these ends and this type, if the method is right about the workers. Nothing "
                            "was measured: that takes documents whose truth is known.",
                            "estimated by the model"));
  }
  if (!std::isnan(description_.pairwise_f1)) {
    list.push_back(headline("agreement", "Agreement (pairwise F1)", number(description_.pairwise_f1, kHeadlineDigits),
                            "none",
                            fmt::format("Spans of one worker against those of another on the same document; relaxed "
                                        "{:.3f}. Krippendorff's alpha of the tags: {:.3f}.",
                                        description_.pairwise_relaxed_f1, description_.token_alpha),
                            "counted"));
  }
  list.push_back(headline("documents", "Answers per document",
                          number(description_.answers_per_task.mean, kHeadlineDigits), "none",
                          fmt::format("{} of {} leave out tokens of their document.",
                                      grouped(description_.partial_answers), counted(description_.answers, "answer")),
                          "counted"));
  document["headlines"] = std::move(list);
  document["verdict"] = verdict(document["warnings"]);
}

void SequencePage::add_rest(Json& document) {
  if (fit_.iterations > 1) document["convergence"] = convergence_facts(fit_, true, sampling_);
  document["sampling"] = sampling_;
}

Json sequences_document(const SequenceResult& result, const ReportOptions& options, const RunContext& context) {
  return SequencePage(result, options, context).document();
}

}  // namespace wisecrowd::report
