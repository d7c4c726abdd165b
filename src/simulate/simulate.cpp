#include "wisecrowd/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>

#include "base/parallel.hpp"
#include "data/build.hpp"
#include "simulate/assignment.hpp"
#include "simulate/class_prior.hpp"
#include "simulate/crowd.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

// What each kind offers. The namespaces end in _crowd because some aggregation methods bear the same names.
#define WISECROWD_SIMULATION(kind)           \
  namespace kind##_crowd {                   \
    SimulationInfo info();                   \
    Crowd draw(const CrowdRequest& request); \
  }
#include "simulate/kinds.def"
#undef WISECROWD_SIMULATION

namespace {

constexpr std::size_t kTasksPerBlock = 8192;
/// 4 GiB of confusion tables.
constexpr std::size_t kMostTableCells = std::size_t{1} << 29;

struct Entry {
  std::string_view name;
  SimulationInfo (*info)();
  Crowd (*draw)(const CrowdRequest&);
};

constexpr std::array kEntries = {
#define WISECROWD_SIMULATION(kind) Entry{#kind, &kind##_crowd::info, &kind##_crowd::draw},
#include "simulate/kinds.def"
#undef WISECROWD_SIMULATION
};

void check(const SimulationSize& size) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::bad_parameter, message); };
  if (size.tasks == 0) refuse("a simulation needs at least one task: give --tasks 1 or more");
  if (size.workers == 0) refuse("a simulation needs at least one worker: give --workers 1 or more");
  if (size.classes < 2) refuse(fmt::format("a simulation needs at least 2 classes, not {}", size.classes));
  if (size.classes > kMaxClasses) {
    refuse(fmt::format("{} classes are more than the {} that labels can name", size.classes, kMaxClasses));
  }
  if (size.answers_per_task == 0) refuse("a simulation needs at least one answer per task");
  if (size.answers_per_task > size.workers) {
    refuse(
        fmt::format("{} answers per task need as many different workers, but there are {}: take more workers or fewer "
                    "answers per task",
                    size.answers_per_task, size.workers));
  }
  // Compared by division: the products themselves may overflow.
  constexpr std::size_t kMostAnswers = 0xFFFFFFFE;
  if (size.tasks > kMostAnswers / size.answers_per_task) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} tasks × {} answers are more than the {} answers that one data set can hold: take fewer",
                            size.tasks, size.answers_per_task, kMostAnswers));
  }
  const std::size_t cells = size.classes * size.classes;
  if (size.workers > kMostTableCells / cells) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("confusion tables of {} workers × {}² classes need {:.1f} GB; at most 4 are allowed: take fewer "
                    "workers or classes",
                    size.workers, size.classes,
                    static_cast<double>(size.workers) * static_cast<double>(cells) * 8 / (1 << 30)));
  }
}

/// prefix + zero-padded number from 1 on.
NameTable numbered_names(std::string_view prefix, std::size_t digits, std::size_t count) {
  std::string characters;
  std::vector<std::uint64_t> offsets;
  characters.reserve(count * (prefix.size() + digits));
  offsets.reserve(count + 1);
  offsets.push_back(0);
  std::array<char, 20> number{};
  for (std::size_t i = 1; i <= count; ++i) {
    const auto end = std::to_chars(number.begin(), number.end(), i).ptr;
    const auto length = static_cast<std::size_t>(end - number.begin());
    characters += prefix;
    if (length < digits) characters.append(digits - length, '0');
    characters.append(number.data(), length);
    offsets.push_back(characters.size());
  }
  return {std::move(characters), std::move(offsets)};
}

AnnotationNames make_names(const SimulationSize& size) {
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < size.classes; ++k) classes.push_back(std::to_string(k));
  return {numbered_names("task_", 8, size.tasks), numbered_names("worker_", 6, size.workers), NameTable(classes)};
}

bool assign(const SimulationSize& size, const Parameters& parameters, const RunContext& context,
            std::span<WorkerId> workers) {
  const std::string& assignment = parameters.choice("assignment");
  if (assignment == "regular") return assign_regularly(size, context, workers);
  if (assignment == "power_law") {
    return assign_by_power_law(size, parameters.real("activity_exponent"), context, workers);
  }
  return assign_uniformly(size, context, workers);
}

