#include "aggregate/similarities/crowd_clusters/crowd_clusters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "aggregate/similarities/crowd_clusters/spectral_start.hpp"
#include "aggregate/similarities/shared/similarity_method.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::crowd_clusters {
namespace {

/// With fewer hidden answers, chance decides which fit predicts them best; then the evidence decides.
constexpr std::size_t kFewHidden = 30;
/// Enough to tell good starts from bad ones; the kept one goes on.
constexpr std::size_t kSearchIterations = 50;
/// The search for the number of clusters goes at least so far.
constexpr std::size_t kLeastRoom = 16;

/// A fit without the hidden pairs, and how well it foretells them.
struct Candidate {
  State state;
  std::vector<double> logs;  ///< of the hidden answers
  double score = 0;          ///< their mean, or the evidence
  [[nodiscard]] std::size_t used() const {
    auto cluster = most_probable(state);
    std::sort(cluster.begin(), cluster.end());
    return static_cast<std::size_t>(std::unique(cluster.begin(), cluster.end()) - cluster.begin());
  }
};

double mean_of_logs(const std::vector<double>& logs) {
  return std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
}

/// By how much `a` is better than `b` on the same answers, in standard errors.
double standard_errors(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] - b[i];
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  const double variance = squares - sum * sum / n;
  return variance > 0 ? sum / std::sqrt(variance) : sum > 0 ? std::numeric_limits<double>::infinity() : 0;
}

/// Hides whole pairs, drawn alike whatever the order of answers.
std::vector<std::uint8_t> draw_hidden(const SimilarityAnswers& answers, double share, const RunContext& context) {
  std::vector<std::uint8_t> hidden(answers.task_count(), 0);
  Rng rng = context.rng("hidden pairs");
  for (std::uint8_t& own : hidden) own = rng.bernoulli(share) ? 1 : 0;
  return hidden;
}

std::size_t hidden_answers(const Crowd& crowd) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < crowd.hidden.size(); ++p) {
    if (crowd.hidden[p] != 0) count += crowd.data.answers.workers_of(TaskId(p)).size();
  }
  return count;
}

class Search {
 public:
  Search(const SimilarityData& data, const Options& options, const RunContext& context)
      : options_(options), context_(context), crowd_(data) {
    crowd_.hidden = draw_hidden(data.answers, options.hidden_share, context);
    by_hidden_ = hidden_answers(crowd_) >= kFewHidden;
    if (!by_hidden_) crowd_.hidden.clear();
  }

  [[nodiscard]] bool by_hidden() const noexcept { return by_hidden_; }
  [[nodiscard]] const Crowd& crowd() const noexcept { return crowd_; }
  [[nodiscard]] std::size_t fits() const noexcept { return fits_; }
  [[nodiscard]] const std::vector<std::size_t>& tried() const noexcept { return tried_; }

  /// The best restart with so many clusters.
  [[nodiscard]] std::optional<Candidate> best_with(std::size_t clusters) {
    const RowMatrix coordinates = spectral_coordinates(crowd_, clusters, context_);
    if (context_.cancelled()) return std::nullopt;
    std::vector<std::optional<Candidate>> found(options_.restarts);
    const Rng stream = context_.rng("k-means", clusters);
    context_.pool().for_each_block(found.size(), [&](std::size_t r, unsigned) {
      const auto start = nearest_centres(coordinates, clusters, stream.fork("restart", r));
      found[r] = fitted(start_from(crowd_, start, clusters));
    });
    fits_ += found.size();
    tried_.push_back(clusters);
    const auto best =
        std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->score < b->score; });
    return std::move(*best);
  }

  /// More and more clusters as long as that helps to foretell the hidden answers; of those that foretell them equally
  /// well, up to a standard error, the fewest.
  [[nodiscard]] std::optional<Candidate> best_number() {
    const std::size_t most = std::min(options_.max_clusters, crowd_.graph.item_count());
    std::vector<Candidate> candidates;
    std::size_t best = 0;
    for (std::size_t clusters = 1;; clusters = std::min(most, clusters * 2)) {
      if (clusters >= least() || clusters == most) {
        auto found = best_with(std::max(clusters, least()));
        if (!found) return std::nullopt;
        candidates.push_back(std::move(*found));
        const bool better = candidates.back().score > candidates[best].score;
        if (better) best = candidates.size() - 1;
        // More room is of no use where a quarter of it stays empty, or where it did not help. With far too little, fits
        // fall back to one cluster, which says nothing of more room.
        if (clusters >= kLeastRoom && (4 * candidates.back().used() < 3 * clusters || !better)) break;
      }
      if (clusters >= most) break;
    }
    for (std::size_t c = 0; c < best && by_hidden_; ++c) {
      if (standard_errors(candidates[best].logs, candidates[c].logs) < 1) return std::move(candidates[c]);
    }
    return std::move(candidates[best]);
  }

  /// Gold's clusters are all there.
  [[nodiscard]] std::size_t least() const {
    const std::size_t known = crowd_.data.gold.empty() ? 0 : crowd_.data.gold_clusters.size();
    return std::max<std::size_t>(known, 1);
  }

  [[nodiscard]] Candidate fitted(State state) const {
    const std::size_t most =
        by_hidden_ ? std::min(options_.max_iterations, kSearchIterations) : options_.max_iterations;
    ascend(crowd_, {most, options_.tolerance}, context_, state);
    Candidate candidate{std::move(state), {}, 0};
    if (by_hidden_) candidate.logs = hidden_logs(crowd_, candidate.state);
    candidate.score = by_hidden_ ? mean_of_logs(candidate.logs) : evidence_of(candidate.state);
    return candidate;
  }

 private:
  const Options& options_;
  const RunContext& context_;
  Crowd crowd_;
  bool by_hidden_ = false;
  std::size_t fits_ = 0;
  std::vector<std::size_t> tried_;
};

