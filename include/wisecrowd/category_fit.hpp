#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/dependent_workers.hpp"
#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

/// How the hard label is taken from equal probabilities.
enum class TieRule {
  lowest,      ///< the lowest class id
  highest,     ///< the highest class id
  random,      ///< uniformly at random, by seed
  fractional,  ///< labelled as lowest, but scored with credit 1/t for t tied classes
};

inline constexpr auto kTieRuleNames = enum_names<TieRule>({{TieRule::lowest, "lowest"},
                                                           {TieRule::highest, "highest"},
                                                           {TieRule::random, "random"},
                                                           {TieRule::fractional, "fractional"}});
/// As in parameters and run.json.
[[nodiscard]] constexpr std::string_view to_string(TieRule rule) noexcept { return name_in(kTieRuleNames, rule); }
/// Throws bad_parameter that lists the names when there is none such.
[[nodiscard]] inline TieRule tie_rule_named(std::string_view name) { return value_in(kTieRuleNames, "tie rule", name); }

/// What an aggregator of categories returns: a value, complete, never half-fitted.
struct CategoryFit : FitSummary {
  std::size_t task_count = 0;
  std::size_t worker_count = 0;
  std::size_t class_count = 0;

  std::vector<double> posterior;  ///< tasks × classes, rows sum to 1
  /// The posterior is a mean over draws of all that is unknown, so that it allows for what is not known of the tables.
  bool posterior_is_averaged = false;
  std::vector<ClassId> labels;  ///< per task, by the tie rule
  TieRule tie_rule = TieRule::lowest;
  std::vector<double> class_prior;  ///< P(truth = k)
  std::vector<double> confusion;    ///< workers × truth × answer, rows sum to 1; empty if the method has none
  std::vector<double> skill;        ///< one number per worker in the method's own scale, or empty
  /// The community of each worker, from 0, or kNoGroup; for methods that find them.
  std::vector<std::uint32_t> worker_group;
  static constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;
  /// Workers who do not answer independently, for methods that look for them.
  std::optional<Dependence> dependence;
  std::string task_score_name;     ///< what task_score holds ("easiness", "difficulty", "margin"), a column name
  std::vector<double> task_score;  ///< one number per task for methods that know more of it than its label, or empty

  [[nodiscard]] std::span<const double> posterior_of(TaskId task) const {
    return std::span(posterior).subspan(index(task) * class_count, class_count);
  }
  [[nodiscard]] std::span<const double> confusion_of(WorkerId worker) const {
    return std::span(confusion).subspan(index(worker) * class_count * class_count, class_count * class_count);
  }
};

/// Where a fit begins: what another method found out, or nothing. A method that works on worker tables first turns the
/// posterior into theirs (its M-step), so a start from tables is a start from the posterior that they imply.
struct CategoryStart {
  std::span<const double> posterior;  ///< tasks × classes, rows sum to 1; empty for the method's own start
  [[nodiscard]] bool empty() const noexcept { return posterior.empty(); }
};

}  // namespace wisecrowd
