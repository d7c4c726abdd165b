#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/numeric.hpp"
#include "learn/dalc/dalc.hpp"
#include "learn/shared/dense_network.hpp"
#include "learn/shared/training_run.hpp"
#include "wisecrowd/dalc_session.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::dalc {
namespace {

constexpr std::size_t kEpochsPerLabelling = 5;
constexpr std::size_t kPredictionRows = 1024;

/// Somebody else's reliability, which stays as it is.
class Known final : public Reliability {
 public:
  explicit Known(const Reliability& known) : known_(&known) {}
  void fit(const TrainingSet&, std::span<const double>) override {}
  [[nodiscard]] double log_odds(WorkerId worker, std::uint32_t row) const override {
    return known_->log_odds(worker, row);
  }
  [[nodiscard]] std::unique_ptr<Reliability> clone() const override { return std::make_unique<Known>(*this); }

 private:
  const Reliability* known_;
};

std::vector<double> right_answers(const TrainingSet& set, std::span<const double> labels) {
  std::vector<double> right(set.answer_count());
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      right[a] = labels[i * set.class_count + index(set.label[a])];
    }
  }
  return right;
}

void append(TrainingSet& set, const TrainingSet& more) {
  const auto begin = static_cast<std::uint32_t>(set.worker.size());
  set.task.insert(set.task.end(), more.task.begin(), more.task.end());
  set.row.insert(set.row.end(), more.row.begin(), more.row.end());
  set.gold.insert(set.gold.end(), more.gold.begin(), more.gold.end());
  set.worker.insert(set.worker.end(), more.worker.begin(), more.worker.end());
  set.label.insert(set.label.end(), more.label.begin(), more.label.end());
  set.answer.insert(set.answer.end(), more.answer.begin(), more.answer.end());
  for (std::size_t i = 1; i < more.offset.size(); ++i) set.offset.push_back(begin + more.offset[i]);
}

class Session final : public DalcSession {
 public:
  Session(const LearningData& data, std::span<const TaskId> past, Options options, const NetworkSpec& network,
          std::string_view stream, const RunContext& context);
  Session(const Session& other);

  void add(std::span<const CategoryAnswer> answers) override;
  void train(std::size_t epochs, std::string_view stream) override;
  void refresh_reliability() override;
  [[nodiscard]] Opinion opinion(std::span<const TaskId> tasks, std::size_t draws, std::string_view stream) override;
  [[nodiscard]] std::vector<double> predict(std::span<const std::uint32_t> rows) override;
  [[nodiscard]] std::vector<float> penultimate(std::span<const TaskId> tasks) override;
  [[nodiscard]] double reliability(WorkerId worker, TaskId task) const override {
    return sigmoid(reliability_->log_odds(worker, data_->row_of_task[index(task)]));
  }
  [[nodiscard]] std::unique_ptr<DalcSession> clone() const override { return std::make_unique<Session>(*this); }

 private:
  struct Said {
    WorkerId worker;
    ClassId label;
  };
  [[nodiscard]] TrainingSet added_set() const;
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::span<const TaskId> tasks) const;
  void outputs(std::span<const std::uint32_t> rows, Network::Mode mode, std::span<double> out);
  [[nodiscard]] bool drops() const { return spec_.kind != "linear" && spec_.dropout > 0; }

  const LearningData* data_;
  const RunContext* context_;
  Options options_;
  NetworkSpec spec_;
  std::shared_ptr<const Features> inputs_;  // scaled
  std::shared_ptr<const TrainingSet> past_, learned_from_;
  std::vector<double> past_right_;
  std::unique_ptr<Reliability> reliability_;
  std::vector<std::vector<Said>> answers_;  // added, per task
  std::vector<double> labels_;              // of the tasks with answers added, at the end of the last training
  std::unique_ptr<Network> network_;
  bool trained_ = false;
};

