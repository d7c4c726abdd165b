#include "wisecrowd/live_asking.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

std::vector<std::string> list_of(const NameTable& names) {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < names.size(); ++n) list.emplace_back(names[n]);
  return list;
}

std::vector<CategoryAnswer> edges_of(const CategoryAnswers& answers) {
  std::vector<CategoryAnswer> edges;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) edges.push_back({TaskId(t), workers[a], labels[a]});
  }
  return edges;
}

/// All answers, a task for every row, and the workers who are only offered.
LearningData joined(CategoryData crowd, FeatureTable features, const std::vector<std::string>& new_workers) {
  std::vector<std::string> tasks = list_of(crowd.answers.task_names());
  std::vector<std::string> workers = list_of(crowd.answers.worker_names());
  workers.insert(workers.end(), new_workers.begin(), new_workers.end());
  std::unordered_map<std::string, std::uint32_t> place;
  for (std::size_t t = 0; t < tasks.size(); ++t) place.emplace(tasks[t], static_cast<std::uint32_t>(t));
  std::vector<std::uint32_t> row_of_task(tasks.size(), kNoRow);
  for (std::size_t row = 0; row < features.names.size(); ++row) {
    const std::string name(features.names[row]);
    const auto [at, is_new] = place.emplace(name, static_cast<std::uint32_t>(tasks.size()));
    if (is_new) {
      tasks.push_back(name);
      row_of_task.push_back(kNoRow);
    }
    row_of_task[at->second] = static_cast<std::uint32_t>(row);
  }
  const std::size_t answered = crowd.answers.task_count();
  const bool matched = std::any_of(row_of_task.begin(), row_of_task.begin() + static_cast<std::ptrdiff_t>(answered),
                                   [](std::uint32_t row) { return row != kNoRow; });
  if (answered > 0 && !matched) {
    throw Error(ErrorCode::bad_input,
                fmt::format("no task of the state has features: the state knows '{}', the features '{}'{}", tasks[0],
                            features.names.size() > 0 ? std::string(features.names[0]) : "",
                            features.names_are_numbers ? "; name the rows of an array by a table of tasks" : ""));
  }
  LearningData data;
  data.crowd.answers = make_category_answers(edges_of(crowd.answers),
                                             {NameTable(tasks), NameTable(workers), crowd.answers.class_names()},
                                             DuplicatePolicy::repeat);
  if (crowd.has_gold()) {
    data.crowd.gold = std::move(crowd.gold);
    data.crowd.gold.resize(tasks.size(), kNoClass);
  }
  data.row_of_task = std::move(row_of_task);
  data.features = std::move(features.features);
  data.row_names = std::move(features.names);
  data.split = std::move(features.split);
  data.recipe = std::move(features.recipe);
  return data;
}

}  // namespace

LiveAsked select_live(const CrowdState& state, FeatureTable features, const AskRequest& asked, LiveMemory& memory,
                      std::int64_t now, const RunContext& context) {
  if (!(asked.budget > 0) || !std::isfinite(asked.budget)) {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("budget {}: it takes a number above 0: how much the answers may cost together", asked.budget));
  }
  CrowdState::Whole whole = state.whole(context);
  // Truth that is there to score labels must not help to make them.
  if (state.summary().gold_use == GoldUse::evaluation) whole.data.gold.clear();
  if (whole.data.answers.class_count() < 2) {
    throw Error(ErrorCode::bad_input,
                "the state knows fewer than two classes: declare them when it is made, or add answers first");
  }
  std::vector<WorkerOffer> offers;
  std::vector<std::string> new_workers;
  double cheapest = 1;
  if (asked.offers) {
    std::vector<std::size_t> unknown;
    offers = offers_for(*asked.offers, list_of(whole.data.answers.worker_names()), unknown);
    for (const std::size_t n : unknown) {
      new_workers.push_back(asked.offers->workers[n]);
      offers.push_back(asked.offers->offers[n]);
    }
    for (const WorkerOffer& offer : asked.offers->offers) cheapest = std::min(cheapest, offer.cost);
  }
  memory.recipe = features.recipe;
  const LearningData data = joined(std::move(whole.data), std::move(features), new_workers);
  if (data.crowd.answers.worker_count() == 0) {
    throw Error(ErrorCode::bad_input,
                "nobody is known who could be asked: name workers, with their prices if you like");
  }
  LiveRequest request;
  request.budget = asked.budget;
  request.questions = static_cast<std::size_t>(asked.budget / cheapest + 1e-9);
  request.offers = offers;
  request.now = now;
  LiveAsked result;
  result.round = next_live_round(data, memory, request, context);
  result.tasks = list_of(data.crowd.answers.task_names());
  result.workers = list_of(data.crowd.answers.worker_names());
  return result;
}

}  // namespace wisecrowd
