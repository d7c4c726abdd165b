#include "wisecrowd/tempering.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "aggregate/categories/shared/vote_rows.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd {
namespace {

/// Temperings that are tried on hidden answers; the model's own power is one more.
constexpr std::array kPowers = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3};
constexpr std::size_t kUntempered = 8;  // kPowers[8] is 1
constexpr std::array kShares = {0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
constexpr std::size_t kRows = kPowers.size() + 1;

constexpr std::size_t kFolds = 3;
constexpr double kHiddenShare = 0.2;
/// No model is quite right: so much of every probability are votes, whatever hidden answers say.
constexpr double kLeastShare = 0.01;
/// The logarithm of the model's own power is near 0: a normal prior with this deviation, for crowds that are too small
/// or too clear to show it.
constexpr double kPowerDeviation = 0.25;
constexpr double kLeastPower = 0.2, kMostPower = 1.6;
/// Half the 95 % quantile of χ² with two degrees of freedom.
constexpr double kPlausible = 2.996;
/// What temper notes in CategoryFit::learned, by which it can be undone.
constexpr const char* kPowerName = "tempering_power";
constexpr const char* kShareName = "vote_share";
constexpr const char* kWeightedName = "votes_are_weighted";
constexpr double kRounding = 1e-14;
/// Probabilities that differ by less are equal (as in hard_labels); by how much a label leads where votes would have it
/// otherwise: more than what is lost when probabilities are written to a file.
constexpr double kTie = 1e-9, kLead = 1e-4;
/// Hidden answers whose mean log-probability moves by less than this between model and votes cannot tell them apart.
constexpr double kTellsNothing = 1e-3;
constexpr std::size_t kTasksPerBlock = 4096;
constexpr std::size_t kAnswersPerLogarithm = 16;  // their product stays far above the smallest double
constexpr std::size_t kMostTasksLookedAt = 50'000;

CategoryAnswerNames blank_names(std::size_t tasks, std::size_t workers, const NameTable& classes) {
  const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
  return {blank(tasks), blank(workers), classes};
}

double safe_log(double p) { return math::log(std::max(p, kProbabilityFloor * kProbabilityFloor)); }

/// q^power / Σ q^power from ln q.
void raise(std::span<const double> logs, double power, std::span<double> out) {
  for (std::size_t k = 0; k < logs.size(); ++k) out[k] = power * logs[k];
  softmax(out);
}

bool is_gold(const CategoryData& data, std::size_t task) { return data.has_gold() && data.gold[task] != kNoClass; }

/// Who counts as one voice in the fit; empty if everybody is on its own.
std::span<const std::uint32_t> voices_of(const CategoryFit& fit) {
  if (fit.dependence && fit.dependence->counted_once) return fit.dependence->voices;
  return {};
}

/// The same workers answer the same tasks as the fitted model says; its truth is drawn, too.
CategoryData draw_crowd(const CategoryData& data, const CategoryFit& fit, std::vector<std::uint32_t>& truth,
                        const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t classes = answers.class_count();
  Rng rng = context.rng("crowd of the fitted model");
  std::vector<CategoryAnswer> drawn;
  drawn.reserve(answers.answer_count());
  truth.resize(answers.task_count());
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    truth[t] = static_cast<std::uint32_t>(rng.categorical(fit.posterior_of(TaskId{t})));
    for (const WorkerId w : answers.workers_of(TaskId{t})) {
      const auto row = fit.confusion_of(w).subspan(truth[t] * classes, classes);
      drawn.push_back({TaskId{t}, w, ClassId(static_cast<std::uint16_t>(rng.categorical(row)))});
    }
  }
  CategoryData crowd{
      make_category_answers(drawn, blank_names(answers.task_count(), answers.worker_count(), answers.class_names()),
                            DuplicatePolicy::repeat),
      data.gold, data.task_priors, data.trusted, data.worker_groups};
  return crowd;
}

