#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "select/shared/selector_entry.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_SELECTOR(room) \
  namespace room##_selector {    \
    SelectorEntry selector();    \
  }
#include "select/selectors.def"
#undef WISECROWD_SELECTOR

namespace {

const Registry<SelectorEntry>& registry() {
  static const Registry<SelectorEntry> all("policy", {
#define WISECROWD_SELECTOR(room) {#room, &room##_selector::selector},
#include "select/selectors.def"
#undef WISECROWD_SELECTOR
                                                     });
  return all;
}

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
    const double response = request.offers[j].response;
    if (!(response >= 0) || !(response <= 1)) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("worker {} answers with probability {}: it takes a number from 0 to 1", j, response));
    }
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
                            "give features, or choose entropy or expected_information",
                            info.name));
  }
  if (info.needs_reliability && !crowd.reliability) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} needs a model of features that says how reliable a worker is on a task, and there is "
                            "none here: give features, or choose expected_information",
                            info.name));
  }
}

}  // namespace

std::span<const SelectorInfo> selectors() { return registry().infos(); }

const SelectorInfo& selector(std::string_view name) { return registry().info(name); }

std::string_view default_selector() { return "expected_information"; }

std::unique_ptr<Selector> make_selector(std::string_view name, const Parameters& parameters) {
  return registry().make(name, parameters);
}

Selection select(const CrowdView& crowd, const SelectionRequest& request, std::string_view name,
                 const Parameters& parameters, const RunContext& context) {
  const SelectorInfo& info = selector(name);
  if (crowd.class_count == 0) return {};  // nobody has said anything yet: there is no question to ask
  check(crowd, request, info);
  return make_selector(name, parameters)->choose(crowd, request, context);
}

}  // namespace wisecrowd
