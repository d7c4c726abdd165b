#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/math.hpp"
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

/// The tasks by their rows, the answers of each by the names of workers: the order in which they became known shall not
/// matter.
TrainingSet in_order(const TrainingSet& set, const LearningData& data) {
  std::vector<std::uint32_t> tasks(set.task_count());
  std::iota(tasks.begin(), tasks.end(), 0U);
  std::stable_sort(tasks.begin(), tasks.end(), [&](auto a, auto b) { return set.row[a] < set.row[b]; });
  TrainingSet sorted = subset(set, tasks);
  const NameTable& names = data.crowd.answers.worker_names();
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < sorted.task_count(); ++i) {
    places.resize(sorted.offset[i + 1] - sorted.offset[i]);
    std::iota(places.begin(), places.end(), sorted.offset[i]);
    std::stable_sort(places.begin(), places.end(),
                     [&](auto a, auto b) { return names[index(sorted.worker[a])] < names[index(sorted.worker[b])]; });
    std::vector<WorkerId> workers;
    std::vector<ClassId> labels;
    std::vector<std::uint32_t> answers;
    for (const std::uint32_t a : places) {
      workers.push_back(sorted.worker[a]);
      labels.push_back(sorted.label[a]);
      answers.push_back(sorted.answer[a]);
    }
    const auto at = static_cast<std::ptrdiff_t>(sorted.offset[i]);
    std::copy(workers.begin(), workers.end(), sorted.worker.begin() + at);
    std::copy(labels.begin(), labels.end(), sorted.label.begin() + at);
    std::copy(answers.begin(), answers.end(), sorted.answer.begin() + at);
  }
  return sorted;
}

/// Those of the train split.
std::vector<std::uint32_t> train_rows(const LearningData& data) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < data.split.size(); ++row) {
    if (data.split[row] == Split::train) rows.push_back(row);
  }
  return rows;
}

class Session final : public DalcSession {
 public:
  Session(const LearningData& data, std::span<const TaskId> past, Options options, const NetworkSpec& network,
          std::string_view stream, std::span<const std::uint32_t> known_rows, const RunContext& context);
  Session(const LearningData& data, const DalcMemory& memory, Options options, const NetworkSpec& network,
          const RunContext& context);
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
  [[nodiscard]] DalcMemory memory() override;
  [[nodiscard]] std::unique_ptr<DalcSession> clone() const override { return std::make_unique<Session>(*this); }

 private:
  struct Said {
    WorkerId worker;
    ClassId label;
  };
  void scale_inputs(const Scaling& scaling) {
    scaling_ = scaling;
    inputs_ = std::make_shared<Features>(scaled(data_->features, scaling));
  }
  void learn_from_past(std::string_view stream);
  [[nodiscard]] TrainingSet added_set() const;
  [[nodiscard]] std::vector<std::uint32_t> rows_of(std::span<const TaskId> tasks) const;
  void outputs(std::span<const std::uint32_t> rows, Network::Mode mode, std::span<double> out);
  [[nodiscard]] bool drops() const { return spec_.kind != "linear" && spec_.dropout > 0; }

  const LearningData* data_;
  const RunContext* context_;
  Options options_;
  NetworkSpec spec_;
  Scaling scaling_;
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
                 std::string_view stream, std::span<const std::uint32_t> known_rows, const RunContext& context)
    : data_(&data),
      context_(&context),
      options_(std::move(options)),
      spec_(network),
      answers_(data.crowd.answers.task_count()) {
  validate(network);
  validate(data);
  const TrainingSet all = tasks_to_learn_from(data);
  const std::vector<std::uint32_t> rows = known_rows.empty() ? train_rows(data) : std::vector<std::uint32_t>{};
  scale_inputs(options_.training.standardise ? standardise(data.features, known_rows.empty() ? rows : known_rows)
                                             : Scaling{});
  std::vector<bool> is_past(data.crowd.answers.task_count(), false);
  for (const TaskId task : past) is_past[index(task)] = true;
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < all.task_count(); ++i) {
    if (is_past[index(all.task[i])]) chosen.push_back(static_cast<std::uint32_t>(i));
  }
  auto set = std::make_shared<TrainingSet>(in_order(subset(all, chosen), data));
  if (set->answer_count() == 0) {
    throw Error(ErrorCode::bad_input,
                "reliabilities cannot be learned: no task of the past has both features and an answer");
  }
  set->inputs = inputs_.get();
  past_ = learned_from_ = set;
  learn_from_past(stream);
  network_ = make_network(spec_, *inputs_, all.class_count, context.rng(stream).fork("network").next(), context);
  network_->work_with(context.pool());
}