/// The power under which the posterior gives the known truth the highest probability.
double best_power(const CategoryData& crowd, const CategoryFit& fit, std::span<const std::uint32_t> truth) {
  const std::size_t classes = fit.class_count;
  const auto offsets = crowd.answers.task_offsets();
  std::vector<std::size_t> tasks;
  std::vector<double> logs;
  const std::size_t step = truth.size() / kMostTasksLookedAt + 1;
  for (std::size_t t = 0; t < truth.size(); t += step) {
    if (offsets[t] == offsets[t + 1] || is_gold(crowd, t)) continue;
    tasks.push_back(t);
    for (std::size_t k = 0; k < classes; ++k) logs.push_back(safe_log(fit.posterior[t * classes + k]));
  }
  std::vector<double> p(classes);
  const auto score = [&](double log_power) {
    const double power = math::exp(log_power), off = log_power / kPowerDeviation;
    double sum = -off * off / 2;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      raise(std::span(logs).subspan(i * classes, classes), power, p);
      sum += math::log(std::max(p[truth[tasks[i]]], kProbabilityFloor));
    }
    return sum;
  };
  // Golden section: the score has one hill, but for the floor.
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = math::log(kLeastPower), high = math::log(kMostPower);
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double at_left = score(left), at_right = score(right);
  while (high - low > 0.02) {
    if (at_left > at_right) {
      high = right, right = left, at_right = at_left;
      left = high - golden * (high - low), at_left = score(left);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + golden * (high - low), at_right = score(right);
    }
  }
  return math::exp((low + high) / 2);
}

/// The nearest row in which no class is more probable than the label: those above it share with it.
void favour(std::size_t label, std::span<double> row) {
  std::vector<bool> shares(row.size(), false);
  double sum = row[label];
  std::size_t count = 1;
  for (;;) {
    const double level = sum / static_cast<double>(count);
    std::size_t above = row.size();
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k == label || shares[k] || row[k] <= level + kTie) continue;
      if (above == row.size() || row[k] > row[above]) above = k;
    }
    if (above == row.size()) break;
    shares[above] = true;
    sum += row[above];
    ++count;
  }
  if (count == 1) return;
  const double level = sum / static_cast<double>(count), lead = std::min(kLead, level / 2);
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (shares[k]) row[k] = level - lead / static_cast<double>(count - 1);
  }
  row[label] = level + lead;
}

/// Every tempered row: not those of gold and of tasks without answers.
void apply(const CategoryData& data, const Tempering& tempering, CategoryFit& fit, const RunContext& context) {
  const std::size_t classes = fit.class_count;
  const auto offsets = data.answers.task_offsets();
  const VoteRows vote_rows(data, voices_of(fit), tempering.weighted);
  const Blocks blocks{fit.task_count, kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> votes(classes), logs(classes), raised(classes);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      if (offsets[t] == offsets[t + 1] || is_gold(data, t)) continue;
      const auto row = std::span(fit.posterior).subspan(t * classes, classes);
      vote_rows.row(t, votes);
      if (tempering.power != 1) {
        for (std::size_t k = 0; k < classes; ++k) logs[k] = safe_log(row[k]);
        raise(logs, tempering.power, raised);
        std::copy(raised.begin(), raised.end(), row.begin());
      }
      for (std::size_t k = 0; k < classes; ++k) {
        row[k] = (1 - tempering.vote_share) * row[k] + tempering.vote_share * votes[k];
      }
      favour(index(fit.labels[t]), row);
    }
  });
}

/// How the mean probability of the labels depends on the tempering, on some of the tasks. Made before the posterior is
/// tempered.
class LabelProbability {
 public:
  LabelProbability(const CategoryData& data, const CategoryFit& model, bool weighted) : classes_(model.class_count) {
    const VoteRows vote_rows(data, voices_of(model), weighted);
    const auto offsets = data.answers.task_offsets();
    const std::size_t step = model.task_count / kMostTasksLookedAt + 1;
    for (std::size_t t = 0; t < model.task_count; t += step) {
      if (offsets[t] == offsets[t + 1] || is_gold(data, t)) continue;
      tasks_.push_back(t);
      votes_.resize(tasks_.size() * classes_);
      vote_rows.row(t, std::span(votes_).last(classes_));
      for (std::size_t k = 0; k < classes_; ++k) logs_.push_back(safe_log(model.posterior[t * classes_ + k]));
    }
  }

