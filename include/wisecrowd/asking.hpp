#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/category_fit.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/replay.hpp"
#include "wisecrowd/select.hpp"
#include "wisecrowd/state.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {

/// Who can be asked, by name, and on what terms.
struct NamedOffers {
  std::vector<std::string> workers;
  std::vector<WorkerOffer> offers;
};

/// One offer for each of `names`: the one that is made, or, for those who are not named, not available. Workers who
/// are not among the names are put into `unknown_workers`.
[[nodiscard]] std::vector<WorkerOffer> offers_for(const NamedOffers& offers, const std::vector<std::string>& names,
                                                  std::vector<std::size_t>& unknown_workers);

/// What to choose, of a state or of finished data.
struct AskRequest {
  double budget = std::numeric_limits<double>::infinity();  ///< what the answers may cost together
  /// Nothing: everybody who is known, at cost 1. Those whom nobody knows yet are taken for average.
  std::optional<NamedOffers> offers;
  /// Of a state: look at so many of the most uncertain tasks. 0: ten per pair, at least 10,000.
  std::size_t candidates = 0;
  /// Of a state: pairs of a task and a worker that are not to be chosen, beside those that have answered.
  std::function<bool(std::string_view task, std::string_view worker)> excluded;
  std::uint64_t round = 0;  ///< changes the lots of policies that draw them; 0: the number of answers so far
};

/// Choices whose tasks and workers are positions in these names.
struct NamedSelection {
  Selection selection;
  std::vector<std::string> tasks, workers;
  std::size_t candidates = 0;  ///< tasks that were looked at
};

/// What to ask next, by what a state knows.
[[nodiscard]] NamedSelection select_from_state(const CrowdState& state, const AskRequest& request,
                                               std::string_view selector, const Parameters& parameters,
                                               const RunContext& context);
/// The same for answers and a fit to them. The budget must be finite.
[[nodiscard]] NamedSelection select_from_fit(const CategoryAnswers& answers, const CategoryFit& fit,
                                             const AskRequest& request, std::string_view selector,
                                             const Parameters& parameters, const RunContext& context);

/// What finished data need.
struct Advice {
  Selection tasks;  ///< one choice for each task that deserves another answer, the most rewarding first
  std::vector<WorkerAssessment> workers;
  Dependence dependence;  ///< workers who do not answer independently
  CrowdKnowledge known;
};
/// With offers, tasks are for those among the known workers who can be had.
[[nodiscard]] Advice advise(const CategoryAnswers& answers, const CategoryFit& fit,
                            const std::optional<NamedOffers>& offers, std::string_view selector,
                            const Parameters& parameters, const RunContext& context);

/// The aggregator of advice when none is named: the base of the default one, which is much quicker.
[[nodiscard]] std::string_view default_refit_method();

struct RefitChoice {
  std::string method;
  std::vector<std::pair<std::string, ParameterValue>> settings;  ///< parameters that are not at their defaults
};
/// The aggregator between the rounds of a replay when none is named: short chains of draws. With few answers per worker
/// it matters that labels are averaged over all tables that the answers allow, instead of trusting one estimate.
/// Before it has answered, a worker is right in four of five answers, whatever the number of classes.
[[nodiscard]] RefitChoice usual_replay_refit(std::size_t classes);

/// True when it is time to fit a state anew and doing so is quick enough to do it automatically.
[[nodiscard]] bool should_auto_refit(const StateSummary& summary);

}  // namespace wisecrowd
