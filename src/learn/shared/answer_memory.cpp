#include "learn/shared/answer_memory.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/clip.hpp"
#include "learn/shared/reliability_model.hpp"

namespace wisecrowd {
namespace {

/// In double precision, which does not wrap: these sizes may come from a damaged file.
bool has(const std::vector<double>& numbers, double size) { return static_cast<double>(numbers.size()) == size; }

/// Numbers whose products with features and sums stay finite.
bool ordinary(std::span<const double> numbers) {
  constexpr double kLargest = 1e100;
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::abs(x) <= kLargest; });
}

bool are_tables(std::span<const double> tables, std::size_t classes) {
  constexpr double kRounding = 1e-6;
  for (std::size_t begin = 0; begin < tables.size(); begin += classes) {
    double sum = 0;
    for (const double p : tables.subspan(begin, classes)) {
      if (!(p >= 0)) return false;
      sum += p;
    }
    if (std::abs(sum - 1) > kRounding) return false;
  }
  return true;
}

bool skill_fits(const RowSkill& skill, double workers, double columns) {
  const double width = static_cast<double>(skill.width);
  const bool sparse = !skill.offsets.empty();
  if (!sparse && !has(skill.weights, workers * width)) return false;
  if (sparse) {
    if (skill.basis != RowSkill::Basis::columns || static_cast<double>(skill.offsets.size()) != workers + 1)
      return false;
    if (skill.offsets.front() != 0 || skill.offsets.back() != skill.weights.size()) return false;
    if (skill.columns.size() != skill.weights.size()) return false;
    // Everybody has at least the constant.
    for (std::size_t j = 1; j < skill.offsets.size(); ++j) {
      if (skill.offsets[j] <= skill.offsets[j - 1] || skill.offsets[j] > skill.weights.size()) return false;
      const auto begin = skill.columns.begin() + static_cast<std::ptrdiff_t>(skill.offsets[j - 1]);
      const auto end = skill.columns.begin() + static_cast<std::ptrdiff_t>(skill.offsets[j]);
      if (std::adjacent_find(begin, end, std::greater_equal<>()) != end) return false;
    }
  }
  switch (skill.basis) {
    case RowSkill::Basis::none: return false;
    case RowSkill::Basis::columns: return sparse || width == 1 || width == columns + 1;
    case RowSkill::Basis::projection: return width >= 1 && has(skill.projection, (columns + 1) * width);
    case RowSkill::Basis::regions:
      return skill.regions.fits(static_cast<std::size_t>(columns)) &&
             width == static_cast<double>(skill.regions.count() + 1);
  }
  return false;
}

}  // namespace

bool AnswerMemory::fits(std::size_t workers, std::size_t classes, std::size_t outputs, std::size_t columns) const {
  if (!(answer_power >= 0 && answer_power <= 1 && ceiling >= 0 && ceiling <= 1)) return false;
  if (empty()) return true;
  for (const auto* const numbers :
       {&bias, &tables, &log_weights, &gates, &row_head, &mixing, &embeddings, &skill.weights, &skill.projection,
        &skill.regions.log_weight, &skill.regions.mean, &skill.regions.variance}) {
    if (!ordinary(*numbers)) return false;
  }
  const auto m = static_cast<double>(workers), k = static_cast<double>(classes);
  if (!bias.empty() && bias.size() != classes) return false;
  if (skill.basis != RowSkill::Basis::none) {
    return tables.empty() && log_weights.empty() && common.empty() && row_head.empty() &&
           skill_fits(skill, m, static_cast<double>(columns));
  }
  if (!has(tables, m * k * k) || !(log_weights.empty() || log_weights.size() == tables.size())) return false;
  if (outputs < classes) return false;
  const double further = static_cast<double>(outputs - classes);
  if (!row_head.empty()) {
    const double embedding = m > 0 ? static_cast<double>(embeddings.size()) / m : 0;
    return further >= 1 && common.empty() && log_weights.empty() && has(row_head, k * k * further) &&
           embedding == std::floor(embedding) && has(mixing, further * embedding);
  }
  if (!common.empty()) {
    return has(common, k * k) && has(gates, m * further) && log_weights.empty() && are_tables(tables, classes) &&
           are_tables(common, classes);
  }
  return gates.empty() && are_tables(tables, classes);
}

RememberedRow::RememberedRow(const AnswerMemory& memory, const OutputHead& head, std::size_t classes,
                             const Features& inputs)
    : memory_(memory),
      head_(head),
      classes_(classes),
      inputs_(inputs),
      f_(classes),
      basis_(memory.skill.offsets.empty() ? memory.skill.width : 0),
      table_(classes * classes) {}

void RememberedRow::move_to(std::uint32_t row, std::span<const double> outputs) {
  row_ = row;
  outputs_ = outputs;
  head_.classify(outputs, f_);
  const RowSkill& skill = memory_.skill;
  if (basis_.empty()) return;
  switch (skill.basis) {
    case RowSkill::Basis::none: return;
    case RowSkill::Basis::columns:
      std::fill(basis_.begin(), basis_.end(), 0.0);
      if (skill.width > 1)
        for_each_entry(inputs_, row, [&](std::size_t column, double value) { basis_[column] = value; });
      basis_.back() = 1;
      return;
    case RowSkill::Basis::projection: {
      const std::size_t constant = skill.projection.size() - skill.width;
      std::copy_n(skill.projection.begin() + static_cast<std::ptrdiff_t>(constant), skill.width, basis_.begin());
      for_each_entry(inputs_, row, [&](std::size_t column, double value) {
        const double* const from = skill.projection.data() + column * skill.width;
        for (std::size_t r = 0; r < skill.width; ++r) basis_[r] += value * from[r];
      });
      return;
    }
    case RowSkill::Basis::regions:
      skill.regions.memberships(inputs_, row, std::span(basis_).first(skill.width - 1));
      basis_.back() = 1;
      return;
  }
}

