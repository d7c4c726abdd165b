#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>

#include "simulate/class_prior.hpp"
#include "simulate/crowd.hpp"
#include "simulate/tables.hpp"
#include "wisecrowd/error.hpp"

// The experts of Max-MIG (Cao et al., ICLR 2019): senior ones who are independent given the truth, and in some cases
// junior ones who always say the same (4.2) or copy a senior (4.3); and the paper's Example E.2.
namespace wisecrowd::max_mig_crowd {
namespace {

constexpr std::size_t kHighSeniors = 5;
constexpr std::size_t kLowSeniors = 10;
constexpr std::size_t kExpertA = 0;
constexpr std::size_t kExpertC = 2;

/// P(right | class 0), P(right | class 1) of experts A to E. Cats are class 0; the paper prints dogs first.
constexpr std::array<std::array<double, 2>, kHighSeniors> kCatsDogs = {
    {{.8, .6}, {.6, .6}, {.6, .9}, {.7, .7}, {.7, .6}}};
/// Benign is class 0.
constexpr std::array<std::array<double, 2>, kHighSeniors> kLuna = {{{.6, .9}, {.7, .7}, {.9, .6}, {.6, .7}, {.7, .6}}};
constexpr std::array<double, 2> kLunaPrior = {.85, .15};

/// Classes that are hard to tell apart; the first two pairs are those that expert C knows and D does not.
using Pairs = std::array<std::array<std::size_t, 2>, 5>;
constexpr Pairs kCifarPairs = {{{3, 5}, {4, 7}, {0, 2}, {1, 9}, {6, 8}}};
constexpr Pairs kFashionPairs = {{{0, 6}, {2, 4}, {7, 9}, {1, 3}, {5, 8}}};
constexpr std::size_t kPairsKnownToC = 2;

struct Case {
  bool naive, copying, coins;
  bool high;
  std::size_t seniors, juniors;
};

Case case_of(const Parameters& parameters) {
  const std::string& name = parameters.choice("case");
  const bool high = parameters.choice("skill") == "high";
  Case c{name == "4.2", name == "4.3", name == "E.2", high, high ? kHighSeniors : kLowSeniors, 0};
  if (c.coins) c.seniors = 1;
  c.juniors = c.coins ? 100 : c.naive ? (high ? 5 : 15) : c.copying ? (high ? 5 : 2) : 0;
  const auto asked = static_cast<std::size_t>(parameters.integer("juniors"));
  if (asked > 0 && name == "4.1") {
    throw Error(ErrorCode::bad_parameter,
                "parameter 'juniors' has no meaning in case 4.1, where all are seniors: take "
                "case 4.2, 4.3 or E.2");
  }
  if (asked > 0) c.juniors = asked;
  return c;
}

/// The experts that fit the number of classes, unless the user said which.
std::string experts_of(const Parameters& parameters, std::size_t classes) {
  std::string experts = parameters.choice("experts");
  if (experts == "auto") experts = classes == 2 ? "cats_dogs" : classes == 10 ? "cifar10" : "any";
  const std::size_t needed = experts == "any" ? classes : experts == "cats_dogs" || experts == "luna" ? 2 : 10;
  if (classes != needed) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("the experts '{}' know {} classes, but there are {}", experts, needed, classes));
  }
  return experts;
}

/// What each of A to E says within a pair when the truth is its first or second member: P(first | truth).
std::array<double, 2> within_pair(std::size_t expert, bool known_to_c) {
  constexpr std::array<double, 2> kPerfect = {1, 0};
  constexpr std::array<double, 2> kAlwaysFirst = {1, 1};
  constexpr std::array<double, 2> kEven = {.5, .5};
  switch (expert) {
    case 0: return kAlwaysFirst;
    case 1: return kEven;
    case 2: return known_to_c ? kPerfect : kEven;
    case 3: return known_to_c ? kAlwaysFirst : kPerfect;
    default: return {.6, .4};
  }
}

void pair_table(std::span<double> table, const Pairs& pairs, std::size_t expert) {
  std::fill(table.begin(), table.end(), 0.0);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto first = within_pair(expert, p < kPairsKnownToC);
    for (std::size_t side = 0; side < 2; ++side) {
      table[pairs[p][side] * 10 + pairs[p][0]] = first[side];
      table[pairs[p][side] * 10 + pairs[p][1]] = 1 - first[side];
    }
  }
}

void high_table(std::span<double> table, const std::string& experts, std::size_t classes, std::size_t expert) {
  if (experts == "cats_dogs" || experts == "luna") {
    tables::coin_per_class(table, classes, experts == "luna" ? kLuna[expert] : kCatsDogs[expert]);
  } else if (experts == "cifar10" || experts == "fashion") {
    pair_table(table, experts == "fashion" ? kFashionPairs : kCifarPairs, expert);
  } else {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("there are published experts of high skill for 2 and for 10 classes, not for {}: set "
                            "skill=low and low_accuracy",
                            classes));
  }
}

double low_accuracy(const Parameters& parameters, const std::string& experts, std::size_t classes) {
  const double asked = parameters.real("low_accuracy");
  if (asked > 0) return asked;
  if (experts == "any") {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("there are published experts of low skill for 2 and for 10 classes, not for {}: set "
                            "low_accuracy",
                            classes));
  }
  return experts == "cats_dogs" ? .55 : experts == "luna" ? .6 : .2;
}

}  // namespace

