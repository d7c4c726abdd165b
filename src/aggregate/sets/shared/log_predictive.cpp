#include <algorithm>
#include <cmath>

#include "aggregate/sets/shared/relevance.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {
namespace sets {
namespace {

/// Away from 0 and 1, where a single surprise would cost everything.
double inside(double p) { return std::clamp(p, kProbabilityFloor, 1 - kProbabilityFloor); }

/// What an answer of one worker is worth, class by class.
class AnswerLikelihood {
 public:
  explicit AnswerLikelihood(const SetFit& fit) : fit_(fit), silent_(fit.worker_count) {
    for (std::size_t w = 0; w < fit.worker_count; ++w) {
      for (std::size_t k = 0; k < fit.class_count; ++k) {
        silent_[w] += math::log(inside(fit.specificity[w * fit.class_count + k]));
      }
    }
  }
  /// Of classes that are not true and not named, all together.
  [[nodiscard]] double silent(std::size_t worker) const { return silent_[worker]; }
  [[nodiscard]] double log_of(std::size_t worker, std::size_t label, double q, bool named) const {
    const double s = fit_.sensitivity[worker * fit_.class_count + label];
    const double c = fit_.specificity[worker * fit_.class_count + label];
    return math::log(inside(named ? q * s + (1 - q) * (1 - c) : q * (1 - s) + (1 - q) * c));
  }

 private:
  const SetFit& fit_;
  std::vector<double> silent_;
};

/// Calls each(class, named) for the classes of a task's list or of the answer, which are both ascending.
template <class Each>
void for_each_concerned(std::span<const ClassId> candidates, std::span<const ClassId> named, const Each& each) {
  std::size_t c = 0, n = 0;
  while (c < candidates.size() || n < named.size()) {
    const bool from_list = n == named.size() || (c < candidates.size() && candidates[c] <= named[n]);
    const bool from_answer = c == candidates.size() || (n < named.size() && named[n] <= candidates[c]);
    each(from_list ? candidates[c] : named[n], from_list ? c : candidates.size(), from_answer);
    c += from_list ? 1 : 0;
    n += from_answer ? 1 : 0;
  }
}

}  // namespace

std::vector<double> log_predictive(const SetFit& fit, const Profiles& profiles, std::span<const SetAnswer> answers) {
  const AnswerLikelihood likelihood(fit);
  const std::size_t classes = fit.class_count;
  std::vector<double> logs;
  logs.reserve(answers.size());
  std::vector<double> parts(profiles.count), own(profiles.count);
  for (const SetAnswer& answer : answers) {
    const std::size_t worker = index(answer.worker), task = index(answer.task);
    const bool known = fit.is_known(answer.task);
    for (std::size_t g = 0; g < profiles.count; ++g) {
      own[g] = profiles.count == 1 ? 1 : known ? profiles.share[task * profiles.count + g] : profiles.weight[g];
      parts[g] = math::log(inside(own[g])) + likelihood.silent(worker);
    }
    const auto add = [&](std::size_t label, const auto& q_of, bool named) {
      for (std::size_t g = 0; g < profiles.count; ++g) {
        parts[g] += likelihood.log_of(worker, label, q_of(g), named) -
                    math::log(inside(fit.specificity[worker * classes + label]));
      }
    };
    if (!known) {
      std::size_t n = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const bool named = n < answer.classes.size() && index(answer.classes[n]) == k;
        n += named ? 1 : 0;
        add(
            k,
            [&](std::size_t g) {
              return profiles.count == 1 ? fit.class_prior[k] : profiles.probability[g * classes + k];
            },
            named);
      }
    } else {
      const auto probabilities = fit.probabilities_of(answer.task);
      for_each_concerned(fit.candidates_of(answer.task), answer.classes, [&](ClassId label, std::size_t c, bool named) {
        const double q = c < probabilities.size() ? probabilities[c] : 0;
        const std::size_t k = index(label);
        if (profiles.count == 1 || q <= 0 || q >= 1) {
          add(
              k, [&](std::size_t) { return q; }, named);
          return;
        }
        const double evidence = profiles.evidence[fit.offsets[task] + c];
        add(
            k,
            [&](std::size_t g) {
              const double p = inside(profiles.probability[g * classes + k]);
              return sigmoid(math::log(p / (1 - p)) + evidence);
            },
            named);
      });
    }
    logs.push_back(log_sum_exp(parts));
  }
  return logs;
}

}  // namespace sets

template <>
std::vector<double> Aggregator<Sets>::log_predictive(const SetData& data, std::span<const SetAnswer> answers,
                                                     const RunContext& context) const {
  return sets::log_predictive(fit(data, context), {}, answers);
}

}  // namespace wisecrowd
