#include "select/expected_information/expected_information.hpp"

#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "select/shared/picker.hpp"

namespace wisecrowd::expected_information_selector {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;

class ExpectedInformation final : public Selector {
 public:
  explicit ExpectedInformation(const Parameters& parameters)
      : limits_(selecting::limits_from(parameters)), temper_(parameters.real("temper")) {
    rule_.rule = parameters.choice("tables") == "drawn" ? selecting::WorkerRule::drawn_information
                                                        : selecting::WorkerRule::information;
    selecting::read_epsilon(parameters, rule_);
  }

  Selection choose(const CrowdView& crowd, const SelectionRequest& request, const RunContext& context) const override {
    const selecting::PairRule rule(crowd, request, rule_, context);
    std::vector<double> cooled;
    if (temper_ != 1) cooled = tempered(crowd.posterior, crowd.class_count, temper_, context);
    return selecting::pick(rule, cooled.empty() ? crowd.posterior : cooled, {selecting::TaskOrder::Kind::pairs, {}},
                           limits_, context);
  }

 private:
  selecting::WorkerRuleOptions rule_;
  selecting::PickLimits limits_;
  double temper_;
};

}  // namespace

std::vector<double> tempered(std::span<const double> posterior, std::size_t classes, double power,
                             const RunContext& context) {
  std::vector<double> out(posterior.begin(), posterior.end());
  const Blocks blocks{out.size() / classes, kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      const auto row = std::span(out).subspan(i * classes, classes);
      for (double& p : row) p = std::pow(p, power);
      normalise(row);
    }
  });
  return out;
}

SelectorInfo info() {
  SelectorInfo info;
  info.title = "Expected information";
  info.summary = "Chooses task and worker together: the pairs whose answer is expected to tell most for its price.";
  info.when_to_use = "The default. Open tasks go to the workers who tell most about just them, for their price.";
  info.reference = "D. V. Lindley, On a measure of the information provided by an experiment, 1956";
  info.parameters = {
      ParameterSpec::choice(
          "tables", "mean", {"mean", "drawn"},
          "what is taken for a worker's table: mean, the best guess, in which a worker who is little known "
          "counts as average; drawn, a draw from what is known of it, anew in every round (Thompson), "
          "which tries workers out more"),
      ParameterSpec::real("temper", 0.5, 0.01, 1,
                          "power on the posteriors: below 1 settled tasks are trusted less, because answers that share "
                          "a mistake look like agreement"),
  };
  selecting::WorkerRuleOptions never;
  never.epsilon = never.epsilon_later = 0;
  never.epsilon_until = 0;
  for (ParameterSpec& spec : selecting::epsilon_parameters(never)) info.parameters.push_back(std::move(spec));
  for (ParameterSpec& spec : selecting::limit_parameters(1, 4)) info.parameters.push_back(std::move(spec));
  return info;
}

std::unique_ptr<Selector> make(const Parameters& parameters) {
  return std::make_unique<ExpectedInformation>(parameters);
}

}  // namespace wisecrowd::expected_information_selector