Session::Session(const LearningData& data, std::span<const TaskId> past, Options options, const NetworkSpec& network,
                 std::string_view stream, const RunContext& context)
    : data_(&data),
      context_(&context),
      options_(std::move(options)),
      spec_(network),
      answers_(data.crowd.answers.task_count()) {
  validate(network);
  validate(data);
  const TrainingSet all = tasks_to_learn_from(data);
  const Scaling scaling = options_.training.standardise ? standardise(data.features, all.row) : Scaling{};
  inputs_ = std::make_shared<Features>(scaled(data.features, scaling));
  std::vector<bool> is_past(data.crowd.answers.task_count(), false);
  for (const TaskId task : past) is_past[index(task)] = true;
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < all.task_count(); ++i) {
    if (is_past[index(all.task[i])]) chosen.push_back(static_cast<std::uint32_t>(i));
  }
  auto set = std::make_shared<TrainingSet>(subset(all, chosen));
  if (set->answer_count() == 0) {
    throw Error(ErrorCode::bad_input,
                "reliabilities cannot be learned: no task of the past has both features and an answer");
  }
  set->inputs = inputs_.get();
  past_ = learned_from_ = set;

  const ReliabilityModel::Options model{.samples = drops() ? options_.samples : 1,
                                        .warm_up = options_.warm_up,
                                        .epochs_per_labelling = kEpochsPerLabelling};
  TrainingRun run(
      *set, *inputs_, spec_, options_.training,
      [&](const TrainingSet& of, Rng rng) {
        return std::make_unique<ReliabilityModel>(of, make_reliability(options_, of, rng, context), model);
      },
      std::string(stream) + " past", context);
  for (std::size_t epoch = 0; epoch < options_.training.epochs && !context.cancelled(); ++epoch) {
    const double loss = run.epoch();
    if (!run.finite()) throw Diverged(run.trouble());
    context.report({.stage = "learning whom to trust",
                    .done = static_cast<double>(epoch + 1),
                    .total = static_cast<double>(options_.training.epochs),
                    .objective = loss,
                    .has_objective = true});
  }
  const auto& learned = static_cast<const ReliabilityModel&>(run.model());
  past_right_ = right_answers(*set, learned.soft_labels());
  reliability_ = learned.reliability().clone();
  network_ = make_network(spec_, *inputs_, all.class_count, context.rng(stream).fork("network").next(), context);
  network_->work_with(context.pool());
}

Session::Session(const Session& other)
    : data_(other.data_),
      context_(other.context_),
      options_(other.options_),
      spec_(other.spec_),
      inputs_(other.inputs_),
      past_(other.past_),
      learned_from_(other.learned_from_),
      past_right_(other.past_right_),
      reliability_(other.reliability_->clone()),
      answers_(other.answers_),
      labels_(other.labels_),
      network_(make_network(spec_, *inputs_, other.network_->output_size(), 0, *context_)),
      trained_(other.trained_) {
  network_->work_with(context_->pool());
  const auto parameters = other.network_->parameters();
  std::copy(parameters.begin(), parameters.end(), network_->parameters().begin());
  network_->set_buffers(other.network_->buffers());
}

void Session::add(std::span<const CategoryAnswer> answers) {
  for (const CategoryAnswer& answer : answers) {
    answers_[index(answer.task)].push_back({answer.worker, answer.label});
  }
}

TrainingSet Session::added_set() const {
  TrainingSet set;
  set.worker_count = past_->worker_count;
  set.class_count = past_->class_count;
  set.inputs = inputs_.get();
  set.offset.push_back(0);
  for (std::size_t t = 0; t < answers_.size(); ++t) {
    const std::uint32_t row = data_->row_of_task[t];
    if (answers_[t].empty() || row == kNoRow) continue;
    set.task.push_back(TaskId(t));
    set.row.push_back(row);
    set.gold.push_back(kNoClass);
    for (const Said& said : answers_[t]) {
      set.worker.push_back(said.worker);
      set.label.push_back(said.label);
      set.answer.push_back(0);
    }
    set.offset.push_back(static_cast<std::uint32_t>(set.worker.size()));
  }
  return set;
}

void Session::train(std::size_t epochs, std::string_view stream) {
  const TrainingSet set = added_set();
  if (set.task_count() == 0) return;
  TrainingOptions training = options_.training;
  training.epochs = epochs;
  const ReliabilityModel::Options model{.samples = drops() ? options_.samples : 1,
                                        .warm_up = trained_ ? 0 : options_.warm_up,
                                        .epochs_per_labelling = kEpochsPerLabelling,
                                        .known = true};
  TrainingRun run(
      set, *inputs_, spec_, training,
      [&](const TrainingSet& of, Rng) {
        return std::make_unique<ReliabilityModel>(of, std::make_unique<Known>(*reliability_), model);
      },
      stream, *context_);
  run.resume_from(network_->parameters(), network_->buffers());
  for (std::size_t epoch = 0; epoch < epochs && !context_->cancelled(); ++epoch) {
    run.epoch();
    if (!run.finite()) throw Diverged(run.trouble());
  }
  const Snapshot state = run.snapshot();
  std::copy(state.parameters.begin(), state.parameters.end(), network_->parameters().begin());
  network_->set_buffers(state.buffers);
  labels_ = static_cast<const ReliabilityModel&>(*state.model).soft_labels();
  trained_ = true;
}

