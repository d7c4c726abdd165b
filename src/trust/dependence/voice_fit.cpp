#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "trust/shared/group_model.hpp"
#include "trust/shared/merging.hpp"
#include "trust/shared/pair_dependence.hpp"
#include "wisecrowd/dependence.hpp"

namespace wisecrowd {
namespace {

using namespace trust;

GroupModel fitted(const CrowdSample& sample, std::span<const std::uint32_t> voices, const VoiceFitOptions& options,
                  const RunContext& context, std::span<const double> start) {
  return GroupModel::fit_oriented(sample, Grouping(voices),
                                  {.smoothing = options.smoothing,
                                   .more_on_diagonal = options.more_on_diagonal,
                                   .max_iterations = options.max_iterations,
                                   .tolerance = options.tolerance},
                                  context, start);
}

}  // namespace

VoiceFit fit_voices(const CategoryData& data, std::span<const std::uint32_t> voices, const VoiceFitOptions& options,
                    const RunContext& context, std::span<const double> start) {
  const CrowdSample sample = whole_crowd(data);
  const GroupModel model = fitted(sample, voices, options, context, start);
  VoiceFit fit;
  const std::size_t classes = sample.bins, cells = classes * classes;
  fit.posterior = model.posterior();
  fit.class_prior = model.class_prior();
  fit.confusion.resize(sample.workers * cells);
  for (std::size_t j = 0; j < sample.workers; ++j) {
    for (std::size_t c = 0; c < cells; ++c) {
      fit.confusion[j * cells + (c % classes) * classes + c / classes] = model.marginal_tables()[j * cells + c];
    }
  }
  fit.group_table = model.group_tables();
  for (const std::uint32_t unit : model.grouping().unit) fit.group.push_back(model.grouping().group[unit]);
  fit.trace = model.trace();
  fit.log_likelihood = model.log_likelihood();
  fit.converged = model.converged();
  return fit;
}

std::vector<double> log_predictive_of_voices(const CategoryData& data, std::span<const std::uint32_t> voices,
                                             std::span<const CategoryAnswer> answers, const VoiceFitOptions& options,
                                             const RunContext& context) {
  const CrowdSample sample = whole_crowd(data);
  const GroupModel model = fitted(sample, voices, options, context, {});
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const CategoryAnswer& answer : answers) {
    const double p = model.predicted(index(answer.task), index(answer.worker), index(answer.label));
    logs.push_back(math::log(std::max(p, kProbabilityFloor)));
  }
  return logs;
}

std::vector<std::uint32_t> voices_by_linkage(const CategoryData& data, std::size_t most_groups,
                                             const RunContext& context) {
  const CrowdSample sample = sample_of(data.answers, {});
  Labels alone(sample.workers);
  std::iota(alone.begin(), alone.end(), 0U);
  if (sample.bins < 2 || sample.answers() == 0) return alone;
  const WorkerPairs pairs = pairs_of(sample, context);
  GroupModel best = GroupModel::fit_oriented(sample, Grouping(alone), {}, context);
  std::vector<double> agreement(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) agreement[p] = static_cast<double>(pairs.agreed[p]) / pairs.common[p];
  const PairDependence found = expected_agreement(sample, pairs, best, context);
  std::vector<double> together(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) together[p] = found.excess(pairs, p);
  for (const std::span<const double> similarity :
       {std::span<const double>(agreement), std::span<const double>(together)}) {
    for (const Labels& labels : linkage_levels(sample.workers, pairs, similarity, most_groups)) {
      if (context.cancelled()) break;
      GroupModel model = GroupModel::fit_oriented(sample, Grouping(labels), {}, context);
      if (model.score() > best.score()) best = std::move(model);
    }
  }
  return best.grouping().unit;
}

}  // namespace wisecrowd
