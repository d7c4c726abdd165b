#include "select/shared/pair_rule.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::selecting {
namespace {

/// Those that can be chosen; reliability and drawn_information belong to selectors of their own.
constexpr auto kWorkerRuleNames = enum_names<WorkerRule>({{WorkerRule::random, "random"},
                                                          {WorkerRule::accuracy, "accuracy"},
                                                          {WorkerRule::information, "information"},
                                                          {WorkerRule::thompson, "thompson"},
                                                          {WorkerRule::ucb, "ucb"},
                                                          {WorkerRule::epsilon_greedy, "epsilon_greedy"},
                                                          {WorkerRule::kube, "kube"}});

std::uint64_t mixed(std::uint64_t x) noexcept {
  x ^= x >> 30U;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27U;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// sqrt(2 ln t / n); infinite for a worker who has not answered.
double optimism(double answers_in_all, double answers) {
  if (answers == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(2 * math::log(std::max(answers_in_all, 1.0)) / answers);
}

/// Rules by which pairs of different tasks can be compared.
bool joint(WorkerRule rule) noexcept {
  return rule == WorkerRule::information || rule == WorkerRule::drawn_information;
}

}  // namespace

PairRule::PairRule(const CrowdView& crowd, const SelectionRequest& request, const WorkerRuleOptions& options,
                   const RunContext& context, std::vector<double> indirect)
    : crowd_(crowd),
      request_(request),
      options_(options),
      key_(context.rng("select: lots", request.round).next()),
      means_(InformationTables::means(crowd, context)),
      indirect_(std::move(indirect)) {
  double answers = 0;
  for (const std::uint32_t count : crowd.worker_answers) answers += count;
  if (options.rule == WorkerRule::thompson || options.rule == WorkerRule::drawn_information) {
    drawn_ = InformationTables::drawn(crowd, request.round, context);
  }
  if (options.rule == WorkerRule::epsilon_greedy || joint(options.rule)) {
    epsilon_ = answers <= static_cast<double>(options.epsilon_until) ? options.epsilon : options.epsilon_later;
  }
  if (options.rule != WorkerRule::ucb && options.rule != WorkerRule::kube) return;
  // How often each class is the truth, for an accuracy that is the same on all tasks.
  std::vector<double> shares(crowd.class_count, 0);
  for (std::size_t i = 0; i < crowd.task_count(); ++i) {
    for (std::size_t k = 0; k < crowd.class_count; ++k) shares[k] += crowd.posterior_of(TaskId(i))[k];
  }
  normalise(shares);
  bonus_.resize(crowd.worker_count());
  for (std::size_t j = 0; j < bonus_.size(); ++j) {
    bonus_[j] = optimism(answers, crowd.worker_answers[j]);
    if (options.rule == WorkerRule::kube)
      bonus_[j] = (means_.accuracy(shares, WorkerId(j)) + bonus_[j]) / cost(WorkerId(j));
  }
}

double PairRule::value(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept {
  if (options_.rule == WorkerRule::random || request_.offers.empty()) return value_of_answer(task, posterior, worker);
  return response(worker) * value_of_answer(task, posterior, worker);
}

double PairRule::value_of_answer(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept {
  switch (options_.rule) {
    case WorkerRule::random: return tie_break(task, worker);
    case WorkerRule::accuracy:
    case WorkerRule::epsilon_greedy: return means_.accuracy(posterior, worker);
    case WorkerRule::information:
      return (means_.information(posterior, worker) + indirect(posterior, worker)) / cost(worker);
    case WorkerRule::thompson: return drawn_->accuracy(posterior, worker);
    case WorkerRule::ucb: return means_.accuracy(posterior, worker) + bonus_[index(worker)];
    case WorkerRule::kube: return bonus_[index(worker)];
    case WorkerRule::drawn_information:
      return (drawn_->information(posterior, worker) + indirect(posterior, worker)) / cost(worker);
    case WorkerRule::reliability: return crowd_.reliability(task, worker);
  }
  return 0;
}

double PairRule::gain(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept {
  return response(worker) * gain_of_answer(task, posterior, worker);
}

double PairRule::gain_of_answer(TaskId task, std::span<const double> posterior, WorkerId worker) const noexcept {
  if (options_.rule != WorkerRule::reliability) {
    return means_.information(posterior, worker) + indirect(posterior, worker);
  }
  // Right with probability eta, else any other class alike.
  const double eta = value_of_answer(task, posterior, worker);
  const double wrong = (1 - eta) / static_cast<double>(std::max<std::size_t>(crowd_.class_count, 2) - 1);
  const auto part = [](double p) { return p > 0 ? p * math::log(p) : 0; };
  double gain = part(eta) + static_cast<double>(crowd_.class_count - 1) * part(wrong);
  for (const double q : posterior) gain -= part(q * eta + (1 - q) * wrong);
  return std::max(gain, 0.0);
}

double PairRule::indirect(std::span<const double> posterior, WorkerId worker) const noexcept {
  if (indirect_.empty()) return 0;
  double sum = 0;
  for (std::size_t k = 0; k < posterior.size(); ++k)
    sum += posterior[k] * indirect_[index(worker) * posterior.size() + k];
  return sum;
}

double PairRule::answer_probability(TaskId task, WorkerId worker, ClassId truth, ClassId label) const noexcept {
  if (options_.rule != WorkerRule::reliability)
    return means_.table(worker)[index(truth) * crowd_.class_count + index(label)];
  const double eta = value_of_answer(task, {}, worker);
  return truth == label ? eta : (1 - eta) / static_cast<double>(crowd_.class_count - 1);
}

bool PairRule::at_random(TaskId task, std::size_t turn) const noexcept {
  if (options_.rule == WorkerRule::random) return true;
  return epsilon_ > 0 && tie_break(index(task), ~turn) < epsilon_;
}

double PairRule::tie_break(std::uint64_t a, std::uint64_t b) const noexcept {
  const std::uint64_t bits = mixed(mixed(key_ + a * 0x9E3779B97F4A7C15ULL) + b * 0xD1B54A32D192ED03ULL);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

void epsilon_parameters(ParameterVisitor& v, WorkerRuleOptions& o) {
  v.real("epsilon", o.epsilon, 0, 1, "how often a random worker is asked instead, at first");
  v.real("epsilon_later", o.epsilon_later, 0, 1, "and later");
  v.integer("epsilon_until", o.epsilon_until, 0, 1e15, "later begins after so many answers in all");
}

void worker_rule_parameters(ParameterVisitor& v, WorkerRuleOptions& o) {
  v.choice(
      "worker", o.rule, kWorkerRuleNames,
      "whom to ask on a chosen task: random, anyone; accuracy, who is most likely right; information, whose answer "
      "tells most for its price; thompson, who is most likely right by tables drawn from what is known of them; "
      "ucb, accuracy with a bonus for the little known; epsilon_greedy, accuracy but now and then anyone (the "
      "epsilon parameters are for it); kube, accuracy and bonus for the price");
  epsilon_parameters(v, o);
}

WorkerRuleOptions worker_rule(WorkerRuleOptions options) {
  if (options.rule != WorkerRule::epsilon_greedy) options.epsilon = options.epsilon_later = 0;
  return options;
}

}  // namespace wisecrowd::selecting
