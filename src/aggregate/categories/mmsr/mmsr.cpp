#include "aggregate/categories/mmsr/mmsr.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/categories/shared/worker_links.hpp"
#include "base/huge_vector.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::mmsr {
namespace {

constexpr double kFirstSkill = 0.5;
// Skills are kept within these bounds on the way: a worker near zero would blow up the ratios of its partners, and one
// with few of them has nothing to trim that away. Where pairs are thin, agreements scatter widely around s s', and to
// cut only what lies above 1 would push the partners of good workers up.
constexpr double kLeastSkill = 0.01;
constexpr double kMostSkill = 1;
constexpr double kMostSkillOfThin = 10;
constexpr std::size_t kWorkersPerBlock = 16;
constexpr std::size_t kSignSweeps = 100;
constexpr int kPowerSteps = 50;
// Thresholds of common tasks, from pairs that can be trusted down to whatever there is. Below kTrusted an agreement is
// little more than one answer's yes or no: the middle of many such values says nothing, their mean still does.
constexpr double kThresholds[] = {10, 5, 1};
constexpr double kTrusted = 5;
// An outlier can be told from three partners on. The highest threshold is taken that leaves as many to this share of
// the workers who have three at all.
constexpr std::size_t kEnoughPartners = 3;
constexpr double kEnoughWorkers = 0.9;

/// C_jj' = K/(K−1) (agreement − 1/K), by worker.
struct Network {
  std::vector<std::size_t> offsets{0};
  HugeVector<std::uint32_t> partner;
  HugeVector<double> value;

  [[nodiscard]] std::size_t workers() const noexcept { return offsets.size() - 1; }
  [[nodiscard]] std::size_t degree(std::size_t w) const noexcept { return offsets[w + 1] - offsets[w]; }
};

double choose_threshold(const PairMoments& pairs, std::size_t wanted) {
  if (wanted > 0) return static_cast<double>(wanted);
  std::size_t able = 0;
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) able += pairs.partners(w).size() >= kEnoughPartners ? 1 : 0;
  for (const double threshold : kThresholds) {
    std::size_t enough = 0;
    for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
      std::size_t partners = 0;
      for (const auto& partner : pairs.partners(w)) {
        partners += pairs.pairs()[partner.pair].common >= threshold ? 1 : 0;
        if (partners == kEnoughPartners) break;
      }
      enough += partners == kEnoughPartners ? 1 : 0;
    }
    if (static_cast<double>(enough) >= kEnoughWorkers * static_cast<double>(able)) return threshold;
  }
  return 1;
}

/// Agreements, and with `significance` how sure their signs are, C √n / 2 cut to [−1, 1].
Network build(const PairMoments& pairs, double threshold, bool significance) {
  const auto classes = static_cast<double>(pairs.class_count());
  Network network;
  std::size_t count = 0;
  for (const auto& pair : pairs.pairs()) count += pair.common >= threshold ? 2 : 0;
  network.partner.resize(count);
  network.value.resize(count);
  std::size_t at = 0;
  for (std::size_t w = 0; w < pairs.worker_count(); ++w) {
    for (const auto& partner : pairs.partners(w)) {
      const auto& pair = pairs.pairs()[partner.pair];
      if (pair.common < threshold) continue;
      const double c = classes / (classes - 1) * (pair.agreements / pair.common - 1 / classes);
      network.partner[at] = partner.worker;
      network.value[at++] = significance ? std::clamp(c * std::sqrt(pair.common) / 2, -1.0, 1.0) : c;
    }
    network.offsets.push_back(at);
  }
  return network;
}