/// Draws the truth of every task and what its workers say. False when cancelled.
bool answer(const SimulationSize& size, const Crowd& crowd, std::span<const double> prior, const RunContext& context,
            std::span<const WorkerId> workers, std::span<ClassId> truths, std::span<ClassId> labels) {
  const PairDraws draws(context.rng("simulate answers"));
  const std::span confusion(crowd.confusion);
  const Blocks blocks{size.tasks, kTasksPerBlock};
  std::atomic<std::size_t> done{0};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned thread) {
    if (context.cancelled()) return;
    Rng rng = context.rng("simulate truth", b);
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      const std::size_t truth = pick(prior, rng.uniform());
      truths[t] = ClassId{static_cast<std::uint16_t>(truth)};
      for (std::size_t a = t * size.answers_per_task; a < (t + 1) * size.answers_per_task; ++a) {
        const std::size_t worker = index(workers[a]);
        const std::size_t label =
            crowd.answer ? crowd.answer(t, truth, worker)
                         : pick(confusion.subspan((worker * size.classes + truth) * size.classes, size.classes),
                                draws(t, worker));
        labels[a] = ClassId{static_cast<std::uint16_t>(label)};
      }
    }
    const auto finished = static_cast<double>(++done);
    if (thread == 0) {
      context.report({.stage = "answering", .done = finished, .total = static_cast<double>(blocks.count())});
    }
  });
  return !context.cancelled();
}

}  // namespace

std::span<const SimulationInfo> simulation_kinds() {
  static const std::vector<SimulationInfo> all = [] {
    std::vector<SimulationInfo> infos;
    for (const Entry& entry : kEntries) {
      SimulationInfo info = entry.info();
      info.name = entry.name;
      // Shared by all kinds, unless a kind declares one of its own by the same name.
      for (const auto& shared : {class_prior_parameters(), assignment_parameters()}) {
        bool declared = false;
        for (const auto& own : info.parameters) declared = declared || own.name == shared.front().name;
        if (!declared) info.parameters.insert(info.parameters.end(), shared.begin(), shared.end());
      }
      infos.push_back(std::move(info));
    }
    return infos;
  }();
  return all;
}

const SimulationInfo& simulation_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SimulationInfo& info : simulation_kinds()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no kind of simulation '{}': choose {}", name, fmt::join(names, ", ")));
}

Simulation simulate(std::string_view kind, const SimulationSize& size, const Parameters& parameters,
                    const RunContext& context) {
  static_cast<void>(simulation_kind(kind));  // throws for an unknown name
  check(size);
  if (parameters.choice("assignment") == "regular") check_regular(size);

  Simulation simulation;
  simulation.kind = kind;
  simulation.size = size;
  simulation.parameters.assign(parameters.all().begin(), parameters.all().end());
  simulation.seed = context.seed();
  simulation.class_prior = draw_class_prior(size.classes, parameters, context.rng("simulate class prior"));
  const auto draw_crowd =
      std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& e) { return e.name == kind; })->draw;
  Crowd crowd = draw_crowd({size, parameters, context.rng("simulate workers")});

  // Tasks come in order and workers sorted within each: the arrays can be filled as they will stay.
  auto storage = std::make_shared<Annotations::Storage>();
  const std::size_t answers = size.tasks * size.answers_per_task;
  storage->workers.resize(answers);
  storage->labels.resize(answers);
  storage->task_offsets.resize(size.tasks + 1);
  for (std::size_t t = 0; t <= size.tasks; ++t) {
    storage->task_offsets[t] = static_cast<AnswerIndex>(t * size.answers_per_task);
  }
  std::vector<ClassId> truths(size.tasks);
  if (!assign(size, parameters, context, storage->workers) ||
      !answer(size, crowd, simulation.class_prior, context, storage->workers, truths, storage->labels)) {
    simulation.status = Status::cancelled;
    return simulation;
  }
  storage->names = make_names(size);
  simulation.data.answers = Annotations(std::move(storage));
  simulation.data.gold = std::move(truths);
  simulation.confusion = std::move(crowd.confusion);
  simulation.worker_kind = std::move(crowd.kinds);
  return simulation;
}

}  // namespace wisecrowd
