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
#include "simulate/world.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

// What each kind offers. The namespaces end in _crowd because some aggregation methods bear the same names.
#define WISECROWD_SIMULATION(kind)           \
  namespace kind##_crowd {                   \
    SimulationInfo info();                   \
    Crowd draw(const CrowdRequest& request); \
  }
// A protocol also has a size of its own, and may say what the tasks are like before workers are drawn.
#define WISECROWD_PROTOCOL(kind)                               \
  WISECROWD_SIMULATION(kind)                                   \
  namespace kind##_crowd {                                     \
    SimulationSize default_size(const Parameters& parameters); \
    void prepare(const CrowdRequest& request, World& world);   \
  }
#include "simulate/kinds.def"
#undef WISECROWD_PROTOCOL
#undef WISECROWD_SIMULATION

namespace {

constexpr std::size_t kTasksPerBlock = 8192;
constexpr std::size_t kMostAnswers = 0xFFFFFFFE;
/// 4 GiB of confusion tables.
constexpr std::size_t kMostTableCells = std::size_t{1} << 29;

struct Entry {
  std::string_view name;
  SimulationInfo (*info)();
  Crowd (*draw)(const CrowdRequest&);
  SimulationSize (*default_size)(const Parameters&);  // or null
  void (*prepare)(const CrowdRequest&, World&);       // or null
};

constexpr std::array kEntries = {
#define WISECROWD_SIMULATION(kind) Entry{#kind, &kind##_crowd::info, &kind##_crowd::draw, nullptr, nullptr},
#define WISECROWD_PROTOCOL(kind) \
  Entry{#kind, &kind##_crowd::info, &kind##_crowd::draw, &kind##_crowd::default_size, &kind##_crowd::prepare},
#include "simulate/kinds.def"
#undef WISECROWD_PROTOCOL
#undef WISECROWD_SIMULATION
};

const Entry& entry_of(std::string_view kind) {
  static_cast<void>(simulation_kind(kind));  // throws for an unknown name
  return *std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& e) { return e.name == kind; });
}

void check(const SimulationSize& size) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::bad_parameter, message); };
  if (size.tasks == 0) refuse("a simulation needs at least one task");
  if (size.workers == 0) refuse("a simulation needs at least one worker");
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

CategoryAnswerNames make_names(const World& world, std::size_t workers, const TaskOptions& options) {
  CategoryAnswerNames names;
  names.workers = numbered_names("worker_", 6, workers);
  if (options.given != nullptr) {
    names.tasks = options.given->names;
    names.classes = options.given->classes;
    return names;
  }
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < world.classes; ++k) classes.push_back(std::to_string(k));
  names.tasks = numbered_names("task_", 8, world.tasks);
  names.classes = NameTable(classes);
  return names;
}

[[noreturn]] void refuse_answers(double answers) {
  throw Error(ErrorCode::unsupported,
              fmt::format("{:.0f} answers are more than the {} that one data set can hold: take "
                          "fewer tasks, workers or answers per task",
                          answers, kMostAnswers));
}