  [[nodiscard]] double mean(const Tempering& tempering, std::span<const ClassId> labels) {
    if (tasks_.empty()) return 0;
    if (tempering.power != power_) {
      power_ = tempering.power;
      std::vector<double> p(classes_);
      by_model_ = by_votes_ = 0;
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        raise(std::span(logs_).subspan(i * classes_, classes_), power_, p);
        const std::size_t label = index(labels[tasks_[i]]);
        by_model_ += p[label];
        by_votes_ += votes_[i * classes_ + label];
      }
    }
    return ((1 - tempering.vote_share) * by_model_ + tempering.vote_share * by_votes_) /
           static_cast<double>(tasks_.size());
  }

 private:
  std::size_t classes_;
  std::vector<std::size_t> tasks_;
  std::vector<double> logs_, votes_;
  double power_ = 0, by_model_ = 0, by_votes_ = 0;  // of the last power that was asked for
};

}  // namespace

TemperingSearch::TemperingSearch(const CategoryData& data, const CategoryFit& fit, const CategoryAggregator& method,
                                 const RunContext& context)
    : tasks_(data.answers.task_count()), totals_(kRows * kShares.size(), 0.0) {
  std::vector<std::uint32_t> truth;
  const CategoryData crowd = draw_crowd(data, fit, truth, context);
  own_power_ = best_power(crowd, method.fit(crowd, context), truth);
  // What the algorithm is too sure of shrinks as a worker's answers grow, and a fold leaves fewer.
  visible_power_ = math::pow(own_power_, 1 / (1 - kHiddenShare));
}

void TemperingSearch::add_fold(const CategoryData& visible, const CategoryFit& fit,
                               std::span<const CategoryAnswer> hidden, const RunContext& context) {
  const std::size_t classes = fit.class_count;
  const VoteRows vote_rows(visible, voices_of(fit), false);
  const Blocks blocks{hidden.size(), kTasksPerBlock};
  std::vector<double> parts(blocks.count() * totals_.size(), 0.0);
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    const std::span part = std::span(parts).subspan(block * totals_.size(), totals_.size());
    std::vector<double> votes(classes), logs(classes), raised(classes);
    std::vector<double> product(part.size(), 1.0);  // of a few answers: one logarithm for all of them
    const auto take_logs = [&] {
      for (std::size_t i = 0; i < part.size(); ++i) part[i] += math::log(std::exchange(product[i], 1.0));
    };
    for (std::size_t h = blocks.begin(block); h < blocks.end(block); ++h) {
      const CategoryAnswer& answer = hidden[h];
      const double* const said = fit.confusion.data() + index(answer.worker) * classes * classes + index(answer.label);
      vote_rows.row(index(answer.task), votes);
      double by_votes = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        by_votes += votes[k] * said[k * classes];
        logs[k] = safe_log(fit.posterior[index(answer.task) * classes + k]);
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        raise(logs, r < kPowers.size() ? kPowers[r] : visible_power_, raised);
        double by_model = 0;
        for (std::size_t k = 0; k < classes; ++k) by_model += raised[k] * said[k * classes];
        for (std::size_t s = 0; s < kShares.size(); ++s) {
          const double p = (1 - kShares[s]) * by_model + kShares[s] * by_votes;
          product[r * kShares.size() + s] *= std::max(p, kProbabilityFloor);
        }
      }
      if (h % kAnswersPerLogarithm == 0) take_logs();
    }
    take_logs();
  });
  for (std::size_t i = 0; i < parts.size(); ++i) totals_[i % totals_.size()] += parts[i];
  hidden_ += hidden.size();
}