/// Mean of |C_ij| / given_i over the partners i of worker j without up to F values above and up to F below `current`.
double trimmed_mean(const Network& network, std::size_t w, std::span<const double> given, double current,
                    std::size_t trim, std::vector<double>& above, std::vector<double>& below) {
  above.clear();
  below.clear();
  double sum = 0, count = 0;
  for (std::size_t e = network.offsets[w]; e < network.offsets[w + 1]; ++e) {
    const double ratio = std::abs(network.value[e]) / given[network.partner[e]];
    if (ratio > current) {
      above.push_back(ratio);
    } else if (ratio < current) {
      below.push_back(ratio);
    } else {
      sum += ratio;
      count += 1;
    }
  }
  const auto keep = [&](std::vector<double>& side, auto&& nearer) {
    if (side.size() <= trim) return;
    const auto kept = static_cast<std::ptrdiff_t>(side.size() - trim);
    if (trim > 0) std::nth_element(side.begin(), side.begin() + kept, side.end(), nearer);
    for (auto value = side.begin(); value != side.begin() + kept; ++value) sum += *value;
    count += static_cast<double>(kept);
  };
  keep(above, std::less<>());
  keep(below, std::greater<>());
  return count > 0 ? sum / count : current;
}

/// Least squares for s_j over those partners whose agreements it explains best, all but F. Where trimming by sides has
/// stopped halfway (two groups of honest workers, one too high and one too low, each trimming its own), this goes on.
double best_explained(const Network& network, std::size_t w, std::span<const double> s, std::size_t trim,
                      std::vector<std::pair<double, std::size_t>>& errors) {
  errors.clear();
  for (std::size_t e = network.offsets[w]; e < network.offsets[w + 1]; ++e) {
    errors.emplace_back(std::abs(std::abs(network.value[e]) - s[w] * s[network.partner[e]]), e);
  }
  const std::size_t kept = errors.size() - std::min(trim, errors.size() - 1);
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(kept - 1), errors.end());
  double above = 0, below = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    const double other = s[network.partner[errors[i].second]];
    above += std::abs(network.value[errors[i].second]) * other;
    below += other * other;
  }
  return above / below;
}

/// Signs under which as few trusted pairs as possible disagree: local search from all positive and from the top
/// eigenvector, the better of the two.
std::vector<double> choose_signs(const Network& trust) {
  const std::size_t workers = trust.workers();
  const auto pull = [&](std::size_t w, const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t e = trust.offsets[w]; e < trust.offsets[w + 1]; ++e) sum += trust.value[e] * x[trust.partner[e]];
    return sum;
  };
  const auto settle = [&](std::vector<double>& sign) {
    for (std::size_t sweep = 0; sweep < kSignSweeps; ++sweep) {
      bool changed = false;
      for (std::size_t w = 0; w < workers; ++w) {
        if (pull(w, sign) * sign[w] >= 0) continue;
        sign[w] = -sign[w];
        changed = true;
      }
      if (!changed) break;
    }
    double harmony = 0;
    for (std::size_t w = 0; w < workers; ++w) harmony += sign[w] * pull(w, sign);
    return harmony;
  };
  std::vector<double> plain(workers, 1.0);
  const double plain_harmony = settle(plain);

  // Power steps on D + A, whose eigenvalues are not negative (D_j = Σ |A_jj'|), scaled by D.
  std::vector<double> vector(workers, 1.0), next(workers);
  for (int step = 0; step < kPowerSteps; ++step) {
    double most = 0;
    for (std::size_t w = 0; w < workers; ++w) {
      double weight = 0;
      for (std::size_t e = trust.offsets[w]; e < trust.offsets[w + 1]; ++e) weight += std::abs(trust.value[e]);
      next[w] = weight > 0 ? vector[w] + pull(w, vector) / weight : 1;
      most = std::max(most, std::abs(next[w]));
    }
    for (double& x : next) x /= std::max(most, 1e-300);
    vector.swap(next);
  }
  std::vector<double> spectral(workers);
  for (std::size_t w = 0; w < workers; ++w) spectral[w] = vector[w] < 0 ? -1 : 1;
  return settle(spectral) > plain_harmony ? spectral : plain;
}