SimulationInfo info() {
  SimulationInfo info;
  info.summary =
      "The experts of Max-MIG: cases 4.1 to 4.3 with high or low skill, for two classes (cats and dogs, LUNA) and for "
      "ten; by default everybody answers everything.";
  info.parameters = {
      ParameterSpec::choice("case", "4.1", {"4.1", "4.2", "4.3", "E.2"},
                            "4.1: independent seniors; 4.2: and juniors who always say the first class; 4.3: and "
                            "juniors who copy senior A or C; E.2: one perfect worker among copies of one coin"),
      ParameterSpec::choice("skill", "high", {"high", "low"},
                            "high: five seniors who differ; low: ten who are alike and hardly better than chance"),
      ParameterSpec::choice("experts", "auto", {"auto", "cats_dogs", "luna", "cifar10", "fashion"},
                            "which seniors; fashion is cifar10 with the pairs of classes that look alike there; auto: "
                            "cats_dogs for 2 classes, cifar10 for 10"),
      ParameterSpec::integer("juniors", 0, 0, 1e6, "how many juniors; 0: as published (4.2: 5 and 15; 4.3: 5 and 2)"),
      ParameterSpec::real("low_accuracy", 0, 0, 1,
                          "how often seniors of low skill are right; 0: as published (.55, LUNA .6, ten classes .2)")};
  auto prior = class_prior_parameters();
  prior.front().choices.insert(prior.front().choices.begin(), "published");
  prior.front().default_value = std::string("published");
  prior.front().help += "; published: 85 % and 15 % for the experts luna, else alike";
  info.parameters.insert(info.parameters.end(), prior.begin(), prior.end());
  return info;
}

SimulationSize default_size(const Parameters& parameters) {
  const Case c = case_of(parameters);
  const std::string& experts = parameters.choice("experts");
  const std::size_t workers = c.seniors + c.juniors;
  return {.tasks = 1000,
          .workers = workers,
          .classes = experts == "cifar10" || experts == "fashion" ? 10U : 2U,
          .answers_per_task = workers};
}

void prepare(const CrowdRequest& request, World& world) {
  const Case c = case_of(request.parameters);
  if (request.size.workers != c.seniors + c.juniors) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("case {} with {} skill has {} + {} workers, not {}: leave out their number, or set juniors",
                            request.parameters.choice("case"), request.parameters.choice("skill"), c.seniors, c.juniors,
                            request.size.workers));
  }
  if (world.given || !world.class_prior.empty() || request.parameters.choice("class_prior") != "published") return;
  if (experts_of(request.parameters, world.classes) == "luna") {
    world.class_prior.assign(kLunaPrior.begin(), kLunaPrior.end());
  } else {
    world.class_prior.assign(world.classes, 1 / static_cast<double>(world.classes));
  }
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const std::size_t cells = classes * classes;
  const Case c = case_of(request.parameters);
  const std::string experts = experts_of(request.parameters, classes);
  Crowd crowd;
  crowd.confusion.resize(workers * cells);
  crowd.kinds.resize(workers);
  const auto table_of = [&](std::size_t w) { return std::span(crowd.confusion).subspan(w * cells, cells); };
  for (std::size_t w = 0; w < c.seniors; ++w) {
    if (c.coins) {
      tables::identity(table_of(w), classes);
      crowd.kinds[w] = "expert";
    } else if (c.high) {
      high_table(table_of(w), experts, classes, w);
      crowd.kinds[w] = fmt::format("expert {}", static_cast<char>('A' + w));
    } else {
      tables::one_coin(table_of(w), classes, low_accuracy(request.parameters, experts, classes));
      crowd.kinds[w] = fmt::format("expert {}", static_cast<char>('A' + w));
    }
  }
  std::vector<std::uint32_t> source(workers);
  for (std::size_t w = 0; w < workers; ++w) source[w] = static_cast<std::uint32_t>(w);
  for (std::size_t i = 0; i < c.juniors; ++i) {
    const std::size_t w = c.seniors + i;
    if (c.naive) {
      tables::constant(table_of(w), classes, 0);
      crowd.kinds[w] = "naive";
      continue;
    }
    if (c.coins && i == 0) {
      tables::one_coin(table_of(w), classes, 1 / static_cast<double>(classes));
      crowd.kinds[w] = "coin";
      continue;
    }
    // Of five copies two are of A and three of C.
    const std::size_t of = c.coins ? c.seniors : i < c.juniors / 2 ? kExpertA : kExpertC;
    source[w] = static_cast<std::uint32_t>(of);
    std::copy_n(table_of(of).begin(), cells, table_of(w).begin());
    crowd.kinds[w] = fmt::format("copy of {}", worker_name(of));
  }
  crowd.answer = [tables = crowd.confusion, source = std::move(source), classes,
                  answers = PairDraws(request.rng.fork("answers"))](std::uint64_t task, std::size_t truth,
                                                                    std::size_t worker) {
    const std::size_t who = source[worker];
    return pick(std::span(tables).subspan((who * classes + truth) * classes, classes), answers(task, who));
  };
  return crowd;
}

}  // namespace wisecrowd::max_mig_crowd