void Session::refresh_reliability() {
  TrainingSet added = added_set();
  // A new object while the old one lives: reliabilities know by its address whether they saw a set before.
  auto set = std::make_shared<TrainingSet>(*past_);
  std::vector<double> right = past_right_;
  if (labels_.size() == added.task_count() * added.class_count) {
    const std::vector<double> more = right_answers(added, labels_);
    right.insert(right.end(), more.begin(), more.end());
    append(*set, added);
  }
  reliability_->fit(*set, right);
  learned_from_ = std::move(set);
}

std::vector<std::uint32_t> Session::rows_of(std::span<const TaskId> tasks) const {
  std::vector<std::uint32_t> rows;
  rows.reserve(tasks.size());
  for (const TaskId task : tasks) rows.push_back(data_->row_of_task[index(task)]);
  return rows;
}

void Session::outputs(std::span<const std::uint32_t> rows, Network::Mode mode, std::span<double> out) {
  const std::size_t width = network_->output_size();
  std::vector<float> values;
  for (std::size_t begin = 0; begin < rows.size(); begin += kPredictionRows) {
    const std::size_t count = std::min(kPredictionRows, rows.size() - begin);
    values.resize(count * width);
    network_->forward(*inputs_, rows.subspan(begin, count), mode, values);
    std::copy(values.begin(), values.end(), out.begin() + static_cast<std::ptrdiff_t>(begin * width));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) softmax(out.subspan(i * width, width));
}

std::vector<double> Session::predict(std::span<const std::uint32_t> rows) {
  std::vector<double> out(rows.size() * network_->output_size());
  outputs(rows, Network::Mode::predict, out);
  return out;
}

DalcSession::Opinion Session::opinion(std::span<const TaskId> tasks, std::size_t draws, std::string_view stream) {
  const std::vector<std::uint32_t> rows = rows_of(tasks);
  const std::size_t classes = network_->output_size(), passes = drops() ? draws : 1;
  Opinion result;
  result.mean.assign(rows.size() * classes, 0.0);
  result.draw_entropy.assign(rows.size(), 0.0);
  std::vector<double> draw(result.mean.size());
  network_->reseed(context_->rng(stream).fork("draws").next());
  const double share = 1 / static_cast<double>(passes);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    outputs(rows, drops() ? Network::Mode::sample : Network::Mode::predict, draw);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < classes; ++k) {
        const double p = draw[i * classes + k];
        result.mean[i * classes + k] += share * p;
        if (p > 0) result.draw_entropy[i] -= share * p * std::log(p);
      }
    }
  }
  result.posterior = result.mean;
  const ReliabilityModel::Evidence evidence{*reliability_, classes};
  std::vector<WorkerId> workers;
  std::vector<ClassId> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& said = answers_[index(tasks[i])];
    if (said.empty()) continue;
    workers.clear();
    labels.clear();
    for (const Said& s : said) {
      workers.push_back(s.worker);
      labels.push_back(s.label);
    }
    const auto row = std::span(result.posterior).subspan(i * classes, classes);
    for (double& p : row) p = std::log(std::max(p, kProbabilityFloor));
    evidence.add({workers, labels, kNoTask, rows[i]}, row);
    softmax(row);
  }
  return result;
}

std::vector<float> Session::penultimate(std::span<const TaskId> tasks) {
  const std::vector<std::uint32_t> rows = rows_of(tasks);
  auto* const dense = dynamic_cast<DenseNetwork*>(network_.get());
  if (dense == nullptr || dense->widths().size() < 2) {
    const std::vector<double> probabilities = predict(rows);
    return {probabilities.begin(), probabilities.end()};
  }
  std::vector<float> result, values;
  for (std::size_t begin = 0; begin < rows.size(); begin += kPredictionRows) {
    const auto part = std::span(rows).subspan(begin, std::min(kPredictionRows, rows.size() - begin));
    values.resize(part.size() * network_->output_size());
    network_->forward(*inputs_, part, Network::Mode::predict, values);
    const auto hidden = dense->last_hidden();
    result.insert(result.end(), hidden.begin(), hidden.end());
  }
  return result;
}

}  // namespace
}  // namespace wisecrowd::dalc

namespace wisecrowd {

std::unique_ptr<DalcSession> make_dalc_session(const LearningData& data, std::span<const TaskId> past,
                                               const Parameters& parameters, const NetworkSpec& network,
                                               std::string_view stream, const RunContext& context) {
  return std::make_unique<dalc::Session>(data, past, dalc::options_from(parameters), network, stream, context);
}

}  // namespace wisecrowd