/// Who answers which task: fills offsets over all tasks of the world and the workers of those in `tasks`.
bool assign(const SimulationSize& whole, const Parameters& parameters, const RunContext& context,
            std::span<const std::uint32_t> tasks, TaskPart part, std::size_t everywhere,
            AnswerGraph::Storage& storage) {
  SimulationSize size = whole;
  size.tasks = tasks.size();
  ChanceAssignment assigned;
  const std::string& choice = parameters.choice("assignment");
  if (choice == "bernoulli") {
    const double keep = parameters.real("keep");
    const auto workers = static_cast<double>(size.workers);
    const double probability = keep > 0 ? keep : static_cast<double>(size.answers_per_task) / workers;
    if (probability * workers * static_cast<double>(size.tasks) > static_cast<double>(kMostAnswers)) {
      refuse_answers(probability * workers * static_cast<double>(size.tasks));
    }
    if (!assign_by_chance(size, probability, context, assigned, part)) return false;
  } else {
    assigned.workers.resize(size.tasks * size.answers_per_task);
    assigned.counts.assign(size.tasks, static_cast<std::uint32_t>(size.answers_per_task));
    const std::span workers(assigned.workers);
    const bool done = choice == "uniform" ? assign_uniformly(size, context, workers, part)
                      : choice == "power_law"
                          ? assign_by_power_law(size, parameters.real("activity_exponent"), context, workers, part)
                          : assign_regularly(size, context, workers, part);
    if (!done) return false;
  }
  const std::size_t answers = assigned.workers.size() + size.tasks * everywhere;
  if (answers > kMostAnswers) refuse_answers(static_cast<double>(answers));
  // Tasks come in order and workers sorted within each: the arrays can be filled as they will stay.
  std::size_t next = 0;
  std::size_t offset = 0;
  for (std::size_t t = 0; t + 1 < storage.task_offsets.size(); ++t) {
    storage.task_offsets[t] = static_cast<AnswerIndex>(offset);
    if (next < tasks.size() && tasks[next] == t) offset += assigned.counts[next++] + everywhere;
  }
  storage.task_offsets.back() = static_cast<AnswerIndex>(offset);
  if (everywhere == 0) {
    storage.workers = std::move(assigned.workers);
    return true;
  }
  storage.workers.resize(answers);
  auto from = assigned.workers.begin();
  auto to = storage.workers.begin();
  for (const std::uint32_t count : assigned.counts) {
    to = std::copy_n(from, count, to);
    from += count;
    for (std::size_t w = 0; w < everywhere; ++w) *to++ = WorkerId{static_cast<std::uint32_t>(size.workers + w)};
  }
  return true;
}

/// Per answer, whether its worker has changed by then. Empty where nobody does.
std::vector<bool> changed_answers(const Crowd& crowd, const AnswerGraph::Storage& storage) {
  std::vector<bool> changed;
  if (crowd.change.empty()) return changed;
  changed.reserve(storage.workers.size());
  std::vector<std::uint64_t> given(crowd.change.size(), 0);
  for (const WorkerId w : storage.workers) changed.push_back(given[index(w)]++ >= crowd.change[index(w)]);
  return changed;
}

/// Where workers change, their tables become what one of their answers follows, whenever it was given.
void average_over_time(const AnswerGraph& answers, Crowd& crowd) {
  if (crowd.change.empty()) return;
  std::vector<std::uint64_t> given(crowd.change.size(), 0);
  for (const WorkerId w : answers.workers()) ++given[index(w)];
  const std::size_t cells = crowd.confusion.size() / given.size();
  for (std::size_t c = 0; c < crowd.confusion.size(); ++c) {
    const std::size_t w = c / cells;
    if (given[w] <= crowd.change[w]) continue;
    const double before = static_cast<double>(crowd.change[w]) / static_cast<double>(given[w]);
    crowd.confusion[c] = before * crowd.confusion[c] + (1 - before) * crowd.changed[c];
  }
}

