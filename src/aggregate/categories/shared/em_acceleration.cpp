#include "aggregate/categories/shared/em_acceleration.hpp"

#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

/// No number falls below this share of itself in one extrapolation: EM does not come back from 0.
constexpr double kLeastShare = 0.1;
constexpr std::size_t kWorkersPerBlock = 64;

/// Weights of the last two steps with which x + step + earlier = x0 + 2a r + a² v, where x = x0 + 2r + v, r is the
/// earlier step, and v the difference between both.
struct StepWeights {
  explicit StepWeights(double reach) : step(reach * reach - 1), earlier(2 * (reach - 1) - step) {}
  double step, earlier;
};

}  // namespace

double Reach::of(double step, double bend) {
  if (!(step > 0) || !(bend > 0)) return 1;
  const double wanted = std::sqrt(step / bend);
  if (wanted < most_) return std::max(wanted, 1.0);
  return std::exchange(most_, most_ * kGrowth);
}

void Reach::was_too_far() { most_ = std::max(kFirst, most_ / (kGrowth * kGrowth)); }

void VectorHistory::note(std::vector<double> now) {
  if (states_ > 0) {
    std::swap(earlier_, step_);
    step_.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) step_[i] = now[i] - last_[i];
  }
  last_ = std::move(now);
  ++states_;
}

std::pair<double, double> VectorHistory::lengths() const {
  double step = 0, bend = 0;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    step += earlier_[i] * earlier_[i];
    bend += (step_[i] - earlier_[i]) * (step_[i] - earlier_[i]);
  }
  return {step, bend};
}

std::vector<double> VectorHistory::beyond(double reach) const {
  std::vector<double> state = last_;
  if (reach <= 1) return state;
  const StepWeights weight(reach);
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] = std::max(state[i] + weight.step * step_[i] + weight.earlier * earlier_[i], kLeastShare * state[i]);
  }
  return state;
}

void VectorHistory::begin_at(std::vector<double> state) {
  last_ = std::move(state);
  states_ = 1;
}

EmAcceleration::EmAcceleration(const ConfusionPass& pass, const RunContext& context)
    : context_(context),
      workers_(pass.worker_count()),
      classes_(pass.class_count()),
      stride_(pass.stride()),
      norms_(pass.worker_blocks()) {}

void EmAcceleration::note_rest(const CrowdModel& model, const ConfusionPass::Sums& sums) {
  std::vector<double> now(classes_);
  for (std::size_t k = 0; k < classes_; ++k) now[k] = std::sqrt(sums.class_mass[k]);
  model.save(now);
  rest_.note(std::move(now));
  if (counts_.empty()) {  // many fits are at rest before there is anything to note
    counts_.resize(workers_ * cells());
    count_steps_.resize(workers_ * cells());
    earlier_count_steps_.resize(workers_ * cells());
  }
  norms_.assign(norms_.size(), {});
}

void EmAcceleration::note_counts(std::size_t block, std::size_t worker, const double* counts) {
  const std::size_t at = worker * cells();
  double* const last = counts_.data() + at;
  float* const step = count_steps_.data() + at;
  float* const earlier = earlier_count_steps_.data() + at;
  if (states() > 1) {
    for (std::size_t c = 0; c < cells(); ++c) {
      earlier[c] = step[c];
      step[c] = static_cast<float>(counts[c] - last[c]);
    }
  }
  std::copy_n(counts, cells(), last);
  if (states() < 3) return;
  double length = 0, bend = 0;
  for (std::size_t c = 0; c < cells(); ++c) {
    const double r = earlier[c], v = static_cast<double>(step[c]) - r, weight = 1 / (last[c] + 1);
    length += weight * r * r;
    bend += weight * v * v;
  }
  norms_[block].step += length;
  norms_[block].bend += bend;
}

double EmAcceleration::reach() {
  auto [step, bend] = rest_.lengths();
  for (const BlockNorms& part : norms_) {
    step += part.step;
    bend += part.bend;
  }
  return reach_.of(step, bend);
}

void EmAcceleration::extrapolate_counts(double reach, std::size_t worker, double* counts) const {
  const std::size_t at = worker * cells();
  std::copy_n(counts_.data() + at, cells(), counts);
  if (reach <= 1) return;
  const StepWeights weight(reach);
  const float* const step = count_steps_.data() + at;
  const float* const earlier = earlier_count_steps_.data() + at;
  for (std::size_t l = 0; l < classes_; ++l) {
    double before = 0, after = 0;
    for (std::size_t c = l * stride_; c < l * stride_ + classes_; ++c) {
      const double last = counts[c];
      counts[c] = std::max(last + weight.step * step[c] + weight.earlier * earlier[c], kLeastShare * last);
      before += last;
      after += counts[c];
    }
    if (!(after > 0)) continue;
    for (std::size_t c = l * stride_; c < l * stride_ + classes_; ++c) counts[c] *= before / after;
  }
}

void EmAcceleration::extrapolate_rest(double reach, CrowdModel& model, ConfusionPass::Sums& sums) const {
  const std::vector<double> rest = rest_.beyond(reach);
  double total = 0;
  for (std::size_t k = 0; k < classes_; ++k) total += rest[k] * rest[k];
  for (std::size_t k = 0; k < classes_ && total > 0; ++k) {
    sums.class_mass[k] = rest[k] * rest[k] / total * sums.answered_tasks;
  }
  model.load({rest.data() + classes_, rest.size() - classes_});
}

void EmAcceleration::accept(double reach) {
  const Blocks blocks{workers_, kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> counts(cells());
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      extrapolate_counts(reach, w, counts.data());
      std::copy(counts.begin(), counts.end(), counts_.data() + w * cells());
    }
  });
  rest_.begin_at(rest_.beyond(reach));
}

void EmAcceleration::reject() {
  reach_.was_too_far();
  rest_.begin_at_last();
}

}  // namespace wisecrowd
