#include "learn/shared/pair_start.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/pair_loss.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRowsAtOnce = 1024;       ///< when many rows are predicted
constexpr std::size_t kStepsPerEstimate = 100;  ///< after so many the workers' rates are estimated anew

/// An answer to a pair of items that both have features.
struct SeenAnswer {
  std::uint32_t pair, worker;
  bool same;
};

/// A network on its way, moved by the likelihood of single answers.
class PairTraining {
 public:
  PairTraining(const ItemRows& rows, const SimilarityAnswers& answers, const NetworkSpec& spec,
               const SimilarityLearningOptions& options, Rng rng, const RunContext& context)
      : rows_(rows),
        answers_(answers),
        options_(options),
        context_(context),
        rates_(answers.worker_count()),
        network_(make_network(spec, rows.inputs, options.clusters, rng.fork("network").next(), context)),
        optimiser_({.learning_rate = options.learning_rate}, network_->parameters().size()),
        rng_(rng.fork("order")) {
    network_->work_with(context.pool());
    network_->reseed(rng.fork("dropout").next());
    const auto offsets = answers.task_offsets();
    for (std::uint32_t p = 0; p < answers.task_count(); ++p) {
      if (!rows.known(answers.pairs()[p])) continue;
      for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
        seen_.push_back({p, static_cast<std::uint32_t>(answers.workers()[a]), answers.same()[a] != 0});
      }
    }
    order_.resize(seen_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    next_ = order_.size();
  }

  void train() {
    if (seen_.empty()) return;  // all of them may be hidden
    for (std::size_t s = 1; s <= options_.start_steps && !context_.cancelled(); ++s) {
      step(next_batch());
      if (s % kStepsPerEstimate == 0 || s == options_.start_steps) estimate_rates();
    }
  }

  [[nodiscard]] PairStart result() {
    const std::size_t clusters = options_.clusters;
    const std::vector<double> known = predictions();
    std::vector<double> mean(clusters, 0);
    for (std::size_t at = 0; at < known.size(); ++at) mean[at % clusters] += known[at];
    normalise(mean);
    PairStart start{std::vector<double>(answers_.item_count() * clusters), rates_};
    for (std::size_t i = 0; i < answers_.item_count(); ++i) {
      const double* const own = place_[i] == kNoRow ? mean.data() : known.data() + place_[i] * clusters;
      std::copy(own, own + clusters, start.member.begin() + static_cast<std::ptrdiff_t>(i * clusters));
    }
    return start;
  }

 private:
  std::span<const std::uint32_t> next_batch() {
    if (next_ >= order_.size()) {
      rng_.shuffle(std::span(order_));
      next_ = 0;
    }
    const auto batch = std::span(order_).subspan(next_, std::min(options_.batch, order_.size() - next_));
    next_ += batch.size();
    return batch;
  }

  void step(std::span<const std::uint32_t> chosen) {
    // Each row once, however many of the answers are about it.
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t at : chosen) {
      const SimilarPair pair = answers_.pairs()[seen_[at].pair];
      rows.push_back(rows_.row(pair.left));
      rows.push_back(rows_.row(pair.right));
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const auto place = [&](std::uint32_t row) {
      return static_cast<std::uint32_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
    };
    std::vector<PairAnswer> answers;
    for (const std::uint32_t at : chosen) {
      const SeenAnswer& answer = seen_[at];
      const SimilarPair pair = answers_.pairs()[answer.pair];
      answers.push_back({place(rows_.row(pair.left)), place(rows_.row(pair.right)), answer.same,
                         rates_.false_different[answer.worker], rates_.false_same[answer.worker]});
    }
    const std::size_t clusters = options_.clusters;
    std::vector<float> outputs(rows.size() * clusters);
    network_->forward(rows_.inputs, rows, Network::Mode::train, outputs);
    std::vector<double> f(outputs.begin(), outputs.end()), gradient(f.size(), 0);
    for (std::size_t at = 0; at < f.size(); at += clusters) softmax(std::span(f).subspan(at, clusters));
    (void)pair_loss(f, clusters, answers, gradient);
    const double share = 1 / static_cast<double>(answers.size());
    for (double& g : gradient) g *= share;
    (void)collapse_loss(f, clusters, options_.collapse_penalty, gradient);
    for (std::size_t at = 0; at < f.size(); at += clusters) {
      double mean = 0;
      for (std::size_t k = 0; k < clusters; ++k) mean += f[at + k] * gradient[at + k];
      for (std::size_t k = 0; k < clusters; ++k) {
        outputs[at + k] = static_cast<float>(f[at + k] * (gradient[at + k] - mean));
      }
    }
    network_->backward(outputs);
    optimiser_.step(network_->parameters(), network_->gradients(), 1, context_.pool());
  }