void Session::learn_from_past(std::string_view stream) {
  const RunContext& context = *context_;
  const ReliabilityModel::Options model{.samples = drops() ? options_.samples : 1,
                                        .warm_up = options_.warm_up,
                                        .epochs_per_labelling = kEpochsPerLabelling};
  TrainingRun run(
      *past_, *inputs_, spec_, options_.training,
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
  past_right_ = right_answers(*past_, learned.soft_labels());
  reliability_ = learned.reliability().clone();
}

Session::Session(const LearningData& data, const DalcMemory& memory, Options options, const NetworkSpec& network,
                 const RunContext& context)
    : data_(&data),
      context_(&context),
      options_(std::move(options)),
      spec_(network),
      past_right_(memory.past_right),
      answers_(data.crowd.answers.task_count()),
      trained_(memory.trained) {
  validate(network);
  validate(data);
  const auto wrong = [](const char* what) {
    return Error(ErrorCode::bad_input, fmt::format("what the session remembers does not fit its data: {}", what));
  };
  if (!memory.scaling.empty() && (memory.scaling.shift.size() != scale_count(data.features) ||
                                  memory.scaling.factor.size() != scale_count(data.features))) {
    throw wrong("the features have another number of columns");
  }
  if (memory.past.empty() || memory.past_right.size() != memory.past.size()) throw wrong("answers of the past");
  scale_inputs(memory.scaling);
  const CategoryAnswers& answers = data.crowd.answers;
  auto set = std::make_shared<TrainingSet>();
  set->worker_count = answers.worker_count();
  set->class_count = answers.class_count();
  set->inputs = inputs_.get();
  set->offset.push_back(0);
  for (const CategoryAnswer& answer : memory.past) {
    if (index(answer.task) >= answers.task_count() || index(answer.worker) >= answers.worker_count() ||
        index(answer.label) >= answers.class_count()) {
      throw wrong("an answer of the past names a task, a worker or a class that is not there");
    }
    if (set->task.empty() || set->task.back() != answer.task) {
      const std::uint32_t row = data.row_of_task[index(answer.task)];
      if (row == kNoRow) throw wrong("a task of the past has no features any more");
      set->task.push_back(answer.task);
      set->row.push_back(row);
      set->gold.push_back(kNoClass);
      set->offset.push_back(set->offset.back());
    }
    set->worker.push_back(answer.worker);
    set->label.push_back(answer.label);
    set->answer.push_back(0);
    ++set->offset.back();
  }
  past_ = learned_from_ = set;
  reliability_ = make_reliability(options_, *set, context.rng("dalc session"), context);
  if (memory.own_offset.size() != answers.worker_count() + 1 || memory.own_offset.back() != memory.own.size()) {
    throw wrong("reliabilities of workers");
  }
  reliability_->restore({memory.shared, memory.own_offset, memory.own, memory.own_columns});
  network_ = make_network(spec_, *inputs_, answers.class_count(), 0, context);
  network_->work_with(context.pool());
  if (memory.weights.size() != network_->parameters().size() || memory.buffers.size() != network_->buffers().size()) {
    throw wrong("the network has other sizes");
  }
  std::copy(memory.weights.begin(), memory.weights.end(), network_->parameters().begin());
  network_->set_buffers(memory.buffers);
}

DalcMemory Session::memory() {
  DalcMemory memory;
  memory.trained = trained_;
  const auto weights = network_->parameters();
  memory.weights.assign(weights.begin(), weights.end());
  memory.buffers = network_->buffers();
  memory.scaling = scaling_;
  for (std::size_t i = 0; i < past_->task_count(); ++i) {
    for (std::uint32_t a = past_->offset[i]; a < past_->offset[i + 1]; ++a) {
      memory.past.push_back({past_->task[i], past_->worker[a], past_->label[a]});
    }
  }
  memory.past_right = past_right_;
  ReliabilityNumbers numbers = reliability_->numbers();
  memory.shared = std::move(numbers.shared);
  memory.own_offset = std::move(numbers.offset);
  memory.own = std::move(numbers.own);
  memory.own_columns = std::move(numbers.columns);
  return memory;
}

Session::Session(const Session& other)
    : data_(other.data_),
      context_(other.context_),
      options_(other.options_),
      spec_(other.spec_),
      scaling_(other.scaling_),
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
  const NameTable& names = data_->crowd.answers.worker_names();
  for (const CategoryAnswer& answer : answers) {
    auto& said = answers_[index(answer.task)];
    const auto place =
        std::upper_bound(said.begin(), said.end(), names[index(answer.worker)],
                         [&](auto name, const Said& other) { return name < names[index(other.worker)]; });
    said.insert(place, {answer.worker, answer.label});
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
    set.gold.push_back(data_->crowd.gold_of(TaskId(t)));
    for (const Said& said : answers_[t]) {
      set.worker.push_back(said.worker);
      set.label.push_back(said.label);
      set.answer.push_back(0);
    }
    set.offset.push_back(static_cast<std::uint32_t>(set.worker.size()));
  }
  return in_order(set, *data_);
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
        if (p > 0) result.draw_entropy[i] -= share * p * math::log(p);
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
    for (double& p : row) p = math::log(std::max(p, kProbabilityFloor));
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
                                               std::string_view stream, const RunContext& context,
                                               std::span<const std::uint32_t> known_rows) {
  return std::make_unique<dalc::Session>(data, past, dalc::options_from(parameters), network, stream, known_rows,
                                         context);
}

std::unique_ptr<DalcSession> resume_dalc_session(const LearningData& data, const DalcMemory& memory,
                                                 const Parameters& parameters, const NetworkSpec& network,
                                                 const RunContext& context) {
  return std::make_unique<dalc::Session>(data, memory, dalc::options_from(parameters), network, context);
}

}  // namespace wisecrowd
