#include <fmt/core.h>

#include "simulate/crowd.hpp"
#include "simulate/tables.hpp"
#include "wisecrowd/error.hpp"

// Independent workers, each with a confusion table of his own: the model of Dawid and Skene with a choice of how the
// tables are drawn.
namespace wisecrowd::dawid_skene_crowd {
namespace {

/// Fills worker w's table by the chosen family.
void draw_table(const std::string& family, const Parameters& parameters, std::size_t classes, Rng& rng,
                std::span<double> table) {
  if (family == "random" || family == "class_experts") {
    tables::random(table, classes, rng);
  } else if (family == "better_than_random") {
    tables::better_than_random(table, classes, parameters.real("level"), rng);
  } else if (family == "diagonal_dominant" || family == "separable") {
    tables::diagonal_dominant(table, classes, parameters.real("gamma"), rng);
  } else if (family == "symmetric_flip") {
    tables::one_coin(table, classes, 1 - parameters.real("flip"));
  } else if (family == "two_coin") {
    std::vector<double> diagonal(classes);
    for (double& p : diagonal) p = rng.beta(parameters.real("a"), parameters.real("b"));
    tables::coin_per_class(table, classes, diagonal);
  } else if (family == "spammer") {
    tables::spammer(table, classes, rng);
  } else {
    tables::adversary(table, classes, rng);
  }
}

}  // namespace

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Independent workers with a confusion table each, drawn from a family of tables.";
  info.parameters = {
      ParameterSpec::choice("tables", "better_than_random",
                            {"random", "better_than_random", "diagonal_dominant", "separable", "symmetric_flip",
                             "class_experts", "two_coin", "spammer", "adversary"},
                            "the family of confusion tables"),
      ParameterSpec::real("level", 1, 1, 1e6, "better_than_random: factor on the diagonal before rows are normalised"),
      ParameterSpec::real("gamma", 0.5, 0, 1e6,
                          "diagonal_dominant, separable: rows are identity + gamma * uniform noise, normalised"),
      ParameterSpec::real("flip", 0.3, 0, 1,
                          "symmetric_flip: probability of a wrong answer, spread evenly over the wrong classes"),
      ParameterSpec::real("a", 4, 1e-3, 1e6, "two_coin: the accuracy on each class is Beta(a, b)"),
      ParameterSpec::real("b", 2, 1e-3, 1e6, "two_coin: see a"),
      ParameterSpec::real("spammer_share", 0, 0, 1, "share of workers who answer without looking, whatever the family"),
      ParameterSpec::real("adversary_share", 0, 0, 1,
                          "share of workers who prefer a wrong class, whatever the family")};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const std::size_t cells = classes * classes;
  const std::string& family = request.parameters.choice("tables");
  const std::size_t special = family == "separable" ? 1 : family == "class_experts" ? classes : 0;
  const std::size_t spammers = share_of(request.parameters.real("spammer_share"), workers);
  const std::size_t adversaries = share_of(request.parameters.real("adversary_share"), workers);
  if (special + spammers + adversaries > workers) {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("{} workers cannot hold {} experts, {} spammers and {} adversaries: lower the shares or take "
                    "more workers",
                    workers, special, spammers, adversaries));
  }
  Crowd crowd;
  crowd.confusion.resize(workers * cells);
  const std::string ordinary = family == "spammer" || family == "adversary" ? family : "honest";
  crowd.kinds.assign(workers, ordinary);
  // Who is out of the ordinary: first the experts of the family, then spammers, then adversaries.
  const auto chosen = choose_workers(workers, special + spammers + adversaries, request.rng.fork("special"));
  for (std::size_t w = 0; w < workers; ++w) {
    Rng rng = request.rng.fork("worker", w);
    draw_table(family, request.parameters, classes, rng, std::span(crowd.confusion).subspan(w * cells, cells));
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t w = chosen[i];
    Rng rng = request.rng.fork("special worker", w);
    const auto table = std::span(crowd.confusion).subspan(w * cells, cells);
    if (i < special && family == "separable") {
      tables::identity(table, classes);
      crowd.kinds[w] = "expert";
    } else if (i < special) {
      tables::class_expert(table, classes, i, rng);
      crowd.kinds[w] = fmt::format("expert for {}", i);
    } else if (i < special + spammers) {
      tables::spammer(table, classes, rng);
      crowd.kinds[w] = "spammer";
    } else {
      tables::adversary(table, classes, rng);
      crowd.kinds[w] = "adversary";
    }
  }
  return crowd;
}

}  // namespace wisecrowd::dawid_skene_crowd