void take_over(const SimilarityData& data, const State& state, SimilarityFit& fit) {
  const std::vector<std::uint32_t> cluster = most_probable(state);
  similarities::name_clusters(data, cluster, fit);
  fit.probability.resize(cluster.size());
  for (std::size_t i = 0; i < cluster.size(); ++i) fit.probability[i] = state.row(i)[cluster[i]];
  fit.same.assign(state.same.begin(), state.same.begin() + static_cast<std::ptrdiff_t>(data.answers.task_count()));
  fit.false_different = state.rates.false_different;
  fit.false_same = state.rates.false_same;
  fit.objective_name = "variational bound";
  fit.objective_is_monotone = true;
  fit.trace = state.trace;
  fit.iterations = state.iterations;
  fit.status = state.converged ? Status::converged : Status::iteration_limit;
}

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("clusters", o.clusters, 0, 4096,
            "how many clusters there may be; some may stay empty. 0: chosen by how well hidden pairs are foretold");
  v.integer("max_clusters", o.max_clusters, 1, 4096, "the most that are tried when `clusters` is 0");
  v.integer("restarts", o.restarts, 1, 1000, "starts of each number of clusters; the one that foretells best is kept");
  v.real("hidden_share", o.hidden_share, 0, 0.5, "share of the pairs by which starts and numbers are judged");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "sweeps over all items at most");
  v.real("tolerance", o.tolerance, 1e-12, 1, "stop when no probability changes by more than this");
}

}  // namespace

SimilarityMethod method() {
  MethodInfo info;
  info.title = "Crowd clusters";
  info.summary = "Clusters of items and the two error rates of each worker, together; the number of clusters is found.";
  info.when_to_use = "The default for answers that say same or different.";
  info.reference = "Gomes, Welinder, Krause and Perona 2011 (crowdclustering); stochastic block model, mean field";
  info.assumptions =
      "Every item belongs to one cluster, and a worker errs alike in all pairs that are the same, and in all that are "
      "not.";
  info.cost = "time S + P·K for P pairs and K clusters; memory 8·N·K + 16·P";
  info.uses_gold = true;
  info.uses_chance = true;
  info.uses_start = true;
  return SimilarityMethod::of<CrowdClusters, parameters>(std::move(info));
}

SimilarityFit CrowdClusters::fit(const SimilarityData& data, const RunContext& context,
                                 const SimilarityStart& start) const {
  SimilarityFit fit = similarities::start_similarity_fit(data);
  if (fit.item_count == 0) return fit;
  const auto started = std::chrono::steady_clock::now();
  Search search(data, options_, context);
  const std::size_t given = options_.clusters == 0 ? 0 : std::max(options_.clusters, search.least());
  std::optional<Candidate> chosen;
  if (!start.empty()) {
    const std::uint32_t highest = *std::max_element(start.cluster.begin(), start.cluster.end());
    const std::size_t room = std::max<std::size_t>({given, highest + std::size_t{1}, search.least()});
    chosen = search.fitted(start_from(search.crowd(), start.cluster, room));
  } else {
    chosen = given > 0 ? search.best_with(given) : search.best_number();
  }
  Crowd all(data);
  if (!chosen) {  // cancelled before anything was fitted
    State nothing = start_from(all, std::vector<std::uint32_t>(fit.item_count, 0), search.least());
    take_over(data, nothing, fit);
    fit.status = Status::cancelled;
    return fit;
  }
  // What was hidden counts now.
  State state = std::move(chosen->state);
  if (search.by_hidden()) {
    state.trace.clear();
    state.iterations = 0;
    ascend(all, {options_.max_iterations, options_.tolerance}, context, state);
  }
  take_over(data, state, fit);
  if (context.cancelled()) fit.status = Status::cancelled;
  fit.learned.emplace_back("clusters", static_cast<double>(fit.cluster_count()));
  fit.learned.emplace_back("room_for_clusters", static_cast<double>(state.clusters));
  if (search.by_hidden()) fit.learned.emplace_back("hidden_log_probability", chosen->score);
  std::string numbers;
  for (const std::size_t tried : search.tried()) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", tried);
  if (search.tried().size() > 1) {
    fit.explanation =
        fmt::format("Room for {} clusters was tried; {} of the {} that the kept fit had room for are used. It {}.",
                    numbers, fit.cluster_count(), state.clusters,
                    search.by_hidden() ? "foretells hidden pairs best, up to a standard error"
                                       : "has the highest evidence; there are too few pairs to hide some");
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  fit.seconds_per_iteration = seconds / static_cast<double>(std::max<std::size_t>(fit.iterations, 1));
  return fit;
}

}  // namespace wisecrowd::crowd_clusters
