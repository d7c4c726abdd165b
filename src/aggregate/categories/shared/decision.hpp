#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// Which of ordered classes becomes the label: the best choice depends on what an error costs.
enum class Decision {
  mode,    ///< the most probable one: every error costs the same
  median,  ///< an error costs the difference of ranks
  mean,    ///< an error costs the squared difference of ranks: the class nearest to the mean rank
};

inline constexpr auto kDecisionNames =
    enum_names<Decision>({{Decision::mode, "mode"}, {Decision::median, "median"}, {Decision::mean, "mean"}});

/// The parameter of every method for ordered classes.
void decision_parameter(ParameterVisitor& v, Decision& decision);

/// Throws unsupported: classes have no order, or none that is known.
[[noreturn]] void refuse_unordered(std::string_view method);

/// Hard labels from a posterior over ordered classes. Where two classes are equally good (within 1e-9), the tie rule
/// has its say, as in hard_labels.
[[nodiscard]] std::vector<ClassId> decided_labels(std::span<const double> posterior, std::size_t class_count,
                                                  Decision decision, TieRule rule, const RunContext& context);

}  // namespace wisecrowd
