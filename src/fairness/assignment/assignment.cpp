#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "base/rng.hpp"
#include "fairness/shared/simplex.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/fairness.hpp"

// Tasks of a group are alike to a worker, so it is enough to decide how many answers each worker gives to each group.
// Variables are shares of a group's tasks, y = x / N_s, so that all numbers are of about the same size.

namespace wisecrowd {
namespace {

using fairness::LinearProgram;
using fairness::LinearSolution;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// 240 MB of tableau.
constexpr double kMostTableauCells = 3e7;

struct Shape {
  std::size_t workers, groups;
  double tasks;

  explicit Shape(const AssignmentRequest& request)
      : workers(request.capacity.size()),
        groups(request.group_tasks.size()),
        tasks(static_cast<double>(
            std::accumulate(request.group_tasks.begin(), request.group_tasks.end(), std::uint64_t{0}))) {}
};

void check(const AssignmentRequest& request) {
  const Shape shape(request);
  const auto refuse = [](const std::string& why) { throw Error(ErrorCode::bad_parameter, why); };
  if (request.accuracy.size() != shape.workers * shape.groups) {
    refuse(fmt::format("there are {} accuracies, but {} workers and {} groups", request.accuracy.size(), shape.workers,
                       shape.groups));
  }
  for (const double a : request.accuracy) {
    if (!(a >= 0 && a <= 1)) refuse(fmt::format("an accuracy is {}: give numbers from 0 to 1", a));
  }
  if (request.answers_per_task == 0) refuse("an assignment needs at least one answer per task");
  if (!(request.limit >= 0)) refuse(fmt::format("a gap cannot be limited to {}: give 0 or more", request.limit));
}

/// Without the limit on the gap: who may do how much.
LinearProgram capacities_and_demands(const AssignmentRequest& request) {
  const Shape shape(request);
  LinearProgram program;
  program.objective.resize(shape.workers * shape.groups);
  program.upper.assign(program.objective.size(), 1.0);
  for (std::size_t s = 0; s < shape.groups; ++s) {
    LinearProgram::Row demand{{}, true, static_cast<double>(request.answers_per_task)};
    const double share = static_cast<double>(request.group_tasks[s]) / shape.tasks;
    for (std::size_t j = 0; j < shape.workers; ++j) {
      const auto variable = static_cast<std::uint32_t>(j * shape.groups + s);
      program.objective[variable] = request.accuracy[variable] * share;
      demand.terms.emplace_back(variable, 1.0);
    }
    if (request.group_tasks[s] > 0) program.rows.push_back(std::move(demand));
  }
  for (std::size_t j = 0; j < shape.workers; ++j) {
    const auto capacity = static_cast<double>(request.capacity[j]);
    if (capacity >= shape.tasks) continue;  // no more than all tasks are to be had
    LinearProgram::Row row{{}, false, capacity / shape.tasks};
    for (std::size_t s = 0; s < shape.groups; ++s) {
      row.terms.emplace_back(static_cast<std::uint32_t>(j * shape.groups + s),
                             static_cast<double>(request.group_tasks[s]) / shape.tasks);
    }
    program.rows.push_back(std::move(row));
  }
  return program;
}

/// Every group's share of wrong answers lies between a lowest one, a variable, and that plus `limit` plus, if asked
/// for, another variable. Returns the last variable.
std::uint32_t add_gap_rows(const AssignmentRequest& request, double limit, bool slack, LinearProgram& program) {
  const Shape shape(request);
  const auto lowest = static_cast<std::uint32_t>(program.objective.size());
  program.objective.resize(lowest + (slack ? 2 : 1), 0.0);
  program.upper.resize(program.objective.size(), 1.0);
  for (std::size_t s = 0; s < shape.groups; ++s) {
    if (request.group_tasks[s] == 0) continue;
    LinearProgram::Row above{{{lowest, 1.0}}, false, 0}, below{{{lowest, -1.0}}, false, limit};
    for (std::size_t j = 0; j < shape.workers; ++j) {
      const auto variable = static_cast<std::uint32_t>(j * shape.groups + s);
      const double wrong = (1 - request.accuracy[variable]) / static_cast<double>(request.answers_per_task);
      above.terms.emplace_back(variable, -wrong);
      below.terms.emplace_back(variable, wrong);
    }
    if (slack) below.terms.emplace_back(lowest + 1, -1.0);
    program.rows.push_back(std::move(above));
    program.rows.push_back(std::move(below));
  }
  return static_cast<std::uint32_t>(program.objective.size() - 1);
}

/// Rounds down, then gives what is missing to those who were cut most; where a worker of room in a group has no
/// capacity left, an answer of its to another group is handed on, which is then missing there.
class Rounding {
 public:
  Rounding(const AssignmentRequest& request, const std::vector<double>& shares)
      : request_(request), shape_(request), whole_(shape_.workers * shape_.groups), part_(whole_.size()) {
    left_.assign(request.capacity.begin(), request.capacity.end());
    missing_.assign(shape_.groups, 0);
    for (std::size_t s = 0; s < shape_.groups; ++s) missing_[s] = request.answers_per_task * request.group_tasks[s];
    for (std::size_t j = 0; j < shape_.workers; ++j) {
      for (std::size_t s = 0; s < shape_.groups; ++s) {
        const double exact = shares[j * shape_.groups + s] * static_cast<double>(request.group_tasks[s]);
        const auto most = std::min({request.group_tasks[s], left_[j], missing_[s]});
        const auto count = std::min(static_cast<std::uint64_t>(exact + 1e-6), most);
        part_[j * shape_.groups + s] = exact - static_cast<double>(count);
        whole_[j * shape_.groups + s] = count;
        left_[j] -= count;
        missing_[s] -= count;
      }
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> fill() {
    for (std::size_t s = 0; s < shape_.groups; ++s) {
      while (missing_[s] > 0) add_one(s);
    }
    return std::move(whole_);
  }

 private:
  [[nodiscard]] bool has_room(std::size_t j, std::size_t s) const {
    return whole_[j * shape_.groups + s] < request_.group_tasks[s];
  }
  /// The worker with capacity and room who was cut most; the number of workers if there is none.
  [[nodiscard]] std::size_t taker(std::size_t s) const {
    std::size_t best = shape_.workers;
    for (std::size_t j = 0; j < shape_.workers; ++j) {
      if (left_[j] == 0 || !has_room(j, s)) continue;
      if (best == shape_.workers || part_[j * shape_.groups + s] > part_[best * shape_.groups + s]) best = j;
    }
    return best;
  }
  void give(std::size_t j, std::size_t s) {
    ++whole_[j * shape_.groups + s];
    part_[j * shape_.groups + s] -= 1;
  }
  /// One answer more in the group, along the shortest chain of workers who change groups.
  void add_one(std::size_t group) {
    struct Link {
      std::size_t from, worker;  // the worker who gives up `here` for `from`
    };
    std::vector<Link> link(shape_.groups, {shape_.groups, shape_.workers});
    std::vector<char> seen(shape_.groups, 0);
    std::queue<std::size_t> open;
    open.push(group);
    seen[group] = 1;
    for (; !open.empty(); open.pop()) {
      std::size_t here = open.front();
      if (const std::size_t j = taker(here); j < shape_.workers) {
        give(j, here);
        --left_[j];
        for (; here != group; here = link[here].from) {
          const std::size_t worker = link[here].worker;
          --whole_[worker * shape_.groups + here];
          part_[worker * shape_.groups + here] += 1;
          give(worker, link[here].from);
        }
        --missing_[group];
        return;
      }
      for (std::size_t j = 0; j < shape_.workers; ++j) {
        if (!has_room(j, here)) continue;
        for (std::size_t s = 0; s < shape_.groups; ++s) {
          if (seen[s] != 0 || whole_[j * shape_.groups + s] == 0) continue;
          seen[s] = 1;
          link[s] = {here, j};
          open.push(s);
        }
      }
    }
    throw Error(ErrorCode::internal, "an assignment could not be rounded to whole answers");
  }

  const AssignmentRequest& request_;
  Shape shape_;
  std::vector<std::uint64_t> whole_;
  std::vector<double> part_;
  std::vector<std::uint64_t> left_, missing_;
};

void judge(const AssignmentRequest& request, AssignmentPlan& plan) {
  const Shape shape(request);
  double right = 0, all = 0, low = 1, high = 0;
  for (std::size_t s = 0; s < shape.groups; ++s) {
    double of_group = 0;
    for (std::size_t j = 0; j < shape.workers; ++j) {
      of_group += request.accuracy[j * shape.groups + s] * static_cast<double>(plan.answers[j * shape.groups + s]);
    }
    const double answers = static_cast<double>(request.answers_per_task * request.group_tasks[s]);
    right += of_group;
    all += answers;
    plan.group_accuracy.push_back(answers > 0 ? of_group / answers : kNaN);
    if (answers == 0) continue;
    low = std::min(low, plan.group_accuracy.back());
    high = std::max(high, plan.group_accuracy.back());
  }
  plan.accuracy = right / all;
  plan.gap = std::max(0.0, high - low);
}

LinearSolution solved(const LinearProgram& program, std::size_t workers) {
  if (fairness::tableau_cells(program) > kMostTableauCells) {
    throw Error(ErrorCode::unsupported,
                fmt::format("an assignment of {} workers whose capacities are limited is too large a linear program: "
                            "leave some workers out, or lift the capacities",
                            workers));
  }
  LinearSolution solution = fairness::solve(program);
  if (solution.kind == LinearSolution::Kind::stopped || solution.kind == LinearSolution::Kind::unbounded) {
    throw Error(ErrorCode::internal, "the linear program of an assignment could not be solved");
  }
  return solution;
}

/// Why even without a limit on the gap there is no assignment.
std::string why_too_little(const AssignmentRequest& request) {
  const Shape shape(request);
  const auto needed = request.answers_per_task * static_cast<std::uint64_t>(shape.tasks);
  const auto able = std::accumulate(request.capacity.begin(), request.capacity.end(), std::uint64_t{0});
  const auto willing = std::count_if(request.capacity.begin(), request.capacity.end(), [](auto c) { return c > 0; });
  if (able < needed) {
    return fmt::format(
        "{} answers are needed, but the workers can give {} in all: ask for fewer answers per task, or "
        "raise the capacities",
        needed, able);
  }
  if (request.answers_per_task > static_cast<std::uint64_t>(willing)) {
    return fmt::format("each task needs {} different workers, but there are {}", request.answers_per_task, willing);
  }
  return "the capacities are too uneven for that many different workers per task: ask for fewer answers per task, or "
         "raise the capacities";
}

}  // namespace

AssignmentPlan plan_assignment(const AssignmentRequest& request, const RunContext&) {
  check(request);
  const Shape shape(request);
  AssignmentPlan plan;
  plan.smallest_gap = kNaN;
  if (shape.tasks == 0) {
    plan.reason = "there is no task to be assigned";
    return plan;
  }
  const LinearProgram base = capacities_and_demands(request);
  LinearProgram program = base;
  if (std::isfinite(request.limit) && request.limit < 1) add_gap_rows(request, request.limit, false, program);
  LinearSolution solution = solved(program, shape.workers);
  if (solution.kind == LinearSolution::Kind::infeasible) {
    LinearProgram closest = base;
    std::fill(closest.objective.begin(), closest.objective.end(), 0.0);
    const std::uint32_t gap = add_gap_rows(request, 0, true, closest);
    closest.objective[gap] = -1;
    const LinearSolution smallest = solved(closest, shape.workers);
    if (smallest.kind == LinearSolution::Kind::infeasible) {
      plan.reason = why_too_little(request);
    } else {
      plan.smallest_gap = smallest.x[gap];
      plan.reason = fmt::format("a gap of {:.4g} cannot be kept: the smallest that these workers can have is {:.4g}",
                                request.limit, plan.smallest_gap);
    }
    return plan;
  }
  plan.feasible = true;
  plan.answers = Rounding(request, solution.x).fill();
  judge(request, plan);
  return plan;
}

std::vector<AssignedAnswer> hand_out(const AssignmentPlan& plan, std::span<const GroupId> groups,
                                     std::size_t group_count, const RunContext& context) {
  std::vector<std::vector<std::uint32_t>> tasks(group_count);
  for (std::size_t t = 0; t < groups.size(); ++t) {
    if (groups[t] != kNoGroup) tasks[index(groups[t])].push_back(static_cast<std::uint32_t>(t));
  }
  const std::size_t workers = group_count == 0 ? 0 : plan.answers.size() / group_count;
  std::vector<AssignedAnswer> handed;
  for (std::size_t s = 0; s < group_count; ++s) {
    Rng rng = context.rng("fairness hand out", s);
    rng.shuffle(std::span(tasks[s]));
    std::vector<std::uint32_t> order(workers);
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span(order));
    // Round and round the tasks: nobody has more answers than there are tasks, so nobody meets one twice.
    std::size_t at = 0;
    for (const std::uint32_t j : order) {
      for (std::uint64_t n = plan.answers[j * group_count + s]; n > 0; --n, ++at) {
        handed.push_back({tasks[s][at % tasks[s].size()], WorkerId{j}});
      }
    }
  }
  std::sort(handed.begin(), handed.end(), [](const AssignedAnswer& a, const AssignedAnswer& b) {
    return a.task != b.task ? a.task < b.task : a.worker < b.worker;
  });
  return handed;
}

}  // namespace wisecrowd
