#include "support/population.hpp"

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd::testing {

TableModel random_model(std::uint64_t seed, std::size_t workers, std::size_t classes, std::size_t experts_per_class) {
  Rng rng(seed);
  TableModel model{classes, std::vector<double>(workers * classes * classes), std::vector<double>(classes)};
  for (double& p : model.class_prior) p = rng.uniform(0.5, 1);
  normalise(model.class_prior);
  for (std::size_t w = 0; w < workers; ++w) {
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = model.table(w).subspan(k * classes, classes);
      for (std::size_t l = 0; l < classes; ++l) {
        row[l] = rng.uniform(0.1, 1) + (k == l ? 1.0 : 0.0);
        if (w < experts_per_class * classes && l == w % classes && k != l) row[l] = 0;
      }
      normalise(row);
    }
  }
  return model;
}

PairMoments population_pairs(const TableModel& model, double common,
                             const std::function<bool(std::size_t, std::size_t)>& available) {
  const std::size_t workers = model.worker_count(), classes = model.classes;
  std::vector<PairMoments::Pair> pairs;
  std::vector<double> joint, label_counts(workers * classes, 0.0);
  for (std::uint32_t a = 0; a < workers; ++a) {
    for (std::size_t l = 0; l < classes; ++l) {
      for (std::size_t k = 0; k < classes; ++k) {
        label_counts[a * classes + l] += common * model.class_prior[k] * model.table(a)[k * classes + l];
      }
    }
    for (std::uint32_t b = a + 1; b < workers; ++b) {
      if (available && !available(a, b)) continue;
      double agreements = 0;
      for (std::size_t l = 0; l < classes; ++l) {
        for (std::size_t m = 0; m < classes; ++m) {
          double p = 0;
          for (std::size_t k = 0; k < classes; ++k) {
            p += model.class_prior[k] * model.table(a)[k * classes + l] * model.table(b)[k * classes + m];
          }
          joint.push_back(common * p);
          if (l == m) agreements += common * p;
        }
      }
      pairs.push_back({a, b, common, agreements});
    }
  }
  return {workers, classes, std::move(pairs), std::move(joint), std::move(label_counts)};
}

TripleMoments population_triples(const TableModel& model, double common) {
  const auto workers = static_cast<std::uint32_t>(model.worker_count());
  const std::size_t classes = model.classes;
  std::vector<TripleMoments::Triple> triples;
  std::vector<double> joint;
  for (std::uint32_t a = 0; a < workers; ++a) {
    for (std::uint32_t b = a + 1; b < workers; ++b) {
      for (std::uint32_t c = b + 1; c < workers; ++c) {
        triples.push_back({{a, b, c}, common});
        for (std::size_t cell = 0; cell < classes * classes * classes; ++cell) {
          const std::size_t l = cell / classes / classes, m = cell / classes % classes, n = cell % classes;
          double p = 0;
          for (std::size_t k = 0; k < classes; ++k) {
            p += model.class_prior[k] * model.table(a)[k * classes + l] * model.table(b)[k * classes + m] *
                 model.table(c)[k * classes + n];
          }
          joint.push_back(common * p);
        }
      }
    }
  }
  return {classes, std::move(triples), std::move(joint)};
}

Sampled sample(const TableModel& model, std::size_t tasks, double share, std::uint64_t seed) {
  Rng rng(seed);
  Sampled sampled;
  std::vector<CategoryAnswer> answers;
  for (std::uint32_t t = 0; t < tasks; ++t) {
    const std::size_t z = rng.categorical(model.class_prior);
    sampled.truth.push_back(ClassId{static_cast<std::uint16_t>(z)});
    for (std::uint32_t w = 0; w < model.worker_count(); ++w) {
      if (!rng.bernoulli(share)) continue;
      const auto label = rng.categorical(model.table(w).subspan(z * model.classes, model.classes));
      answers.push_back({TaskId{t}, WorkerId{w}, ClassId{static_cast<std::uint16_t>(label)}});
    }
  }
  std::vector<std::string> class_names;
  for (std::size_t k = 0; k < model.classes; ++k) class_names.push_back(std::to_string(k));
  const std::vector<std::string> task_names(tasks), worker_names(model.worker_count());
  sampled.data.answers =
      make_category_answers(answers, {NameTable(task_names), NameTable(worker_names), NameTable(class_names)});
  return sampled;
}

TableModel leaning_model(std::size_t workers, std::size_t classes, double accuracy) {
  TableModel model{classes, {}, std::vector<double>(classes, 1.0 / static_cast<double>(classes))};
  model.tables.assign(workers * classes * classes, (1 - accuracy) / static_cast<double>(classes - 1));
  for (std::size_t w = 0; w < workers; ++w) {
    for (std::size_t k = 0; k < classes; ++k) model.table(w)[k * classes + k] = accuracy;
  }
  return model;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double mean_difference(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(std::max<std::size_t>(std::min(a.size(), b.size()), 1));
}

RealScore score_on(const std::string& folder, const std::string& method,
                   const std::vector<std::pair<std::string, std::string>>& settings, std::size_t finish_iterations) {
  const RunContext context;
  CategoryData data = read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, context);
  const std::vector<ClassId> gold = std::move(data.gold);
  data.gold.clear();
  const auto accuracy = [&](const CategoryFit& result) {
    return evaluate(result.labels, result.posterior, gold, result.class_count,
                    {.tie_rule = TieRule::fractional, .bootstrap = 0}, context)
        .accuracy.value;
  };
  Parameters parameters(aggregation_method(method).parameters);
  for (const auto& [name, value] : settings) parameters.set(name, value);
  const auto alone = aggregate(data, method, parameters, context);
  Parameters finish(aggregation_method("dawid_skene").parameters);
  finish.set("max_iterations", std::to_string(finish_iterations));
  const auto finished = aggregate(data, "dawid_skene", finish, context, CategoryStart{alone.posterior});
  return {accuracy(alone), accuracy(finished)};
}

}  // namespace wisecrowd::testing
