#include "aggregate/categories/shared/communities.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kGroupingRestarts = 20;
constexpr std::size_t kGroupingRounds = 50;
/// The most active workers decide where the groups are; the others join the nearest.
constexpr std::size_t kGroupedWorkers = 2000;
/// Iterations that give single workers a table before they are grouped.
constexpr std::size_t kFirstIterations = 30;
/// Numbers of communities that may do worse, one after the other, before the search ends.
constexpr std::size_t kPatience = 2;

/// Dawid–Skene at the posterior mode, three right answers and one of each kind added.
class SmoothedTables final : public CrowdModel {
 public:
  explicit SmoothedTables(const ConfusionPass& pass) : classes_(pass.class_count()), stride_(pass.stride()) {}
  double update(std::size_t, const double* counts, double* log_rows) const override {
    double objective = 0;
    for (std::size_t k = 0; k < stride_; ++k) {
      double total = 0;
      for (std::size_t l = 0; l < classes_; ++l) total += counts[l * stride_ + k] + pseudo(k, l);
      for (std::size_t l = 0; l < classes_; ++l) {
        double& cell = log_rows[l * stride_ + k];
        cell = math::log((counts[l * stride_ + k] + pseudo(k, l)) / total);
        if (k < classes_) objective += pseudo(k, l) * cell;
      }
    }
    return objective;
  }

 private:
  static double pseudo(std::size_t k, std::size_t l) { return k == l ? 4 : 1; }
  std::size_t classes_;
  std::size_t stride_;
};

double squared_distance(const double* a, const double* b, std::size_t size) {
  return lane_sum<double>(size, [&](std::size_t d) { return (a[d] - b[d]) * (a[d] - b[d]); });
}

/// Index and squared distance of the nearest centre.
std::pair<std::uint32_t, double> nearest(const double* point, const std::vector<double>& centres, std::size_t size) {
  std::pair<std::uint32_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t g = 0; g * size < centres.size(); ++g) {
    const double distance = squared_distance(point, centres.data() + g * size, size);
    if (distance < best.second) best = {static_cast<std::uint32_t>(g), distance};
  }
  return best;
}

struct Grouping {
  std::vector<double> centres;
  double spread = std::numeric_limits<double>::infinity();
};

Grouping group_once(std::span<const double> points, std::size_t size, std::size_t groups, Rng rng) {
  const std::size_t count = points.size() / size;
  Grouping result;
  // k-means++: each centre is drawn by the squared distance to those before.
  std::vector<double> distance(count, 1.0);
  for (std::size_t g = 0; g < groups; ++g) {
    const double all = std::accumulate(distance.begin(), distance.end(), 0.0);
    const std::size_t chosen = all > 0 ? rng.categorical(distance) : rng.below(count);
    const double* const point = points.data() + chosen * size;
    result.centres.insert(result.centres.end(), point, point + size);
    for (std::size_t p = 0; p < count; ++p) {
      const double to_new = squared_distance(points.data() + p * size, point, size);
      distance[p] = g == 0 ? to_new : std::min(distance[p], to_new);
    }
  }
  std::vector<double> sums(groups * size), members(groups);
  for (std::size_t round = 0; round < kGroupingRounds; ++round) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(members.begin(), members.end(), 0.0);
    double spread = 0;
    for (std::size_t p = 0; p < count; ++p) {
      const auto [group, away] = nearest(points.data() + p * size, result.centres, size);
      spread += away;
      members[group] += 1;
      for (std::size_t d = 0; d < size; ++d) sums[group * size + d] += points[p * size + d];
    }
    if (!(spread < result.spread)) break;
    result.spread = spread;
    for (std::size_t g = 0; g < groups; ++g) {
      if (members[g] == 0) continue;  // an empty group keeps its centre
      for (std::size_t d = 0; d < size; ++d) result.centres[g * size + d] = sums[g * size + d] / members[g];
    }
  }
  return result;
}

