#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

struct CovarianceSpammerOptions {
  double thin_pair = 10;  ///< a pair of workers counts n/(n + this) for n tasks that both answered
  std::size_t max_iterations = 200;
  double tolerance = 1e-4;          ///< stop when the low-rank part changes by less than this share of its size
  std::size_t starts = 20;          ///< of k-means
  double least_separation = 2;      ///< the others' centre is so much farther from 0 than the spammers'
  double least_strength = 2.0 / 3;  ///< who varies with the others by this share of what is usual is no spammer
  double least_answers = 10;        ///< who has fewer, to tasks of others, is not called one
  double least_covered = 0.25;      ///< of the pairs of workers, weighted as above; in thinner crowds it does not apply
};

/// Spammers by the covariances of answers: who does not look has none with anybody.
struct CovarianceSpammers {
  bool applies = true;                ///< false: this crowd cannot be judged so; `why` says why not
  std::string why;                    ///< nobody was found, or it does not apply: in words without a full stop
  double separation = 0;              ///< how much farther from 0 the next centre is
  std::vector<std::uint8_t> spammer;  ///< per worker
  /// Per worker: how far its answers vary with those of the others that stay, in whichever way, as a share of what is
  /// usual among these. NaN where nobody was found.
  std::vector<double> strength;
};

/// src/trust/covariance/METHOD.md says how. The same answers give the same spammers, whatever the seed and the number
/// of threads.
[[nodiscard]] CovarianceSpammers spammers_by_covariance(const CategoryAnswers& answers,
                                                        const CovarianceSpammerOptions& options,
                                                        const RunContext& context);

}  // namespace wisecrowd
