#include <fmt/core.h>

#include "wisecrowd/trust.hpp"

namespace wisecrowd {
namespace {

std::string advice_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// "cat as dog, dog as cat"
std::string recoding_in_words(std::span<const ClassId> recoding, const NameTable& classes) {
  constexpr std::size_t kMost = 6;
  std::string words;
  std::size_t changed = 0;
  for (std::size_t l = 0; l < recoding.size(); ++l) {
    if (index(recoding[l]) == l || ++changed > kMost) continue;
    words += fmt::format("{}{} as {}", words.empty() ? "" : ", ", classes[l], classes[index(recoding[l])]);
  }
  return changed > kMost ? fmt::format("{} and {} more", words, changed - kMost) : words;
}

}  // namespace

std::string_view to_string(WorkerAdvice advice) noexcept {
  switch (advice) {
    case WorkerAdvice::keep: return "keep";
    case WorkerAdvice::retrain: return "retrain";
    case WorkerAdvice::recode: return "recode";
    case WorkerAdvice::check: return "check";
    case WorkerAdvice::stop: return "stop";
    case WorkerAdvice::unsure: return "unsure";
  }
  return "";
}

std::string reason_of(const WorkerAssessment& judged, const NameTable& classes) {
  const std::string right = fmt::format("right in {} ({:.0f} to {:.0f})", advice_percent(judged.accuracy.value),
                                        100 * judged.accuracy.low, 100 * judged.accuracy.high);
  const std::string guessing = fmt::format("guessing would give {}", advice_percent(judged.chance));
  const auto words = [&]() -> std::string {
    switch (judged.reason) {
      case AdviceReason::better_than_guessing: return fmt::format("{}; {}", right, guessing);
      case AdviceReason::takes_one_for_another:
        return fmt::format("as a rule it says {} where the truth is {}", classes[index(judged.said)],
                           classes[index(judged.truth)]);
      case AdviceReason::reliably_wrong:
        return fmt::format("reliably wrong: {}, where {}; has it understood the classes?", right, guessing);
      case AdviceReason::swaps_classes:
        return fmt::format("swaps classes: read its {}; {}, where {}", recoding_in_words(judged.recoding, classes),
                           right, guessing);
      case AdviceReason::worse_lately:
        return fmt::format("worse lately: right in {} before and in {} since; {}", advice_percent(judged.before),
                           advice_percent(judged.lately), guessing);
      case AdviceReason::answers_as_one: break;
      case AdviceReason::colludes:
        return fmt::format(
            "with {} other{} it contradicts, as one, what the rest is sure of on {} of the tasks: {}, where {}",
            judged.copies, judged.copies == 1 ? "" : "s", advice_percent(judged.contradicts), right, guessing);
      case AdviceReason::guesses:
        return judged.spammer >= 0.5
                   ? fmt::format(
                         "most likely guesses: its answers do not depend on the truth (probability {}); {}, where {}",
                         advice_percent(judged.spammer), right, guessing)
                   : fmt::format("no better than guessing: {}, where {}", right, guessing);
      case AdviceReason::tells_little: return fmt::format("hardly better than guessing: {}, where {}", right, guessing);
      case AdviceReason::undecided:
        return fmt::format("{} answers do not tell whether it guesses: {}, where {}", judged.answers, right, guessing);
      case AdviceReason::few_answers:
        return judged.answers == 1 ? "1 answer is too few to say"
                                   : fmt::format("{} answers are too few to say", judged.answers);
      case AdviceReason::no_answers: return "it has not answered";
    }
    return fmt::format("{}; {}", right, guessing);
  }();
  if (judged.copies == 0 || judged.reason == AdviceReason::colludes) return words;
  return fmt::format("answers as one with {} other{}, so what is said of it is not to be relied on: {}", judged.copies,
                     judged.copies == 1 ? "" : "s", words);
}

std::string effect_of(const WorkerAssessment& judged, std::size_t tasks) {
  if (judged.answers == 0) return "nothing would change without it";
  const auto labels = [&](std::uint64_t n) {
    return n == 0 ? fmt::format("none of {} labels", tasks) : fmt::format("{} of {} labels", n, tasks);
  };
  if (judged.advice == WorkerAdvice::recode) {
    return fmt::format(
        "read so, it would change {} by plain votes; a method that learns tables reads it so already, and without it "
        "{} "
        "would change",
        labels(judged.votes_recoded), labels(judged.labels_without));
  }
  return fmt::format("without {} {} would change", judged.copies > 0 ? "it and those it answers as one with," : "it",
                     labels(judged.labels_without));
}

}  // namespace wisecrowd
