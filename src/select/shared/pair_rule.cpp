#include "select/shared/pair_rule.hpp"

#include <algorithm>
#include <array>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::selecting {
namespace {

constexpr std::array kRuleNames = {"random", "accuracy", "information", "thompson", "ucb", "epsilon_greedy", "kube"};

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
  return std::sqrt(2 * std::log(std::max(answers_in_all, 1.0)) / answers);
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
      means_(WorkerTables::means(crowd, context)),
      indirect_(std::move(indirect)) {
  double answers = 0;
  for (const std::uint32_t count : crowd.worker_answers) answers += count;
  if (options.rule == WorkerRule::thompson || options.rule == WorkerRule::drawn_information) {
    drawn_ = WorkerTables::drawn(crowd, request.round, context);
  }
  if (options.rule == WorkerRule::epsilon_greedy || joint(options.rule)) {
    epsilon_ = answers <= static_cast<double>(options.epsilon_until) ? options.epsilon : options.epsilon_later;
  }
  if (options.rule != WorkerRule::ucb && options.rule != WorkerRule::kube) return;
  // How often each class is the truth, for an accuracy that is the same on all tasks.
  std::vector<double> shares(crowd.class_count, 0);
  for (std::size_t i = 0; i < crowd.task_count(); ++i) {
    for (std::size_t k = 0; k < crowd.class_count; ++k) shares[k] += crowd.posterior_of(i)[k];
  }
  normalise(shares);
  bonus_.resize(crowd.worker_count());
  for (std::size_t j = 0; j < bonus_.size(); ++j) {
    bonus_[j] = optimism(answers, crowd.worker_answers[j]);
    if (options.rule == WorkerRule::kube) bonus_[j] = (means_.accuracy(shares, j) + bonus_[j]) / cost(j);
  }
}

double PairRule::value(std::size_t task, std::span<const double> posterior, std::size_t worker) const noexcept {
  switch (options_.rule) {
    case WorkerRule::random: return tie_break(task, worker);
    case WorkerRule::accuracy:
    case WorkerRule::epsilon_greedy: return means_.accuracy(posterior, worker);
    case WorkerRule::information:
      return (means_.information(posterior, worker) + indirect(posterior, worker)) / cost(worker);
    case WorkerRule::thompson: return drawn_->accuracy(posterior, worker);
    case WorkerRule::ucb: return means_.accuracy(posterior, worker) + bonus_[worker];
    case WorkerRule::kube: return bonus_[worker];
    case WorkerRule::drawn_information:
      return (drawn_->information(posterior, worker) + indirect(posterior, worker)) / cost(worker);
    case WorkerRule::reliability:
      return crowd_.reliability(TaskId{static_cast<std::uint32_t>(task)}, WorkerId{static_cast<std::uint32_t>(worker)});
  }
  return 0;
}

double PairRule::gain(std::size_t task, std::span<const double> posterior, std::size_t worker) const noexcept {
  if (options_.rule != WorkerRule::reliability) {
    return means_.information(posterior, worker) + indirect(posterior, worker);
  }
  // Right with probability eta, else any other class alike.
  const double eta = value(task, posterior, worker);
  const double wrong = (1 - eta) / static_cast<double>(std::max<std::size_t>(crowd_.class_count, 2) - 1);
  const auto part = [](double p) { return p > 0 ? p * std::log(p) : 0; };
  double gain = part(eta) + static_cast<double>(crowd_.class_count - 1) * part(wrong);
  for (const double q : posterior) gain -= part(q * eta + (1 - q) * wrong);
  return std::max(gain, 0.0);
}

double PairRule::indirect(std::span<const double> posterior, std::size_t worker) const noexcept {
  if (indirect_.empty()) return 0;
  double sum = 0;
  for (std::size_t k = 0; k < posterior.size(); ++k) sum += posterior[k] * indirect_[worker * posterior.size() + k];
  return sum;
}

double PairRule::answer_probability(std::size_t task, std::size_t worker, std::size_t truth,
                                    std::size_t label) const noexcept {
  if (options_.rule != WorkerRule::reliability) return means_.table(worker)[truth * crowd_.class_count + label];
  const double eta = value(task, {}, worker);
  return truth == label ? eta : (1 - eta) / static_cast<double>(crowd_.class_count - 1);
}

bool PairRule::at_random(std::size_t task, std::size_t turn) const noexcept {
  if (options_.rule == WorkerRule::random) return true;
  return epsilon_ > 0 && tie_break(task, ~turn) < epsilon_;
}

double PairRule::tie_break(std::size_t task, std::size_t worker) const noexcept {
  const std::uint64_t bits = mixed(mixed(key_ + task * 0x9E3779B97F4A7C15ULL) + worker * 0xD1B54A32D192ED03ULL);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

std::vector<ParameterSpec> epsilon_parameters(const WorkerRuleOptions& usual) {
  return {
      ParameterSpec::real("epsilon", usual.epsilon, 0, 1, "how often a random worker is asked instead, at first"),
      ParameterSpec::real("epsilon_later", usual.epsilon_later, 0, 1, "and later"),
      ParameterSpec::integer("epsilon_until", static_cast<std::int64_t>(usual.epsilon_until), 0, 1e15,
                             "later begins after so many answers in all"),
  };
}

std::vector<ParameterSpec> worker_rule_parameters(const std::string& usual) {
  std::vector<ParameterSpec> specs = {ParameterSpec::choice(
      "worker", usual, {kRuleNames.begin(), kRuleNames.end()},
      "whom to ask on a chosen task: random, anyone; accuracy, who is most likely right; information, whose answer "
      "tells most for its price; thompson, who is most likely right by tables drawn from what is known of them; ucb, "
      "accuracy with a bonus for the little known; epsilon_greedy, accuracy but now and then anyone (the epsilon "
      "parameters are for it); kube, accuracy and bonus for the price")};
  for (ParameterSpec& spec : epsilon_parameters({})) specs.push_back(std::move(spec));
  return specs;
}

void read_epsilon(const Parameters& parameters, WorkerRuleOptions& options) {
  options.epsilon = parameters.real("epsilon");
  options.epsilon_later = parameters.real("epsilon_later");
  options.epsilon_until = static_cast<std::uint64_t>(parameters.integer("epsilon_until"));
}

WorkerRuleOptions worker_rule_from(const Parameters& parameters) {
  WorkerRuleOptions options;
  const auto at = std::find(kRuleNames.begin(), kRuleNames.end(), parameters.choice("worker"));
  options.rule = static_cast<WorkerRule>(at - kRuleNames.begin());
  read_epsilon(parameters, options);
  // The information rule as a worker rule never asks at random; the joint selector has a say of its own.
  if (options.rule != WorkerRule::epsilon_greedy) options.epsilon = options.epsilon_later = 0;
  return options;
}

}  // namespace wisecrowd::selecting
