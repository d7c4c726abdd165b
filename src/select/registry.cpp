#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "wisecrowd/error.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_SELECTOR(room)                                  \
  namespace room##_selector {                                     \
    SelectorInfo info();                                          \
    std::unique_ptr<Selector> make(const Parameters& parameters); \
  }
#include "select/selectors.def"
#undef WISECROWD_SELECTOR

namespace {

struct Entry {
  std::string_view name;
  SelectorInfo (*info)();
  std::unique_ptr<Selector> (*make)(const Parameters&);
};

constexpr std::array kEntries = {
#define WISECROWD_SELECTOR(room) Entry{#room, &room##_selector::info, &room##_selector::make},
#include "select/selectors.def"
#undef WISECROWD_SELECTOR
};

void check_size(std::size_t has, std::size_t needs, std::string_view what) {
  if (has == needs) return;
  throw Error(ErrorCode::bad_input,
              fmt::format("the view of the crowd has {} {}, but {} are needed", has, what, needs));
}

void check(const CrowdView& crowd, const SelectionRequest& request, const SelectorInfo& info) {
  const std::size_t k = crowd.class_count;
  check_size(crowd.posterior.size(), crowd.task_count() * k, "posterior probabilities");
  check_size(crowd.worker_counts.size(), crowd.worker_count() * k * k, "cells of worker tables");
  check_size(crowd.passes.size(), crowd.pass_count * crowd.task_count() * k, "probabilities of passes");
  if (!crowd.answers.empty()) {
    const GivenAnswers& given = crowd.answers;
    check_size(given.offsets.size(), crowd.task_count() + 1, "bounds of the tasks' answers");
    check_size(given.workers.size(), given.offsets.back(), "workers of answers");
    check_size(given.labels.size(), given.offsets.back(), "labels of answers");
    if (!std::is_sorted(given.offsets.begin(), given.offsets.end()) ||
        std::any_of(given.workers.begin(), given.workers.end(),
                    [&](WorkerId worker) { return index(worker) >= crowd.worker_count(); }) ||
        std::any_of(given.labels.begin(), given.labels.end(), [&](ClassId label) { return index(label) >= k; })) {
      throw Error(ErrorCode::bad_input,
                  "an answer in the view of the crowd is by a worker or of a class that it does not have");
    }
  }
  if (!request.offers.empty()) check_size(request.offers.size(), crowd.worker_count(), "offers of workers");
  for (std::size_t j = 0; j < request.offers.size(); ++j) {
    const double cost = request.offers[j].cost;
    if (!(cost > 0) || !std::isfinite(cost)) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("worker {} costs {}: a cost is a number above 0, give 1 to all when answers are free", j, cost));
    }
  }
  if (std::any_of(crowd.worker_counts.begin(), crowd.worker_counts.end(), [](double n) { return !(n > 0); })) {
    throw Error(ErrorCode::bad_input, "a cell of a worker's table is not above 0: add the prior to the counts");
  }
  if (info.needs_passes && crowd.pass_count == 0) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} needs what a network says in several passes with dropout, and there is none here: "
                            "choose entropy or expected_information",
                            info.name));
  }
  if (info.needs_reliability && !crowd.reliability) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} needs a model of features that says how reliable a worker is on a task, and there is "
                            "none here: choose expected_information",
                            info.name));
  }
}

}  // namespace

std::span<const SelectorInfo> selectors() {
  static const std::vector<SelectorInfo> all = [] {
    std::vector<SelectorInfo> infos;
    for (const Entry& entry : kEntries) {
      infos.push_back(entry.info());
      infos.back().name = entry.name;
    }
    return infos;
  }();
  return all;
}

const SelectorInfo& selector(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SelectorInfo& info : selectors()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no policy '{}': choose {}", name, fmt::join(names, ", ")));
}

std::string_view default_selector() { return "expected_information"; }

std::unique_ptr<Selector> make_selector(std::string_view name, const Parameters& parameters) {
  const SelectorInfo& info = selector(name);
  for (const Entry& entry : kEntries) {
    if (entry.name == info.name) return entry.make(parameters);
  }
  throw Error(ErrorCode::internal, "a selector is listed but cannot be made");
}

Selection select(const CrowdView& crowd, const SelectionRequest& request, std::string_view name,
                 const Parameters& parameters, const RunContext& context) {
  const SelectorInfo& info = selector(name);
  if (crowd.class_count == 0) return {};  // nobody has said anything yet: there is no question to ask
  check(crowd, request, info);
  return make_selector(name, parameters)->choose(crowd, request, context);
}

}  // namespace wisecrowd