double RememberedRow::log_odds(WorkerId worker) const {
  const RowSkill& skill = memory_.skill;
  double sum = 0;
  if (skill.offsets.empty()) {
    const double* const weights = skill.weights.data() + index(worker) * skill.width;
    for (std::size_t d = 0; d < skill.width; ++d) sum += weights[d] * basis_[d];
    return sum;
  }
  const auto begin = skill.columns.begin() + static_cast<std::ptrdiff_t>(skill.offsets[index(worker)]);
  const auto constant = skill.columns.begin() + static_cast<std::ptrdiff_t>(skill.offsets[index(worker) + 1] - 1);
  auto place = begin;
  for_each_entry(inputs_, row_, [&](std::size_t column, double value) {
    place = std::lower_bound(place, constant, column);
    if (place != constant && *place == column) {
      sum += value * skill.weights[static_cast<std::size_t>(place - skill.columns.begin())];
    }
  });
  return sum + skill.weights[static_cast<std::size_t>(constant - skill.columns.begin())];
}

void RememberedRow::find_table(WorkerId worker) {
  const std::size_t block = classes_ * classes_;
  const auto own = std::span(memory_.tables).subspan(index(worker) * block, block);
  std::copy(own.begin(), own.end(), table_.begin());
  const auto further = outputs_.subspan(std::min(classes_, outputs_.size()));
  if (!memory_.common.empty()) {
    const auto v = std::span(memory_.gates).subspan(index(worker) * further.size(), further.size());
    double score = 0;
    for (std::size_t d = 0; d < further.size(); ++d) score += further[d] * v[d];
    const double o = sigmoid(score);
    for (std::size_t cell = 0; cell < block; ++cell) table_[cell] = o * memory_.common[cell] + (1 - o) * own[cell];
  }
  if (!memory_.row_head.empty()) {
    const std::size_t embedding = memory_.mixing.size() / further.size();
    const double* const e = memory_.embeddings.data() + index(worker) * embedding;
    hidden_.resize(further.size());
    for (std::size_t h = 0; h < further.size(); ++h) {
      double sum = further[h];
      for (std::size_t d = 0; d < embedding; ++d) sum += memory_.mixing[h * embedding + d] * e[d];
      hidden_[h] = math::tanh(sum);
    }
    for (std::size_t cell = 0; cell < block; ++cell) {
      for (std::size_t h = 0; h < hidden_.size(); ++h) {
        table_[cell] += memory_.row_head[cell * hidden_.size() + h] * hidden_[h];
      }
    }
    for (std::size_t k = 0; k < classes_; ++k) softmax(std::span(table_).subspan(k * classes_, classes_));
  }
}

void RememberedRow::add(WorkerId worker, ClassId label, std::span<double> log_probabilities) {
  if (memory_.skill.basis != RowSkill::Basis::none) {
    return add_reliable_answer(log_odds(worker), label, log_probabilities);
  }
  if (!memory_.log_weights.empty()) {
    const double* const from = memory_.log_weights.data() + index(worker) * classes_ * classes_ + index(label);
    for (std::size_t k = 0; k < classes_; ++k) log_probabilities[k] += from[k * classes_];
    return;
  }
  find_table(worker);
  for (std::size_t k = 0; k < classes_; ++k) {
    log_probabilities[k] += math::log(std::max(table_[k * classes_ + index(label)], kProbabilityFloor));
  }
}

void RememberedRow::posterior(std::span<const WorkerId> workers, std::span<const ClassId> labels,
                              std::span<double> probabilities) {
  if (memory_.ceiling > 0) {
    std::copy(f_.begin(), f_.end(), probabilities.begin());
    clip(probabilities, memory_.ceiling);
    for (double& p : probabilities) p = math::log(std::max(p, kProbabilityFloor));
  } else {
    head_.logits(outputs_, probabilities);
  }
  for (std::size_t k = 0; k < memory_.bias.size(); ++k) probabilities[k] += memory_.bias[k];
  for (std::size_t a = 0; a < workers.size(); ++a) add(workers[a], labels[a], probabilities);
  softmax(probabilities);
  if (memory_.answer_power != 1) temper(f_, memory_.answer_power, probabilities);
}

double RememberedRow::reliability(WorkerId worker) {
  if (memory_.skill.basis != RowSkill::Basis::none) return sigmoid(log_odds(worker));
  find_table(worker);
  double right = 0;
  for (std::size_t k = 0; k < classes_; ++k) right += f_[k] * table_[k * classes_ + k];
  return right;
}

void temper(std::span<const double> f, double power, std::span<double> posterior) {
  for (std::size_t k = 0; k < f.size(); ++k) {
    posterior[k] = (1 - power) * math::log(std::max(f[k], kProbabilityFloor)) +
                   power * math::log(std::max(posterior[k], kProbabilityFloor));
  }
  softmax(posterior);
}

}  // namespace wisecrowd
