#include "aggregate/categories/graph_dawid_skene/smoothing.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::graph_dawid_skene {
namespace {

constexpr std::size_t kTasksPerBlock = 512;

/// Greedy, in the order of tasks: each takes the first colour that no earlier neighbour has.
std::vector<std::vector<std::uint32_t>> coloured(const TaskGraph& graph) {
  std::vector<std::vector<std::uint32_t>> colours;
  std::vector<std::uint32_t> colour_of(graph.task_count());
  std::vector<std::uint32_t> taken_by;  // per colour: the last task that may not have it
  for (std::uint32_t t = 0; t < graph.task_count(); ++t) {
    for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) {
      if (graph.neighbours[e] < t) taken_by[colour_of[graph.neighbours[e]]] = t + 1;
    }
    const auto free = std::find_if(taken_by.begin(), taken_by.end(), [&](std::uint32_t task) { return task != t + 1; });
    const auto colour = static_cast<std::uint32_t>(free - taken_by.begin());
    if (free == taken_by.end()) {
      taken_by.push_back(0);
      colours.emplace_back();
    }
    colour_of[t] = colour;
    colours[colour].push_back(t);
  }
  return colours;
}

}  // namespace

Field::Field(const TaskGraph& graph, bool normalise_weights)
    : graph_(graph), weights_(graph.weights), colours_(coloured(graph)) {
  if (!normalise_weights) return;
  std::vector<double> degree(graph.task_count(), 0.0);
  for (std::size_t t = 0; t < degree.size(); ++t) {
    for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) degree[t] += graph.weights[e];
  }
  for (std::size_t t = 0; t < degree.size(); ++t) {
    for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) {
      weights_[e] /= std::sqrt(degree[t] * degree[graph.neighbours[e]]);
    }
  }
}

void Field::support(std::size_t task, std::span<const double> posterior, std::span<double> out) const {
  const std::size_t classes = out.size();
  std::fill(out.begin(), out.end(), 0.0);
  for (std::uint64_t e = graph_.offsets[task]; e < graph_.offsets[task + 1]; ++e) {
    const double* const other = posterior.data() + std::size_t{graph_.neighbours[e]} * classes;
    for (std::size_t k = 0; k < classes; ++k) out[k] += weights_[e] * other[k];
  }
}

double Field::agreement(std::span<const double> posterior, std::size_t classes) const {
  double sum = 0;
  std::vector<double> held(classes);
  for (std::size_t t = 0; t < graph_.task_count(); ++t) {
    support(t, posterior, held);
    for (std::size_t k = 0; k < classes; ++k) sum += posterior[t * classes + k] * held[k];
  }
  return sum / 2;
}

void sweep_mean_field(const Field& field, double strength, std::span<const double> evidence,
                      const std::vector<bool>& fixed, std::size_t sweeps, double tolerance, std::span<double> posterior,
                      const RunContext& context) {
  const std::size_t tasks = field.graph().task_count();
  const std::size_t classes = tasks == 0 ? 0 : posterior.size() / tasks;
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    double moved = 0;
    for (const auto& colour : field.colours()) {
      const Blocks blocks{colour.size(), kTasksPerBlock};
      std::vector<double> moves(blocks.count(), 0.0);
      context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
        std::vector<double> row(classes);
        for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
          const std::size_t t = colour[i];
          if (fixed[t]) continue;
          field.support(t, posterior, row);
          for (std::size_t k = 0; k < classes; ++k) row[k] = evidence[t * classes + k] + strength * row[k];
          softmax(row);
          for (std::size_t k = 0; k < classes; ++k) {
            moves[block] = std::max(moves[block], std::abs(row[k] - posterior[t * classes + k]));
            posterior[t * classes + k] = row[k];
          }
        }
      });
      for (const double move : moves) moved = std::max(moved, move);
    }
    if (moved < tolerance || context.cancelled()) return;
  }
}

namespace {

/// Where each edge stands in the row of its other end.
std::vector<std::uint64_t> opposite_edges(const TaskGraph& graph) {
  std::vector<std::uint64_t> opposite(graph.neighbours.size());
  std::vector<std::uint64_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  // Rows rise, so the edges of a row are met in the order of their other ends.
  for (std::uint32_t t = 0; t < graph.task_count(); ++t) {
    for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) opposite[e] = next[graph.neighbours[e]]++;
  }
  return opposite;
}

}  // namespace

