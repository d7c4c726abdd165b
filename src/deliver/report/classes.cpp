#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "base/intervals.hpp"
#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostClasses = 60;
constexpr std::size_t kMostConfused = 30;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// What the crowd says for each truth: answers expected under the posterior, and as shares of the truth's answers.
Json crowd_confusion(const Source& source) {
  const CategoryAnswers& answers = source.answers();
  const CategoryFit& fit = source.result.aggregation;
  const std::size_t classes = fit.class_count;
  const std::vector<std::size_t> places = source.classes.largest(kMostConfused);
  const std::size_t shown = places.size();
  std::vector<std::size_t> column(classes, kNone);
  for (std::size_t i = 0; i < shown; ++i) column[source.classes.ids()[places[i]]] = i;
  std::vector<double> counts(shown * shown, 0.0), totals(shown, 0.0);
  const auto offsets = answers.task_offsets();
  const auto labels = answers.labels();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double* row = fit.posterior.data() + t * classes;
    for (std::size_t i = 0; i < shown; ++i) {
      const double p = row[source.classes.ids()[places[i]]];
      if (p == 0) continue;
      totals[i] += p * static_cast<double>(offsets[t + 1] - offsets[t]);
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const std::size_t l = column[index(labels[a])];
        if (l != kNone) counts[i * shown + l] += p;
      }
    }
  }
  Json share = Json::array(), expected = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    Json share_row = Json::array(), count_row = Json::array();
    for (std::size_t l = 0; l < shown; ++l) {
      share_row.push_back(totals[i] > 0 ? number(counts[i * shown + l] / totals[i]) : Json(nullptr));
      count_row.push_back(number(counts[i * shown + l], 5));
    }
    share.push_back(std::move(share_row));
    expected.push_back(std::move(count_row));
  }
  if (classes > shown) {
    source.sampling.push_back(
        fmt::format("The crowd's confusions are shown for the {} largest of {}.", shown, counted(classes, "class")));
  }
  return {{"classes", places}, {"share", std::move(share)}, {"answers", std::move(expected)}};
}

}  // namespace

ShownClasses::ShownClasses(const CategoryResult& result)
    : answers(result.data.answers.class_count(), 0),
      tasks(result.data.answers.class_count(), 0),
      names_(result.data.answers.class_names()) {
  for (const ClassId label : result.data.answers.labels()) ++answers[index(label)];
  for (const ClassId label : delivered_labels(result.aggregation, result.record.abstain_below)) {
    if (label != kNoClass) ++tasks[index(label)];
  }
  ids_.resize(answers.size());
  std::iota(ids_.begin(), ids_.end(), std::size_t{0});
  if (ids_.size() > kMostClasses) {
    std::stable_sort(ids_.begin(), ids_.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(tasks[a], answers[a]) > std::tie(tasks[b], answers[b]);
    });
    ids_.resize(kMostClasses);
  }
  place_.assign(answers.size(), kNone);
  for (std::size_t i = 0; i < ids_.size(); ++i) place_[ids_[i]] = i;
}

std::string ShownClasses::name(ClassId id) const { return shown_name(names_[index(id)]); }

Json ShownClasses::reference(ClassId id) const {
  if (id == kNoClass) return nullptr;
  const std::size_t place = place_[index(id)];
  return place == kNone ? Json(name(id)) : Json(place);
}

std::size_t ShownClasses::reference_size(ClassId id) const {
  return id == kNoClass ? 5 : place_[index(id)] == kNone ? embedded_size(name(id)) : 3;
}

std::vector<std::size_t> ShownClasses::largest(std::size_t most) const {
  std::vector<std::size_t> places(ids_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(tasks[ids_[a]], answers[ids_[a]]) > std::tie(tasks[ids_[b]], answers[ids_[b]]);
  });
  places.resize(most);
  std::sort(places.begin(), places.end());
  return places;
}

void add_classes(const Source& source, Json& document) {
  const ShownClasses& classes = source.classes;
  const CategoryFit& fit = source.result.aggregation;
  const auto all_answers = static_cast<double>(std::max<std::size_t>(source.answers().answer_count(), 1));
  const auto labelled =
      static_cast<double>(std::accumulate(classes.tasks.begin(), classes.tasks.end(), std::uint64_t{0}));
  Json name = Json::array(), answers = Json::array(), answer_share = Json::array(), tasks = Json::array();
  Json share = Json::array(), low = Json::array(), high = Json::array(), prior = Json::array();
  std::uint64_t shown_answers = 0, shown_tasks = 0;
  for (const std::size_t id : classes.ids()) {
    name.push_back(classes.name(ClassId(id)));
    answers.push_back(classes.answers[id]);
    answer_share.push_back(number(static_cast<double>(classes.answers[id]) / all_answers));
    tasks.push_back(classes.tasks[id]);
    const auto here = static_cast<double>(classes.tasks[id]);
    const Interval interval = labelled > 0 ? wilson_interval(here, labelled) : Interval{};
    share.push_back(labelled > 0 ? number(here / labelled) : Json(nullptr));
    low.push_back(labelled > 0 ? number(interval.low) : Json(nullptr));
    high.push_back(labelled > 0 ? number(interval.high) : Json(nullptr));
    prior.push_back(fit.class_prior.size() > id ? number(fit.class_prior[id]) : Json(nullptr));
    shown_answers += classes.answers[id];
    shown_tasks += classes.tasks[id];
  }
  document["classes"] = {{"name", std::move(name)},
                         {"answers", std::move(answers)},
                         {"answer_share", std::move(answer_share)},
                         {"tasks", std::move(tasks)},
                         {"task_share", std::move(share)},
                         {"task_share_low", std::move(low)},
                         {"task_share_high", std::move(high)},
                         {"prior", std::move(prior)}};
  if (classes.hidden() > 0) {
    document["classes_rest"] = {{"count", classes.hidden()},
                                {"answers", source.answers().answer_count() - shown_answers},
                                {"tasks", static_cast<std::uint64_t>(labelled) - shown_tasks}};
    source.sampling.push_back(
        fmt::format("Of {} the {} that most tasks are labelled with are listed; the others are summed up.",
                    counted(classes.ids().size() + classes.hidden(), "class"), classes.ids().size()));
  }
  if (source.answers().answer_count() > 0) document["crowd_confusion"] = crowd_confusion(source);
}

}  // namespace wisecrowd::report