/// A start for the memberships: the nearest group of each worker, softened so that no community is excluded.
std::vector<double> first_membership(const CategoryAnswers& answers, std::span<const double> tables, std::size_t groups,
                                     const RunContext& context) {
  const std::size_t workers = answers.worker_count(), size = answers.class_count() * answers.class_count();
  std::vector<std::uint32_t> degree(workers, 0), order(workers);
  for (const WorkerId w : answers.workers()) ++degree[index(w)];
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t taken = std::min(workers, kGroupedWorkers);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(taken), order.end(),
                    [&](auto a, auto b) { return degree[a] != degree[b] ? degree[a] > degree[b] : a < b; });
  std::vector<double> points;
  points.reserve(taken * size);
  for (std::size_t p = 0; p < taken; ++p) {
    const auto table = tables.subspan(order[p] * size, size);
    points.insert(points.end(), table.begin(), table.end());
  }
  const auto group = group_by_means(points, size, groups, kGroupingRestarts, context);
  std::vector<double> centres(groups * size, 0.0), members(groups, 0.0);
  for (std::size_t p = 0; p < taken; ++p) {
    members[group[p]] += 1;
    for (std::size_t d = 0; d < size; ++d) centres[group[p] * size + d] += points[p * size + d];
  }
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t d = 0; d < size; ++d) centres[g * size + d] /= std::max(members[g], 1.0);
  }
  constexpr double kElsewhere = 0.02;
  std::vector<double> membership(workers * groups, kElsewhere / static_cast<double>(groups));
  for (std::size_t w = 0; w < workers; ++w) {
    membership[w * groups + nearest(tables.data() + w * size, centres, size).first] += 1 - kElsewhere;
  }
  return membership;
}

}  // namespace

std::vector<std::uint32_t> group_by_means(std::span<const double> points, std::size_t size, std::size_t groups,
                                          std::size_t restarts, const RunContext& context) {
  const std::size_t count = points.size() / size;
  if (count == 0) return {};
  std::vector<Grouping> tries(std::max<std::size_t>(restarts, 1));
  context.pool().for_each_block(tries.size(), [&](std::size_t r, unsigned) {
    tries[r] = group_once(points, size, groups, context.rng("grouping", groups).fork("restart", r));
  });
  const auto best = std::min_element(tries.begin(), tries.end(),
                                     [](const Grouping& a, const Grouping& b) { return a.spread < b.spread; });
  std::vector<std::uint32_t> group(count);
  for (std::size_t p = 0; p < count; ++p) group[p] = nearest(points.data() + p * size, best->centres, size).first;
  return group;
}

CommunityModel::CommunityModel(const ConfusionPass& pass, const CommunityOptions& options,
                               std::vector<double> membership)
    : classes_(pass.class_count()),
      stride_(pass.stride()),
      communities_(pass.worker_count() == 0 ? 1 : membership.size() / pass.worker_count()),
      options_(options),
      membership_(std::move(membership)),
      log_shares_(communities_, 0.0) {}

std::vector<double> CommunityModel::pool_workers(
    const ConfusionPass& pass,
    const std::function<void(std::size_t worker, const double* counts, double* sums)>& add) const {
  std::vector<std::vector<double>> parts(pass.worker_blocks());
  pass.visit_counts([&](std::size_t block, std::size_t worker, const double* counts) {
    parts[block].resize(communities_ * cells());
    add(worker, counts, parts[block].data());
  });
  std::vector<double> sums(communities_ * cells(), 0.0);
  for (const auto& part : parts) {
    if (part.empty()) continue;
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += part[c];
  }
  return sums;
}

double CommunityModel::set_tables(const std::vector<double>& pooled, std::vector<double>& tables) const {
  tables.resize(communities_ * cells());
  double objective = 0;
  for (std::size_t c = 0; c < communities_; ++c) {
    for (std::size_t k = 0; k < stride_; ++k) {
      const std::size_t at = c * cells() + k;
      const auto pseudo = [&](std::size_t l) {
        return options_.pseudo_count + (k == l ? options_.diagonal_pseudo_count : 0);
      };
      double total = 0;
      for (std::size_t l = 0; l < classes_; ++l) {
        total += std::max(pooled[at + l * stride_] + pseudo(l), kProbabilityFloor);
      }
      for (std::size_t l = 0; l < classes_; ++l) {
        double& cell = tables[at + l * stride_];
        cell = std::max(pooled[at + l * stride_] + pseudo(l), kProbabilityFloor) / total;
        if (k < classes_) objective += pseudo(l) * math::log(cell);
      }
    }
  }
  return objective;
}

