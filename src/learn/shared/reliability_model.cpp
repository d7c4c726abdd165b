#include "learn/shared/reliability_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

ReliabilityNumbers Reliability::numbers() const {
  throw Error(ErrorCode::unsupported, "this kind of reliability cannot be kept: use the learner dalc");
}

void Reliability::restore(const ReliabilityNumbers&) { static_cast<void>(numbers()); }

namespace {

/// How many tasks expertise is the mean over, depending on how many workers there are.
constexpr std::size_t kExpertiseAnswers = 5'000'000, kFewRows = 20, kManyRows = 500;

/// log of the share of each wrong class.
double log_share(std::size_t classes) { return -math::log(static_cast<double>(std::max<std::size_t>(classes, 2) - 1)); }

}  // namespace

ReliabilityModel::ReliabilityModel(const TrainingSet& set, std::unique_ptr<Reliability> reliability, Options options)
    : SoftLabelModel(set), reliability_(std::move(reliability)), options_(options) {}

ReliabilityModel::ReliabilityModel(const ReliabilityModel& other)
    : SoftLabelModel(other),
      reliability_(other.reliability_->clone()),
      options_(other.options_),
      identical_draws_(other.identical_draws_) {}

std::vector<double> ReliabilityModel::opinion(const Epoch& epoch) {
  if (options_.samples <= 1) return network_probabilities(epoch);
  std::vector<double> mean(set().task_count() * classes(), 0.0), draw(mean.size()), first;
  identical_draws_ = true;
  for (std::size_t s = 0; s < options_.samples; ++s) {
    epoch.sample(draw);
    if (s == 0) first = draw;
    identical_draws_ = identical_draws_ && draw == first;
    for (std::size_t i = 0; i < set().task_count(); ++i) softmax(std::span(draw).subspan(i * classes(), classes()));
    for (std::size_t cell = 0; cell < mean.size(); ++cell) {
      mean[cell] += draw[cell] / static_cast<double>(options_.samples);
    }
  }
  return mean;
}

void add_reliable_answer(double log_odds, ClassId label, std::span<double> log_probabilities) {
  const double wrong = log_sigmoid(-log_odds) + log_share(log_probabilities.size()), right = log_sigmoid(log_odds);
  for (std::size_t k = 0; k < log_probabilities.size(); ++k) log_probabilities[k] += k == index(label) ? right : wrong;
}

void ReliabilityModel::Evidence::add(const TaskAnswers& answers, std::span<double> log_probabilities) const {
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    add_reliable_answer(reliability.log_odds(answers.workers[a], answers.row), answers.labels[a], log_probabilities);
  }
}

void ReliabilityModel::begin_epoch(const Epoch& epoch) {
  if (epoch.number % options_.epochs_per_labelling != 0) return;
  // The first reliabilities come from the vote, unless they are known; from then on labels are inferred with them.
  if (epoch.number > 0 || options_.known) {
    std::vector<double> prior;
    if (epoch.number >= options_.warm_up) prior = opinion(epoch);
    for (std::size_t i = 0; i < set().task_count(); ++i) {
      const auto row = std::span(labels_).subspan(i * classes(), classes());
      for (std::size_t k = 0; k < classes(); ++k) {
        row[k] = math::log(std::max(prior.empty() ? class_prior_[k] : prior[i * classes() + k], kProbabilityFloor));
      }
      add_answers({set().workers_of(i), set().labels_of(i), set().task[i], set().row[i]}, row);
      softmax(row);
    }
    pin_gold();
    std::fill(class_prior_.begin(), class_prior_.end(), 0.0);
    for (std::size_t cell = 0; cell < labels_.size(); ++cell) class_prior_[cell % classes()] += labels_[cell];
    normalise(class_prior_);
  }
  std::vector<double> right(set().answer_count());
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    for (std::uint32_t a = set().offset[i]; a < set().offset[i + 1]; ++a) {
      right[a] = labels_[i * classes() + index(set().label[a])];
    }
  }
  reliability_->fit(set(), right);
}

void ReliabilityModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                                 std::span<double> probabilities) const {
  for (std::size_t k = 0; k < classes(); ++k) {
    probabilities[k] = outputs.empty() ? math::log(std::max(class_prior_[k], kProbabilityFloor)) : outputs[k];
  }
  add_answers(answers, probabilities);
  softmax(probabilities);
}

double ReliabilityModel::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  return answer_probability_at(kNoRow, outputs, worker, label);
}

double ReliabilityModel::answer_probability_at(std::uint32_t row, std::span<const double> outputs, WorkerId worker,
                                               ClassId label) const {
  std::vector<double> f(outputs.size());
  classify(outputs, f);
  const double eta = sigmoid(reliability_->log_odds(worker, row));
  return f[index(label)] * eta + (1 - f[index(label)]) * (1 - eta) * math::exp(log_share(classes()));
}

void ReliabilityModel::remember(AnswerMemory& memory) const {
  reliability_->remember(memory.skill);
  if (memory.skill.basis == RowSkill::Basis::none) SoftLabelModel::AnswerModel::remember(memory);
}

void ReliabilityModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask&) const {
  if (identical_draws_) {
    learned.crowd.warnings.push_back(
        {"identical_draws",
         "all draws of MC-dropout were the same, so they say nothing of how sure the network is: it drops nothing",
         "put dropout into the TorchScript module, or set samples=1."});
  }
  const CategoryAnswers& answers = data.crowd.answers;
  const std::size_t workers = answers.worker_count();
  learned.answer_reliability.resize(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (auto a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      const WorkerId worker = answers.workers()[a];
      learned.answer_reliability[a] = static_cast<float>(sigmoid(reliability_->log_odds(worker, data.row_of_task[t])));
    }
  }
  // Expertise: the mean reliability over the same tasks for every worker, so that those who chose easy ones gain
  // nothing. As a table, a worker who errs evenly.
  const std::size_t wanted = std::clamp(kExpertiseAnswers / std::max<std::size_t>(workers, 1), kFewRows, kManyRows);
  const std::size_t rows = std::min(wanted, set().task_count());
  CategoryFit& crowd = learned.crowd;
  crowd.skill.resize(workers);
  crowd.confusion.assign(workers * classes() * classes(), 0.0);
  for (std::size_t j = 0; j < workers; ++j) {
    double sum = 0;
    for (std::size_t n = 0; n < rows; ++n) {
      sum += sigmoid(reliability_->log_odds(WorkerId(j), set().row[n * set().task_count() / rows]));
    }
    crowd.skill[j] = sum / static_cast<double>(rows);
    for (std::size_t k = 0; k < classes(); ++k) {
      for (std::size_t l = 0; l < classes(); ++l) {
        const double wrong = (1 - crowd.skill[j]) * math::exp(log_share(classes()));
        crowd.confusion[(j * classes() + k) * classes() + l] = k == l ? crowd.skill[j] : wrong;
      }
      normalise(std::span(crowd.confusion).subspan((j * classes() + k) * classes(), classes()));
    }
  }
}

}  // namespace wisecrowd
