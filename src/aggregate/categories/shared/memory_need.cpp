#include "aggregate/categories/shared/memory_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "aggregate/categories/shared/confusion_pass.hpp"
#include "base/free_memory.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/method_needs.hpp"

namespace wisecrowd {
namespace {

/// Less than this is not worth a look at what there is.
constexpr double kAlwaysThere = 64e6;
/// What is left for the rest of the program, and for estimates that are a little short.
constexpr double kUsableShare = 0.9;

double posterior(const DataShape& s) { return 8.0 * static_cast<double>(s.tasks) * static_cast<double>(s.classes); }
double tables(const DataShape& s) { return 8.0 * table_cells(s); }
double per_answer(const DataShape& s, double bytes) { return bytes * static_cast<double>(s.answers); }

double pass(const DataShape& s) {
  const auto plan = ConfusionPass::plan_for(s.tasks, s.workers, s.classes, s.threads);
  return plan.bytes + per_answer(s, plan.gathered ? 22 : 4);  // by worker and by block, where it gathers
}

/// Pairs of workers who share a task: not more than all pairs, nor than the answers bring together.
double pairs(const DataShape& s) {
  const auto workers = static_cast<double>(s.workers), answers = static_cast<double>(s.answers);
  const double per_task = answers / std::max(static_cast<double>(s.tasks), 1.0);
  return std::min(workers * (workers - 1) / 2, answers * std::max(per_task - 1, 0.0) / 2 + workers);
}
double pair_tables(const DataShape& s) {
  return pairs(s) * 8.0 * static_cast<double>(s.classes) * static_cast<double>(s.classes);
}

double of_votes(const DataShape& s) { return 1.25 * posterior(s) + per_answer(s, 8); }
double of_answers(const DataShape& s) { return 2 * posterior(s) + per_answer(s, 32); }
/// With the last state that an acceleration knows and two steps in single precision.
double of_table_em(const DataShape& s) { return pass(s) + posterior(s) + 3 * tables(s); }
double of_one_coin(const DataShape& s) { return tables_fit(s) ? of_table_em(s) : of_answers(s); }
double of_moments(const DataShape& s) { return of_table_em(s) + tables(s) + pair_tables(s); }
double of_pairs(const DataShape& s) { return of_answers(s) + 64 * pairs(s); }
double of_ebcc(const DataShape& s) {
  constexpr double kSubtypes = 10;
  const double run = kSubtypes * (posterior(s) + tables(s)) / 2;  // in single precision
  return std::max(1.0, std::min(5.0, static_cast<double>(s.threads))) * (run + posterior(s) + tables(s)) +
         per_answer(s, 24);
}
double of_automatic(const DataShape& s) {
  if (!tables_fit(s)) return of_one_coin(s) + posterior(s);
  // The test looks at a part of the tasks only, but at all workers.
  DataShape tested = s;
  if (s.answers > 100'000)
    tested.tasks = static_cast<std::size_t>(static_cast<double>(s.tasks) * 1e5 / static_cast<double>(s.answers));
  tested.answers = std::min<std::size_t>(s.answers, 100'000);
  tested.threads = 1;
  // A pool of methods, of which one has tables of tasks.
  double pool = 2 * posterior(s);
  if (s.answers <= 1'000'000)
    pool += std::min(posterior(s) * static_cast<double>(s.classes) + tables(s), 8.0 * (1 << 26));
  return of_table_em(s) + of_ebcc(tested) + pool + tables(s);
}

struct Need {
  std::string_view method;
  double (*bytes)(const DataShape&);
};

constexpr std::array kNeeds = {
    Need{"automatic", of_automatic},
    Need{"majority_vote", of_votes},
    Need{"wawa", of_votes},
    Need{"zero_based_skill", of_votes},
    Need{"one_coin", of_one_coin},
    Need{"confusion_vector", of_table_em},
    Need{"dawid_skene", of_table_em},
    Need{"hierarchical_dawid_skene", of_table_em},
    Need{"graph_dawid_skene", [](const DataShape& s) { return of_table_em(s) + 3 * posterior(s) + 2 * tables(s); }},
    Need{"ibcc", of_table_em},
    Need{"gibbs", [](const DataShape& s) { return 4 * (3 * posterior(s) + 2 * tables(s)) + per_answer(s, 16); }},
    Need{"bp", of_answers},
    Need{"glad", of_answers},
    Need{"mace", of_table_em},
    Need{"worker_clusters", of_table_em},
    Need{"cbcc", of_table_em},
    Need{"ebcc", of_ebcc},
    Need{"minimax_entropy",
         [](const DataShape& s) { return of_table_em(s) + posterior(s) * static_cast<double>(s.classes); }},
    Need{"ordinal_dawid_skene", [](const DataShape& s) { return of_table_em(s) + 2 * posterior(s) + 4 * tables(s); }},
    Need{"latent_ordinal",
         [](const DataShape& s) {
           const auto tasks = static_cast<double>(s.tasks), workers = static_cast<double>(s.workers);
           return posterior(s) + tables(s) + 8 * 61.0 * (tasks + 2 * workers * static_cast<double>(s.classes)) +
                  per_answer(s, 12);
         }},
    Need{"max_margin", [](const DataShape& s) { return 8 * posterior(s) + per_answer(s, 16); }},
    Need{"kos", of_answers},
    Need{"multispa", of_moments},
    Need{"cnmf", of_moments},
    Need{"symmetric_nmf", of_moments},
    Need{"coupled_tensor",
         [](const DataShape& s) { return of_moments(s) + pair_tables(s) * static_cast<double>(s.classes); }},
    Need{"spectral_em",
         [](const DataShape& s) {
           const auto classes = static_cast<double>(s.classes);
           return of_table_em(s) + tables(s) + 8 * classes * classes * classes;
         }},
    Need{"sml", of_answers},
    Need{"jaffe", of_answers},
    Need{"eigen_ratio", of_pairs},
    Need{"pgd", of_pairs},
    Need{"mmsr", of_pairs},
};

std::vector<std::string> methods_that_fit(const DataShape& shape, double have, bool repeats) {
  std::vector<std::string> names;
  for (const MethodInfo& info : aggregation_methods()) {
    const bool takes = (info.max_classes == 0 || shape.classes <= info.max_classes) &&
                       (info.max_workers == 0 || shape.workers <= info.max_workers) &&
                       (info.allows_repeats || !repeats) && !uses_order(info) && !uses_task_graph(info);
    if (takes && memory_needed(info.name, shape) <= have) names.push_back(info.name);
  }
  return names;
}

}  // namespace

DataShape shape_of(const CategoryAnswers& answers, const RunContext& context) {
  return {answers.task_count(), answers.worker_count(), answers.class_count(), answers.answer_count(),
          context.threads()};
}

double memory_needed(std::string_view method, const DataShape& shape) {
  for (const Need& need : kNeeds) {
    if (need.method == method) return need.bytes(shape);
  }
  return of_answers(shape);
}

void require_memory(const MethodInfo& info, const CategoryData& data, const RunContext& context) {
  const DataShape shape = shape_of(data.answers, context);
  const double need = memory_needed(info.name, shape);
  if (need < kAlwaysThere) return;
  const auto available = free_memory();
  if (!available) return;
  const double have = kUsableShare * static_cast<double>(*available);
  if (need <= have) return;
  const auto others = methods_that_fit(shape, have, data.answers.has_repeats());
  throw Error(
      ErrorCode::unsupported,
      fmt::format(
          "{} needs about {} of memory for {} tasks, {} workers and {} classes, and {} are free: {}merge "
          "rare classes, or take a machine with more memory",
          info.name, memory_text(need), shape.tasks, shape.workers, shape.classes,
          memory_text(static_cast<double>(*available)),
          others.empty() ? std::string() : fmt::format("choose a method that fits ({}), ", fmt::join(others, ", "))));
}

}  // namespace wisecrowd