double CommunityModel::set_shares() {
  std::vector<double> shares(communities_, options_.membership_prior / static_cast<double>(communities_));
  for (std::size_t e = 0; e < membership_.size(); ++e) shares[e % communities_] += membership_[e];
  normalise(shares);
  double objective = 0;
  for (std::size_t c = 0; c < communities_; ++c) {
    log_shares_[c] = math::log(std::max(shares[c], 1e-300));
    objective += options_.membership_prior / static_cast<double>(communities_) * log_shares_[c];
  }
  return objective;
}

double CommunityModel::to_membership(double* weights, std::size_t size) noexcept { return softmax({weights, size}); }

void CommunityModel::finish(CategoryFit& result) const {
  // The largest community is number 0.
  std::vector<double> size(communities_, 0.0);
  for (std::size_t e = 0; e < membership_.size(); ++e) size[e % communities_] += membership_[e];
  std::vector<std::uint32_t> order(communities_), rank(communities_);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size[a] > size[b]; });
  for (std::size_t r = 0; r < communities_; ++r) rank[order[r]] = static_cast<std::uint32_t>(r);
  result.worker_group.resize(result.worker_count);
  std::vector<bool> used(communities_, false);
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    const double* const row = membership_of(w);
    result.worker_group[w] = rank[static_cast<std::size_t>(std::max_element(row, row + communities_) - row)];
    used[result.worker_group[w]] = true;
  }
  result.learned.emplace_back("communities", static_cast<double>(communities_));
  result.learned.emplace_back("communities_with_members",
                              static_cast<double>(std::count(used.begin(), used.end(), true)));
  result.objective_name = "lower bound";
  result.has_log_likelihood = false;
  result.log_likelihood = 0;
}

void community_parameters(ParameterVisitor& v, CommunityOptions& o) {
  v.integer("communities", o.communities, 0, 1000,
            "how many communities of workers; 0: chosen by the bound less a charge for parameters");
  v.integer("most_communities", o.most_communities, 1, 1000, "the largest number tried when it is chosen");
  v.real("pseudo_count", o.pseudo_count, 1e-3, 1e9, "answers added to every cell of a community's table");
  v.real("diagonal_pseudo_count", o.diagonal_pseudo_count, 0, 1e9,
         "right answers added to every class of a community's table");
  v.real("membership_prior", o.membership_prior, 0, 1e9,
         "workers added, evenly, to the communities before their shares are estimated");
  em_parameters(v, o.em, {.with_acceleration = false});
}

CategoryFit fit_communities(const CategoryData& data, const RunContext& context, const CategoryStart& start,
                            const CommunityOptions& options, const MakeCommunityModel& make_model,
                            const CommunityPenalty& penalty) {
  // Workers one by one.
  EmOptions single = options.em;
  single.restarts = 0;
  single.max_iterations = start.empty() ? std::min(options.em.max_iterations, kFirstIterations) : 1;
  const CategoryFit first = fit_confusion_em(
      data, context, single, start, [](const ConfusionPass& pass) { return std::make_unique<SmoothedTables>(pass); });
  const CategoryStart then{start.empty() ? std::span<const double>(first.posterior) : start.posterior};

  const auto fit = [&](std::size_t communities) {
    const auto membership = first_membership(data.answers, first.confusion, communities, context);
    return fit_confusion_em(data, context, options.em, then,
                            [&](const ConfusionPass& pass) { return make_model(pass, membership); });
  };
  if (first.class_count == 0) return first;
  if (first.worker_count == 0) return fit(1);
  const std::size_t most = std::min(options.most_communities, first.worker_count);
  if (options.communities > 0) return fit(std::min(options.communities, first.worker_count));

  CategoryFit best = fit(1);
  double best_score = best.trace.back() - penalty(1);
  std::size_t worse = 0;
  for (std::size_t c = 2; c <= most && worse < kPatience && !context.cancelled(); ++c) {
    CategoryFit next = fit(c);
    const double score = next.trace.back() - penalty(c);
    worse = score > best_score ? 0 : worse + 1;
    if (score > best_score) {
      best = std::move(next);
      best_score = score;
    }
  }
  return best;
}

}  // namespace wisecrowd