/// Room that a round needs again and again.
struct Scratch {
  std::vector<double> above, below;
  std::vector<std::pair<double, std::size_t>> errors;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// |s sᵀ − s' s'ᵀ| (Frobenius) without cancellation: s sᵀ − s' s'ᵀ = d sᵀ + s' dᵀ, d = s − s'.
double movement(const std::vector<double>& s, const std::vector<double>& old) {
  std::vector<double> d(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) d[i] = s[i] - old[i];
  return std::sqrt(std::max(0.0, dot(d, d) * dot(s, s) + 2 * dot(d, old) * dot(s, d) + dot(old, old) * dot(d, d)));
}

}  // namespace

Skills solve(const PairMoments& pairs, const Options& options, std::span<const double> first,
             const RunContext& context) {
  Skills skills;
  const double threshold = choose_threshold(pairs, options.min_common);
  skills.min_common = static_cast<std::size_t>(threshold);
  const std::size_t workers = pairs.worker_count();
  const bool thin = threshold < kTrusted;
  const Network network = build(pairs, threshold, false);
  std::vector<double> s(workers, kFirstSkill);
  for (std::size_t w = 0; w < first.size(); ++w) s[w] = std::clamp(std::abs(first[w]), 0.05, 1.0);
  if (pairs.has_gold_worker()) s.back() = 1;
  std::vector<double> old;
  const Blocks blocks{workers, kWorkersPerBlock};
  // Half the way (in logarithms): all at once, everybody would jump to the other side of the truth and back.
  const auto round = [&](auto&& proposal) {
    old = s;
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      Scratch scratch;
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        const std::size_t degree = network.degree(w);
        if (degree == 0 || (pairs.has_gold_worker() && w + 1 == workers)) continue;
        std::size_t trim = thin ? degree / 4 : std::max<std::size_t>(degree / 2, 1) - 1;
        if (options.trim >= 0) trim = static_cast<std::size_t>(options.trim);
        s[w] = std::clamp(std::sqrt(old[w] * proposal(w, trim, scratch)), kLeastSkill,
                          thin ? kMostSkillOfThin : kMostSkill);
      }
    });
    return movement(s, old);
  };
  while (skills.trace.size() < options.max_iterations) {
    const double moved = round([&](std::size_t w, std::size_t trim, Scratch& scratch) {
      return trimmed_mean(network, w, old, old[w], trim, scratch.above, scratch.below);
    });
    skills.trace.push_back(-moved);
    context.report({.stage = "iterating",
                    .done = static_cast<double>(skills.trace.size()),
                    .total = static_cast<double>(options.max_iterations)});
    if (context.cancelled()) {
      skills.status = Status::cancelled;
      break;
    }
    if (moved <= options.tolerance) {
      skills.status = Status::converged;
      break;
    }
  }
  for (std::size_t step = 0; step < options.polish && !thin && !context.cancelled(); ++step) {
    const double moved = round([&](std::size_t w, std::size_t trim, Scratch& scratch) {
      return best_explained(network, w, old, trim, scratch.errors);
    });
    if (moved <= options.tolerance) break;
  }
  const auto signs = choose_signs(build(pairs, threshold, true));
  skills.skill.assign(workers, 0.0);
  for (std::size_t w = 0; w < workers; ++w) {
    if (network.degree(w) > 0) skills.skill[w] = signs[w] * s[w];
  }
  return skills;
}

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "M-MSR";
  info.summary =
      "One skill per worker from agreements of pairs, by trimmed means that ignore a minority of adversaries.";
  info.when_to_use =
      "Some workers may answer anything, even in concert, and pairs of workers share many tasks; any number of "
      "classes.";
  info.reference =
      "Q. Ma and A. Olshevsky, Adversarial crowdsourcing through robust rank-one matrix completion, "
      "NeurIPS 2020";
  info.assumptions =
      "Most of the partners of every worker are honest: answers independent given the truth, wrong ones spread evenly "
      "over the other classes.";
  info.cost = "time Σ m² for the pairs, then pairs per iteration; memory 64 bytes per pair";
  info.parameters = {
      ParameterSpec::integer("trim", defaults.trim, -1, 1e9,
                             "values left out on each side of a worker's current one: as many adversarial partners are "
                             "harmless; -1 stands for half of the worker's partners less one, or a quarter of "
                             "them where pairs share fewer than 5 tasks"),
      ParameterSpec::integer(
          "min_common", static_cast<std::int64_t>(defaults.min_common), 0, 1e9,
          "pairs of workers with fewer tasks in common are left out; 0 stands for the highest of 10, "
          "5, 1 that leaves three partners to nine of ten workers who have as many"),
      ParameterSpec::integer("polish", static_cast<std::int64_t>(defaults.polish), 0, 1e9,
                             "at most so many rounds of least squares over the best explained partners, at the end"),
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.max_iterations), 1, 1e9,
                             "give up after this many rounds"),
      ParameterSpec::real("tolerance", defaults.tolerance, 0, 1,
                          "stop when the matrix of all products of skills moves by less than this"),
      tie_rule_parameter(),
  };
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_start = true;
  info.allows_repeats = false;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<Mmsr>(
      Options{.trim = parameters.integer("trim"),
              .min_common = static_cast<std::size_t>(parameters.integer("min_common")),
              .polish = static_cast<std::size_t>(parameters.integer("polish")),
              .max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations")),
              .tolerance = parameters.real("tolerance"),
              .ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit Mmsr::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.objective_name = "minus movement of the skill products";
  if (result.class_count == 0) return result;
  if (result.class_count == 1) {
    result.status = context.cancelled() ? Status::cancelled : Status::converged;
    conclude_one_coin(data, context, std::vector<double>(result.worker_count, 1.0), options_.ties, result);
    return result;
  }
  std::vector<double> first;
  if (!start.empty()) {
    const auto labels = hard_labels(start.posterior, result.class_count, TieRule::lowest, context);
    first = worker_agreement(data.answers, labels, context);
    const auto classes = static_cast<double>(result.class_count);
    for (double& s : first) s = (classes * s - 1) / (classes - 1);
  }
  const auto started = std::chrono::steady_clock::now();
  Skills skills;
  WorkerLinks links = link_workers(data);
  {
    const PairMoments pairs(data, context,
                            {.detail = PairDetail::agreements, .min_common = 1, .gold_as_worker = data.has_gold()});
    skills = solve(pairs, options_, first, context);
  }
  const auto answers = answer_counts(data);
  std::size_t thin = 0;
  for (std::size_t w = 0; w < skills.skill.size(); ++w) {
    if (links.linked[w] == 0 || skills.skill[w] != 0) continue;
    links.linked[w] = 0;  // no pair with enough tasks in common
    ++thin;
  }
  orient_parts(links, answers, skills.skill);
  fill_alone(links, answers, skills.skill, kFirstSkill);
  result.iterations = skills.trace.size();
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(std::max<std::size_t>(result.iterations, 1));
  result.trace = std::move(skills.trace);
  result.status = skills.status;
  conclude_one_coin(data, context, skills.skill, options_.ties, result);
  result.learned = {{"min_common", static_cast<double>(skills.min_common)}};
  warn_of_links(links, result);
  if (thin > 0) {
    result.warnings.push_back(
        {"thin_workers",
         fmt::format("{} workers share fewer than {} tasks with anybody and are taken for average ones", thin,
                     skills.min_common),
         "lower min_common to use what little is known of them."});
  }
  if (static_cast<double>(skills.min_common) < kTrusted) {
    result.warnings.push_back(
        {"thin_pairs",
         fmt::format("pairs of workers share few tasks (threshold {}), so single agreements are mostly "
                     "noise and trimmed means of them poor",
                     skills.min_common),
         "use pgd, which weighs pairs by their tasks."});
  }
  if (result.status == Status::iteration_limit) {
    result.warnings.push_back({"not_converged",
                               fmt::format("stopped after {} rounds while skills still moved", result.iterations),
                               "raise max_iterations or tolerance."});
  }
  return result;
}

}  // namespace wisecrowd::mmsr