/// Draws what the workers of every task say, and how reliable they are where that depends on the task. False when
/// cancelled.
bool answer(const Crowd& crowd, const World& world, const RunContext& context, const AnswerGraph::Storage& storage,
            HugeVector<ClassId>& labels, std::vector<float>& reliability) {
  const PairDraws draws(context.rng("simulate answers"));
  const std::span confusion(crowd.confusion), later(crowd.changed);
  const std::vector<bool> changed = changed_answers(crowd, storage);
  const std::size_t classes = world.classes;
  labels.resize(storage.workers.size());
  if (crowd.reliability) reliability.resize(storage.workers.size());
  const Blocks blocks{world.tasks, kTasksPerBlock};
  std::atomic<std::size_t> done{0};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned thread) {
    if (context.cancelled()) return;
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      const std::size_t truth = index(world.truth[t]);
      for (std::size_t a = storage.task_offsets[t]; a < storage.task_offsets[t + 1]; ++a) {
        const std::size_t worker = index(storage.workers[a]);
        const auto row =
            (!changed.empty() && changed[a] ? later : confusion).subspan((worker * classes + truth) * classes, classes);
        const std::size_t label = crowd.answer ? crowd.answer(t, truth, worker) : pick(row, draws(t, worker));
        labels[a] = ClassId{static_cast<std::uint16_t>(label)};
        if (crowd.reliability) reliability[a] = static_cast<float>(crowd.reliability(t, worker));
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

SimulationSize default_simulation_size(std::string_view kind, const Parameters& parameters) {
  const Entry& entry = entry_of(kind);
  return entry.default_size == nullptr ? SimulationSize() : entry.default_size(parameters);
}

Simulation simulate(std::string_view kind, const SimulationSize& asked, const Parameters& parameters,
                    const RunContext& context, const TaskOptions& options) {
  const Entry& entry = entry_of(kind);
  SimulationSize size = asked;
  if (options.given != nullptr) {
    size.tasks = options.given->truth.size();
    size.classes = options.given->classes.size();
  }
  check(size);
  World world = start_world(size, options);
  if (parameters.choice("assignment") == "regular") {
    SimulationSize train = size;
    train.tasks = world.train.size();
    check_regular(train);
  }

  Simulation simulation;
  simulation.kind = kind;
  simulation.size = size;
  simulation.parameters.assign(parameters.all().begin(), parameters.all().end());
  simulation.gaussian_separation = options.gaussian_separation;
  simulation.seed = context.seed();
  const auto cancelled = [&] {
    simulation.status = Status::cancelled;
    return simulation;
  };

  const CrowdRequest request{size, parameters, context.rng("simulate workers"), world, context};
  if (entry.prepare != nullptr) entry.prepare(request, world);
  if (context.cancelled() || !finish_world(parameters, options, context, world)) return cancelled();
  Crowd crowd = entry.draw(request);
  if (context.cancelled()) return cancelled();

  const auto answers_of = [&](std::span<const std::uint32_t> tasks, TaskPart part, std::vector<float>& reliability,
                              CategoryAnswers& answers) {
    auto storage = std::make_shared<AnswerGraph::Storage>();
    auto column = std::make_shared<CategoryAnswers::Column>();
    storage->task_offsets.resize(world.tasks + 1);
    if (!assign(size, parameters, context, tasks, part, crowd.everywhere, *storage)) return false;
    if (!answer(crowd, world, context, *storage, column->labels, reliability)) return false;
    CategoryAnswerNames names = make_names(world, crowd.kinds.size(), options);
    storage->task_names = std::move(names.tasks);
    storage->worker_names = std::move(names.workers);
    column->classes = ColumnNames(std::move(names.classes));
    column->classes.ordered = crowd.ordered;
    answers = CategoryAnswers(AnswerGraph(std::move(storage)), std::move(column));
    return true;
  };
  CategoryAnswers answers;
  std::vector<float> reliability;
  if (!answers_of(world.train, TaskPart::train, reliability, answers)) return cancelled();
  if (!world.held_out.empty() &&
      !answers_of(world.held_out, TaskPart::held_out, simulation.held_out_reliability, simulation.held_out)) {
    return cancelled();
  }
  average_over_time(answers, crowd);
  simulation.data.answers = std::move(answers);
  simulation.reliability = std::move(reliability);
  simulation.data.gold = std::move(world.truth);
  simulation.class_prior = std::move(world.class_prior);
  simulation.features = std::move(world.drawn_features);
  simulation.feature_columns = simulation.features.empty() ? 0 : world.feature_columns;
  simulation.in_order = !crowd.change.empty();
  simulation.confusion = std::move(crowd.confusion);
  simulation.worker_kind = std::move(crowd.kinds);
  simulation.expertise = std::move(crowd.expertise);
  simulation.groups = std::move(crowd.groups);
  if (options.given != nullptr) {
    simulation.splits = options.given->splits;
  } else if (!world.held_out.empty() || !simulation.features.empty()) {
    simulation.splits.assign(world.tasks, Split::train);
    for (const std::uint32_t t : world.held_out) simulation.splits[t] = Split::test;
  }
  return simulation;
}

}  // namespace wisecrowd