TemperingFit TemperingSearch::conclude() const {
  TemperingFit found;
  if (hidden_ == 0) return found;
  const auto row = [&](std::size_t r) { return std::span(totals_).subspan(r * kShares.size(), kShares.size()); };
  const auto own = row(kPowers.size());
  const auto [least, most] = std::minmax_element(own.begin(), own.end());
  if (*most - *least < kTellsNothing * static_cast<double>(hidden_)) {
    // The tables say the same of every truth, so the model has nothing to say for itself: the votes decide.
    found.misfit = 1;
    found.chosen = {1, std::sqrt(kShares.back())};
    found.plausible = {{1, kShares.back()}, {1, 1}};
    return found;
  }
  const double best = *std::max_element(totals_.begin(), totals_.end());
  found.gain = best - own[0];
  // Two numbers more must pay for themselves (BIC); from twice that price on the doubt is complete.
  const double price = math::log(static_cast<double>(std::max<std::size_t>(tasks_, 2)));
  found.misfit = std::clamp(found.gain / price - 1, 0.0, 1.0);
  const auto untempered = row(kUntempered);
  const double asked =
      kShares[static_cast<std::size_t>(std::max_element(untempered.begin(), untempered.end()) - untempered.begin())];
  // A hidden answer shares the errors of those that are seen, so it asks for less than the truth would: the root.
  found.chosen = {math::pow(own_power_, 1 - found.misfit), std::max(kLeastShare, found.misfit * std::sqrt(asked))};
  for (std::size_t r = 0; r < kRows; ++r) {
    const double power = math::pow(r < kPowers.size() ? kPowers[r] : visible_power_, 1 - kHiddenShare);
    for (std::size_t s = 0; s < kShares.size(); ++s) {
      if (totals_[r * kShares.size() + s] < best - kPlausible) continue;
      found.plausible.push_back({power, kShares[s]});
      found.plausible.push_back({power, kShares[s] + found.misfit * (std::sqrt(kShares[s]) - kShares[s])});
    }
  }
  return found;
}

TemperingFit fit_tempering(const CategoryData& data, const CategoryFit& fit, std::string_view method,
                           const Parameters& parameters, std::size_t most_answers, const RunContext& context) {
  if (fit.class_count < 2 || data.answers.answer_count() == 0) return {};
  const TaskSample sample = sample_of_tasks(data, most_answers, context);
  const HeldOut held_out(sample.data, {.folds = kFolds, .share = kHiddenShare}, context);
  if (held_out.hidden_count() == 0) return {};
  const auto aggregator = make_aggregator(method, parameters);
  TemperingSearch search(sample.data, rows_of(sample, fit), *aggregator, context);
  for (std::size_t f = 0; f < held_out.folds() && !context.cancelled(); ++f) {
    search.add_fold(held_out.visible(f), aggregator->fit(held_out.visible(f), context), held_out.hidden(f), context);
  }
  return search.conclude();
}

Estimate temper(const CategoryData& data, const TemperingFit& tempering, CategoryFit& fit, const RunContext& context) {
  LabelProbability probability(data, fit, tempering.chosen.weighted);
  apply(data, tempering.chosen, fit, context);
  pin_gold(data, fit.posterior);

  double right = 0, variance = 0;
  std::size_t tempered = 0;
  const auto offsets = data.answers.task_offsets();
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const double p = fit.posterior[t * fit.class_count + index(fit.labels[t])];
    right += p;
    variance += p * (1 - p);
    tempered += offsets[t] == offsets[t + 1] || is_gold(data, t) ? 0 : 1;
  }
  const auto tasks = static_cast<double>(std::max<std::size_t>(fit.task_count, 1));
  const double now = probability.mean(tempering.chosen, fit.labels);
  double fewer = 0, more = 0;
  for (const Tempering& other : tempering.plausible) {
    const double off = (probability.mean(other, fit.labels) - now) * static_cast<double>(tempered) / tasks;
    fewer = std::max(fewer, -off);
    more = std::max(more, off);
  }
  more += tempering.may_be_surer;
  const double chance = kNormal95 * std::sqrt(std::max(variance, 0.0)) / tasks;
  Estimate expected;
  expected.value = right / tasks;
  expected.low = std::max(0.0, expected.value - math::hypot(fewer, chance));
  expected.high = std::min(1.0, expected.value + math::hypot(more, chance));
  fit.learned.emplace_back(kPowerName, tempering.chosen.power);
  fit.learned.emplace_back(kShareName, tempering.chosen.vote_share);
  fit.learned.emplace_back(kWeightedName, tempering.chosen.weighted ? 1 : 0);
  fit.learned.emplace_back("expected_right", expected.value);
  fit.learned.emplace_back("expected_right_low", expected.low);
  fit.learned.emplace_back("expected_right_high", expected.high);
  return expected;
}

ModelPosterior::ModelPosterior(const CategoryData& data, const CategoryFit& fit) : data_(data), fit_(fit) {
  bool noted = false;
  for (const auto& [name, value] : fit.learned) {
    if (name == kPowerName) {
      tempering_.power = value;
      noted = true;
    }
    if (name == kShareName) tempering_.vote_share = value;
    if (name == kWeightedName) tempering_.weighted = value != 0;
  }
  if (noted && (tempering_.power != 1 || tempering_.vote_share != 0)) {
    votes_ = std::make_shared<const VoteRows>(data, voices_of(fit), tempering_.weighted);
  }
}