void propagate(const Field& field, double strength, std::span<const double> evidence, const std::vector<bool>& fixed,
               std::size_t sweeps, double tolerance, std::span<double> posterior, const RunContext& context) {
  const TaskGraph& graph = field.graph();
  const std::size_t tasks = graph.task_count();
  const std::size_t classes = tasks == 0 ? 0 : posterior.size() / tasks;
  const std::vector<std::uint64_t> opposite = opposite_edges(graph);
  // log message from the task of a row to the neighbour at that place.
  std::vector<double> sent(graph.neighbours.size() * classes,
                           -math::log(static_cast<double>(std::max<std::size_t>(classes, 1))));
  std::vector<double> next = sent;
  const Blocks blocks{tasks, kTasksPerBlock};
  const auto belief_of = [&](std::size_t t, std::span<double> row) {
    if (fixed[t]) {
      for (std::size_t k = 0; k < classes; ++k) row[k] = math::log(std::max(posterior[t * classes + k], 1e-300));
      return;
    }
    std::copy_n(evidence.begin() + static_cast<std::ptrdiff_t>(t * classes), classes, row.begin());
    for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) {
      const double* const message = sent.data() + opposite[e] * classes;
      for (std::size_t k = 0; k < classes; ++k) row[k] += message[k];
    }
  };
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    std::vector<double> moves(blocks.count(), 0.0);
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      std::vector<double> belief(classes), row(classes);
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        belief_of(t, belief);
        for (std::uint64_t e = graph.offsets[t]; e < graph.offsets[t + 1]; ++e) {
          const double* const back = sent.data() + opposite[e] * classes;
          for (std::size_t k = 0; k < classes; ++k) row[k] = belief[k] - (fixed[t] ? 0 : back[k]);
          softmax(row);
          // Σ_l exp(δ w [l = k]) b_l = 1 + (e^{δ w} − 1) b_k
          const double gain = math::expm1(strength * field.weights()[e]);
          double sum = 0;
          for (std::size_t k = 0; k < classes; ++k) {
            row[k] = 1 + gain * row[k];
            sum += row[k];
          }
          double* const message = next.data() + e * classes;
          for (std::size_t k = 0; k < classes; ++k) {
            message[k] = math::log(row[k] / sum);
            moves[block] = std::max(moves[block], std::abs(message[k] - sent[e * classes + k]));
          }
        }
      }
    });
    sent.swap(next);
    if (*std::max_element(moves.begin(), moves.end()) < tolerance || context.cancelled()) break;
  }
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> row(classes);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      if (fixed[t]) continue;
      belief_of(t, row);
      softmax(row);
      std::copy(row.begin(), row.end(), posterior.begin() + static_cast<std::ptrdiff_t>(t * classes));
    }
  });
}

double pseudo_likelihood_strength(const Field& field, std::span<const double> log_prior,
                                  std::span<const double> posterior, std::size_t classes, double from,
                                  const RunContext& context) {
  constexpr int kSteps = 50;
  const TaskGraph& graph = field.graph();
  const bool own_rows = log_prior.size() != classes;
  const Blocks blocks{graph.task_count(), kTasksPerBlock};
  std::vector<double> held(posterior.size());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      field.support(t, posterior, std::span(held).subspan(t * classes, classes));
    }
  });
  double strength = from, low = 0, high = kMostStrength;
  for (int step = 0; step < kSteps; ++step) {
    struct Part {
      double slope = 0, curvature = 0;
    };
    std::vector<Part> parts(blocks.count());
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      std::vector<double> row(classes);
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        if (graph.offsets[t] == graph.offsets[t + 1]) continue;
        const double* const support = held.data() + t * classes;
        for (std::size_t k = 0; k < classes; ++k) {
          row[k] = log_prior[own_rows ? t * classes + k : k] + strength * support[k];
        }
        softmax(row);
        double seen = 0, mean = 0, square = 0;
        for (std::size_t k = 0; k < classes; ++k) {
          seen += posterior[t * classes + k] * support[k];
          mean += row[k] * support[k];
          square += row[k] * support[k] * support[k];
        }
        parts[block].slope += seen - mean;
        parts[block].curvature += square - mean * mean;
      }
    });
    double slope = 0, curvature = 0;
    for (const Part& part : parts) {
      slope += part.slope;
      curvature += part.curvature;
    }
    // The function is concave: the maximum lies where the slope points.
    (slope > 0 ? low : high) = strength;
    double next = curvature > 0 ? strength + slope / curvature : (slope > 0 ? high : low);
    if (!(next > low && next < high)) next = slope == 0 ? strength : (low + high) / 2;
    if (std::abs(next - strength) < 1e-9 * std::max(1.0, strength)) return next;
    strength = next;
  }
  return strength;
}

}  // namespace wisecrowd::graph_dawid_skene
