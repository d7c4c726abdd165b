#include "learn/shared/training_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/math.hpp"
#include "learn/shared/finite.hpp"

namespace wisecrowd {
namespace {

/// Rows per call of a network that only predicts.
constexpr std::size_t kPredictionRows = 1024;
/// Fewer inputs than this cannot stand in for each other, so none of them is hidden.
constexpr std::size_t kInputsToDropFrom = 50;

/// A running mean that remembers more of a short training than this would lag behind it.
constexpr double kLongestMemory = 1.0 / 12;

/// What fades per epoch, shared out among its steps.
OptimiserOptions per_step(OptimiserOptions options, double decay_per_epoch, std::size_t steps_per_epoch) {
  options.decoupled_decay = 1 - math::pow(1 - decay_per_epoch, 1 / static_cast<double>(steps_per_epoch));
  return options;
}

}  // namespace

double memorisation_risk(std::size_t inputs, std::size_t tasks) {
  return std::min(1.0, 2 * static_cast<double>(inputs) / static_cast<double>(std::max<std::size_t>(tasks, 1)));
}

TrainingRun::TrainingRun(const TrainingSet& set, const Features& inputs, const NetworkSpec& network,
                         const TrainingOptions& options, const BatchModelFactory& make_model, std::string_view purpose,
                         const RunContext& context)
    : set_(set),
      inputs_(inputs),
      options_(options),
      context_(context),
      model_(make_model(set, context.rng(purpose).fork("model"))),
      network_(make_network(network, inputs, model_->outputs(), context.rng(purpose).fork("network").next(), context)),
      batch_(options.batch == 0 ? set.task_count() : std::min(options.batch, set.task_count())),
      steps_per_epoch_(std::max<std::size_t>(set.task_count() / batch_, 1)),
      optimiser_(
          per_step(options.optimiser, options.decoupled_decay * memorisation_risk(inputs.columns(), set.task_count()),
                   steps_per_epoch_),
          network_->parameters().size()),
      order_stream_(context.rng(purpose).fork("order")),
      order_(set.task_count()),
      kind_(network.kind) {
  if (inputs.columns() >= kInputsToDropFrom) {
    network_->drop_inputs(options.input_dropout * memorisation_risk(inputs.columns(), set.task_count()));
  }
  std::iota(order_.begin(), order_.end(), 0U);
  if (options.average_epochs > 0) average_.assign(network_->parameters().begin(), network_->parameters().end());
}

void TrainingRun::resume_from(std::span<const float> parameters, std::span<const float> buffers) {
  std::copy(parameters.begin(), parameters.end(), network_->parameters().begin());
  if (!average_.empty()) average_.assign(parameters.begin(), parameters.end());
  network_->set_buffers(buffers);
}

double TrainingRun::pace() const {
  const double progress = static_cast<double>(steps_done_) /
                          static_cast<double>(std::max<std::size_t>(options_.epochs * steps_per_epoch_, 1));
  switch (options_.schedule) {
    case TrainingOptions::Schedule::constant: return 1;
    case TrainingOptions::Schedule::cosine: return (1 + math::cos_turns(std::min(progress, 1.0) / 2)) / 2;
    case TrainingOptions::Schedule::one_cycle: {
      // Up from a twenty-fifth within the first 30 %, then down to nothing, both along a cosine.
      constexpr double kRise = 0.3, kFirst = 0.04;
      if (progress < kRise) return kFirst + (1 - kFirst) * (1 - math::cos_turns(progress / kRise / 2)) / 2;
      return (1 + math::cos_turns(std::min((progress - kRise) / (1 - kRise), 1.0) / 2)) / 2;
    }
  }
  return 1;
}

template <class Work>
void TrainingRun::with_average(const Work& work) {
  if (average_.empty()) return work();
  const auto parameters = network_->parameters();
  const std::vector<float> current(parameters.begin(), parameters.end());
  std::copy(average_.begin(), average_.end(), parameters.begin());
  work();
  std::copy(current.begin(), current.end(), parameters.begin());
}

void TrainingRun::predict(std::span<const std::uint32_t> rows, Network::Mode mode, std::span<double> out) {
  const std::size_t width = network_->output_size();
  std::vector<float> values;
  for (std::size_t begin = 0; begin < rows.size(); begin += kPredictionRows) {
    const std::size_t count = std::min(kPredictionRows, rows.size() - begin);
    values.resize(count * width);
    network_->forward(inputs_, rows.subspan(begin, count), mode, values);
    std::copy(values.begin(), values.end(), out.begin() + static_cast<std::ptrdiff_t>(begin * width));
  }
}

std::vector<double> TrainingRun::outputs(std::span<const std::uint32_t> rows) {
  std::vector<double> out(rows.size() * network_->output_size());
  with_average([&] { predict(rows, Network::Mode::predict, out); });
  return out;
}

BatchModel::Epoch TrainingRun::announcement() {
  BatchModel::Epoch epoch;
  epoch.number = epochs_done_;
  epoch.total = options_.epochs;
  epoch.predict = [this](std::span<double> out) {
    with_average([&] { predict(set_.row, Network::Mode::predict, out); });
  };
  epoch.sample = [this](std::span<double> out) {
    with_average([&] { predict(set_.row, Network::Mode::sample, out); });
  };
  return epoch;
}

void TrainingRun::end() { model_->end_training(announcement()); }

double TrainingRun::epoch() {
  std::size_t steps = 0;
  double sum = 0;
  try {
    const BatchModel::Epoch now_begins = announcement();
    model_->begin_epoch(now_begins);
    sum = take_steps(steps);
    if (!std::isfinite(sum) || !weights_are_finite()) throw NotFinite();
    model_->end_epoch(now_begins);
  } catch (const NotFinite&) {
    trouble_ = steps_done_ == 0 ? Trouble::before_training : Trouble::in_training;
  }
  ++epochs_done_;
  return steps == 0 ? 0 : sum / static_cast<double>(steps);
}

double TrainingRun::take_steps(std::size_t& steps) {
  order_stream_.shuffle(std::span(order_));
  const std::size_t width = network_->output_size();
  std::vector<std::uint32_t> rows;
  std::vector<float> values;
  std::vector<double> outputs, gradients;
  const double memory = std::min(options_.average_epochs, kLongestMemory * static_cast<double>(options_.epochs)) *
                        static_cast<double>(steps_per_epoch_);
  const auto require_finite = [&] {
    if (!all_finite(std::span<const float>(values))) throw NotFinite();
  };
  double sum = 0;
  for (; steps < steps_per_epoch_ && !context_.cancelled(); ++steps) {
    // The last batch takes what is left over, so that every task is seen once and no batch is tiny.
    const std::size_t begin = steps * batch_;
    const std::size_t end = steps + 1 == steps_per_epoch_ ? order_.size() : begin + batch_;
    const auto tasks = std::span<const std::uint32_t>(order_).subspan(begin, end - begin);
    rows.resize(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) rows[i] = set_.row[tasks[i]];
    values.resize(tasks.size() * width);
    network_->forward(inputs_, rows, Network::Mode::train, values);
    require_finite();
    outputs.assign(values.begin(), values.end());
    gradients.assign(outputs.size(), 0.0);
    sum += model_->loss(tasks, {outputs.data(), tasks.size(), width}, {gradients.data(), tasks.size(), width});
    std::transform(gradients.begin(), gradients.end(), values.begin(),
                   [](double gradient) { return static_cast<float>(gradient); });
    require_finite();
    network_->backward(values);
    const double now = pace();
    ++steps_done_;
    // A short memory at the beginning, so that the first weights, which know nothing, are soon forgotten.
    const double share = std::max(1 / (1 + memory), 1 / (1 + static_cast<double>(steps_done_) / 2));
    optimiser_.step(network_->parameters(), network_->gradients(), now, average_, share, context_.pool());
    model_->step(now);
  }
  return sum;
}

bool TrainingRun::weights_are_finite() {
  // Smaller weights do not overflow in networks of ordinary depth; conclude() looks at every row anyway.
  constexpr float kLargeWeight = 100;
  constexpr std::size_t kRows = 128;
  const std::span<const float> weights = average_.empty() ? network_->parameters() : std::span<const float>(average_);
  if (!all_finite(weights) || !all_finite(std::span<const float>(network_->buffers()))) return false;
  if (std::all_of(weights.begin(), weights.end(), [](float w) { return std::abs(w) < kLargeWeight; })) return true;
  return all_finite(std::span<const double>(outputs(std::span(set_.row).first(std::min(kRows, set_.row.size())))));
}

std::string TrainingRun::trouble() const {
  if (trouble_ == Trouble::before_training) {
    return is_native_network(kind_)
               ? "the network gives numbers that are not finite before it is trained at all: the features are too "
                 "large; set standardise=true, or bring them to an ordinary scale"
               : fmt::format("model {}: gives numbers that are not finite before it is trained at all: mend the module",
                             kind_);
  }
  return fmt::format("training diverged, in epoch {} its numbers were no longer finite: lower learning_rate (it is {})",
                     epochs_done_, options_.optimiser.learning_rate);
}

Snapshot TrainingRun::snapshot() {
  Snapshot state;
  with_average([&] { state.parameters.assign(network_->parameters().begin(), network_->parameters().end()); });
  state.buffers = network_->buffers();
  state.model = model_->copy();
  return state;
}

void TrainingRun::restore(const Snapshot& state) {
  std::copy(state.parameters.begin(), state.parameters.end(), network_->parameters().begin());
  average_.clear();
  network_->set_buffers(state.buffers);
  model_ = state.model->copy();
  trouble_ = Trouble::none;
}

}  // namespace wisecrowd