void ModelPosterior::row(std::size_t task, std::span<double> out) const {
  const std::size_t classes = fit_.class_count;
  const auto tempered = fit_.posterior_of(TaskId(task));
  std::copy(tempered.begin(), tempered.end(), out.begin());
  // Gold that the fit knew is certain; a tempered row never is.
  const bool certain = std::find(tempered.begin(), tempered.end(), 1.0) != tempered.end();
  if (!votes_ || certain || data_.answers.labels_of(TaskId(task)).empty()) return;
  std::vector<double> votes(classes);
  votes_->row(task, votes);
  for (std::size_t k = 0; k < classes; ++k) {
    // Rounding leaves about 1e-16 of a class that the model excludes.
    const double q = (tempered[k] - tempering_.vote_share * votes[k]) / (1 - tempering_.vote_share);
    out[k] = safe_log(q < kRounding ? 0 : q) / tempering_.power;
  }
  softmax(out);
}

TaskSample sample_of_tasks(const CategoryData& data, std::size_t most_answers, const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  if (answers.answer_count() <= most_answers) return {data, {}};
  const double share = static_cast<double>(most_answers) / static_cast<double>(answers.answer_count());
  Rng rng = context.rng("tasks of the test");
  std::vector<CategoryAnswer> kept;
  TaskSample sample;
  std::vector<bool> seen(answers.worker_count(), false);
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    if (!rng.bernoulli(share)) continue;
    const TaskId id{static_cast<std::uint32_t>(sample.tasks.size())};
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      kept.push_back({id, workers[a], labels[a]});
      seen[index(workers[a])] = true;
    }
    if (data.has_gold()) sample.data.gold.push_back(data.gold[t]);
    if (!data.task_priors.empty()) {
      const auto row = data.task_priors.begin() + static_cast<std::ptrdiff_t>(t * answers.class_count());
      sample.data.task_priors.insert(sample.data.task_priors.end(), row,
                                     row + static_cast<std::ptrdiff_t>(answers.class_count()));
    }
    sample.tasks.push_back(t);
  }
  std::vector<std::uint32_t> place(answers.worker_count(), 0);
  for (std::uint32_t w = 0; w < answers.worker_count(); ++w) {
    if (!seen[w]) continue;
    place[w] = static_cast<std::uint32_t>(sample.workers.size());
    sample.workers.push_back(w);
  }
  for (CategoryAnswer& answer : kept) answer.worker = WorkerId{place[index(answer.worker)]};
  for (const std::uint32_t w : sample.workers) {
    if (!data.worker_groups.empty()) sample.data.worker_groups.push_back(data.worker_groups[w]);
  }
  for (const WorkerId w : data.trusted) {
    if (seen[index(w)]) sample.data.trusted.push_back(WorkerId{place[index(w)]});
  }
  sample.data.answers = make_category_answers(
      kept, blank_names(sample.tasks.size(), sample.workers.size(), answers.class_names()), DuplicatePolicy::repeat);
  return sample;
}

CategoryFit rows_of(const TaskSample& sample, const CategoryFit& fit) {
  const std::size_t classes = fit.class_count;
  CategoryFit part;
  part.task_count = sample.data.answers.task_count();
  part.worker_count = sample.data.answers.worker_count();
  part.class_count = classes;
  if (sample.tasks.empty()) {
    part.posterior = fit.posterior;
    part.confusion = fit.confusion;
    return part;
  }
  part.posterior.reserve(part.task_count * classes);
  for (const std::uint32_t t : sample.tasks) {
    const auto row = fit.posterior_of(TaskId{t});
    part.posterior.insert(part.posterior.end(), row.begin(), row.end());
  }
  part.confusion.reserve(part.worker_count * classes * classes);
  for (const std::uint32_t w : sample.workers) {
    const auto table = fit.confusion_of(WorkerId{w});
    part.confusion.insert(part.confusion.end(), table.begin(), table.end());
  }
  return part;
}

}  // namespace wisecrowd
