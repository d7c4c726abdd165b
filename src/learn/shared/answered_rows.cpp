#include "wisecrowd/answered_rows.hpp"

#include <fmt/core.h>

#include <string_view>
#include <unordered_map>

#include "learn/shared/classifier.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

const RowModel& row_model(const Classifier& classifier) {
  const auto* const model = dynamic_cast<const RowModel*>(&classifier);
  if (model == nullptr) throw Error(ErrorCode::internal, "this classifier is not one of the library");
  return *model;
}

}  // namespace

const NameTable& known_workers(const Classifier& classifier) { return row_model(classifier).worker_names(); }

const std::string& why_no_workers(const Classifier& classifier) { return row_model(classifier).why_no_workers(); }

std::vector<double> posterior(const Classifier& classifier, const Features& features,
                              std::span<const RowAnswer> answers, const RunContext& context) {
  return row_model(classifier).posterior(features, answers, context);
}

std::vector<double> reliability(const Classifier& classifier, const Features& features,
                                std::span<const RowWorker> pairs, const RunContext& context) {
  return row_model(classifier).reliability(features, pairs, context);
}

Draws draw(const Classifier& classifier, const Features& features, std::size_t draws, const RunContext& context) {
  return row_model(classifier).draw(features, draws, context);
}

MatchedAnswers match_answers(const Classifier& classifier, const CategoryAnswers& answers, const NameTable& row_names) {
  const auto numbers_of = [](const NameTable& names) {
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    for (std::size_t n = 0; n < names.size(); ++n) numbers.emplace(names[n], static_cast<std::uint32_t>(n));
    return numbers;
  };
  const auto rows = numbers_of(row_names), workers = numbers_of(known_workers(classifier)),
             classes = numbers_of(classifier.class_names());
  const auto translate = [](const auto& numbers, const NameTable& names, std::vector<std::uint32_t>& unknown) {
    std::vector<std::uint32_t> to(names.size(), kUnknown);
    for (std::size_t n = 0; n < names.size(); ++n) {
      const auto found = numbers.find(names[n]);
      if (found != numbers.end()) {
        to[n] = found->second;
      } else {
        unknown.push_back(static_cast<std::uint32_t>(n));
      }
    }
    return to;
  };
  MatchedAnswers matched;
  std::vector<std::uint32_t> unknown_classes;
  const auto row_of = translate(rows, answers.task_names(), matched.unknown_tasks);
  const auto worker_of = translate(workers, answers.worker_names(), matched.unknown_workers);
  const auto class_of = translate(classes, answers.class_names(), unknown_classes);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto who = answers.workers_of(TaskId(t));
    const auto said = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < who.size(); ++a) {
      if (class_of[index(said[a])] == kUnknown) {
        throw Error(
            ErrorCode::bad_input,
            fmt::format("worker '{}' answered '{}' to task '{}', which is no class of the model: it knows '{}' to "
                        "'{}'",
                        answers.worker_names()[index(who[a])], answers.class_names()[index(said[a])],
                        answers.task_names()[t], classifier.class_names()[0],
                        classifier.class_names()[classifier.class_count() - 1]));
      }
      if (row_of[t] == kUnknown || worker_of[index(who[a])] == kUnknown) continue;
      matched.answers.push_back({row_of[t], WorkerId{worker_of[index(who[a])]}, ClassId(class_of[index(said[a])])});
    }
  }
  return matched;
}

}  // namespace wisecrowd