  /// Of the items that have a row, in their order; place_ says where each stands.
  std::vector<double> predictions() {
    std::vector<std::uint32_t> rows;
    place_.assign(answers_.item_count(), kNoRow);
    for (const std::uint32_t item : rows_.items) {
      place_[item] = static_cast<std::uint32_t>(rows.size());
      rows.push_back(rows_.row(item));
    }
    return membership(*network_, rows_.inputs, rows);
  }

  /// One step of EM: whether a pair is the same is weighed by the answer itself.
  void estimate_rates() {
    const std::size_t clusters = options_.clusters;
    const std::vector<double> member = predictions();
    std::vector<similarities::AnswerCounts> counts(answers_.worker_count());
    for (const SeenAnswer& answer : seen_) {
      const SimilarPair pair = answers_.pairs()[answer.pair];
      const double* const left = member.data() + place_[pair.left] * clusters;
      const double* const right = member.data() + place_[pair.right] * clusters;
      const double s = std::inner_product(left, left + clusters, right, 0.0);
      const double e1 = rates_.false_different[answer.worker], e0 = rates_.false_same[answer.worker];
      const double if_same = s * (answer.same ? 1 - e1 : e1), if_different = (1 - s) * (answer.same ? e0 : 1 - e0);
      counts[answer.worker].add(answer.same, if_same / std::max(if_same + if_different, kProbabilityFloor));
    }
    for (std::size_t w = 0; w < counts.size(); ++w) {
      similarities::estimate_rates(counts[w], rates_.false_different[w], rates_.false_same[w]);
    }
  }

  const ItemRows& rows_;
  const SimilarityAnswers& answers_;
  const SimilarityLearningOptions& options_;
  const RunContext& context_;
  similarities::ErrorRates rates_;
  std::unique_ptr<Network> network_;
  Optimiser optimiser_;
  Rng rng_;
  std::vector<SeenAnswer> seen_;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> place_;  ///< per item: its place among those with a row
};

}  // namespace

ItemRows item_rows(const SimilarityAnswers& answers, const Features& features,
                   std::span<const std::uint32_t> row_of_item) {
  std::vector<std::uint32_t> used, items;
  for (std::uint32_t i = 0; i < row_of_item.size(); ++i) {
    if (row_of_item[i] == kNoRow) continue;
    used.push_back(row_of_item[i]);
    items.push_back(i);
  }
  if (used.empty()) throw Error(ErrorCode::bad_input, "no item has features: are items and rows named alike?");
  std::sort(used.begin(), used.end());
  ItemRows rows{scaled(features, standardise(features, used)), row_of_item, std::move(items)};
  for (std::uint32_t p = 0; p < answers.task_count(); ++p) {
    if (rows.known(answers.pairs()[p]) && !answers.workers_of(TaskId(p)).empty()) return rows;
  }
  throw Error(ErrorCode::bad_input, "no answered pair has features of both items");
}

std::vector<double> membership(Network& network, const Features& inputs, std::span<const std::uint32_t> rows) {
  const std::size_t clusters = network.output_size();
  std::vector<double> member(rows.size() * clusters);
  std::vector<float> outputs;
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows.size() - begin);
    outputs.resize(count * clusters);
    network.forward(inputs, rows.subspan(begin, count), Network::Mode::predict, outputs);
    std::copy(outputs.begin(), outputs.end(), member.begin() + static_cast<std::ptrdiff_t>(begin * clusters));
  }
  for (std::size_t at = 0; at < member.size(); at += clusters) softmax(std::span(member).subspan(at, clusters));
  if (!std::all_of(member.begin(), member.end(), [](double p) { return std::isfinite(p); })) {
    throw Diverged("the network left the finite numbers: try a smaller learning_rate");
  }
  return member;
}

PairStart pair_start(const ItemRows& rows, const SimilarityAnswers& answers, const NetworkSpec& network,
                     const SimilarityLearningOptions& options, Rng rng, const RunContext& context) {
  PairTraining training(rows, answers, network, options, rng, context);
  training.train();
  return training.result();
}

}  // namespace wisecrowd
