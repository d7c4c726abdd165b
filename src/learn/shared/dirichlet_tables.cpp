#include "learn/shared/dirichlet_tables.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {
namespace {

constexpr auto kCoinNames = enum_names<bool>({{false, "full"}, {true, "one_coin"}});

/// KL(Dir(b) ‖ Dir(b0)).
double dirichlet_divergence(std::span<const double> b, std::span<const double> b0) {
  double total = 0;
  for (const double x : b) total += x;
  const double base = digamma(total);
  double sum = log_beta(b0) - log_beta(b);
  for (std::size_t l = 0; l < b.size(); ++l) sum += (b[l] - b0[l]) * (digamma(b[l]) - base);
  return sum;
}

}  // namespace

void dirichlet_parameters(ParameterVisitor& v, DirichletTables::Options& o) {
  v.choice("coins", o.one_coin, kCoinNames,
           "a confusion table per worker, or one accuracy with wrong answers spread evenly");
  v.real("right", o.right, 1e-3, 1e9,
         "right answers that are believed beforehand, in every row of every table (one_coin: in all)");
  v.real("wrong", o.wrong, 1e-3, 1e9, "wrong answers that are believed beforehand, all kinds together");
}

DirichletTables::DirichletTables(std::size_t workers, std::size_t classes, const Options& options)
    : workers_(workers),
      classes_(classes),
      options_(options),
      posterior_(workers * width()),
      geometric_(workers * classes * classes),
      means_(geometric_.size()) {
  for (std::size_t cell = 0; cell < posterior_.size(); ++cell) posterior_[cell] = prior(cell % width());
  for (std::size_t j = 0; j < workers_; ++j) refresh(j);
}

double DirichletTables::prior(std::size_t cell) const noexcept {
  const bool right = options_.one_coin ? cell == 0 : cell % (classes_ + 1) == 0;
  if (right) return options_.right;
  return options_.one_coin ? options_.wrong
                           : options_.wrong / static_cast<double>(std::max<std::size_t>(classes_, 2) - 1);
}

void DirichletTables::refresh(std::size_t worker) {
  const auto b = std::span<const double>(posterior_).subspan(index(worker) * width(), width());
  double* const geometric = geometric_.data() + index(worker) * classes_ * classes_;
  double* const means = means_.data() + index(worker) * classes_ * classes_;
  if (options_.one_coin) {
    const double others = static_cast<double>(std::max<std::size_t>(classes_, 2) - 1);
    const double base = digamma(b[0] + b[1]), mean = b[0] / (b[0] + b[1]);
    const double right = math::exp(digamma(b[0]) - base), wrong = math::exp(digamma(b[1]) - base) / others;
    for (std::size_t cell = 0; cell < classes_ * classes_; ++cell) {
      const bool diagonal = cell % (classes_ + 1) == 0;
      geometric[cell] = diagonal ? right : wrong;
      means[cell] = classes_ == 1 ? 1 : diagonal ? mean : (1 - mean) / others;
    }
    return;
  }
  for (std::size_t k = 0; k < classes_; ++k) {
    double total = 0;
    for (std::size_t l = 0; l < classes_; ++l) total += b[k * classes_ + l];
    const double base = digamma(total);
    for (std::size_t l = 0; l < classes_; ++l) {
      geometric[k * classes_ + l] = math::exp(digamma(b[k * classes_ + l]) - base);
      means[k * classes_ + l] = b[k * classes_ + l] / total;
    }
  }
}

void DirichletTables::update(const TrainingSet& set, std::span<const double> soft_labels) {
  for (std::size_t cell = 0; cell < posterior_.size(); ++cell) posterior_[cell] = prior(cell % width());
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    const double* const q = soft_labels.data() + i * classes_;
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      double* const b = posterior_.data() + index(set.worker[a]) * width();
      const ClassId label = set.label[a];
      if (options_.one_coin) {
        b[0] += q[index(label)];
        b[1] += 1 - q[index(label)];
      } else {
        for (std::size_t k = 0; k < classes_; ++k) b[k * classes_ + index(label)] += q[k];
      }
    }
  }
  for (std::size_t j = 0; j < workers_; ++j) refresh(j);
}

void DirichletTables::move(WorkerId worker, std::span<const double> counts, double share) {
  const auto b = std::span(posterior_).subspan(index(worker) * width(), width());
  for (double& x : b) x *= 1 - share;
  for (std::size_t cell = 0; cell < width(); ++cell) b[cell] += share * prior(cell);
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    b[options_.one_coin ? (cell % (classes_ + 1) == 0 ? 0 : 1) : cell] += share * counts[cell];
  }
  refresh(index(worker));
}

double DirichletTables::divergence() const {
  const std::size_t row = options_.one_coin ? 2 : classes_;
  std::vector<double> b0(row);
  double sum = 0;
  for (std::size_t begin = 0; begin < posterior_.size(); begin += row) {
    for (std::size_t l = 0; l < row; ++l) b0[l] = prior((begin + l) % width());
    const auto b = std::span<const double>(posterior_).subspan(begin, row);
    if (!std::equal(b.begin(), b.end(), b0.begin())) sum += dirichlet_divergence(b, b0);
  }
  return sum;
}

std::vector<double> log_of_tables(std::vector<double> tables) {
  for (double& value : tables) value = math::log(std::max(value, kProbabilityFloor));
  return tables;
}

}  // namespace wisecrowd
