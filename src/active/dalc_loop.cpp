#include "wisecrowd/dalc_loop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "active/pool.hpp"
#include "active/questions.hpp"
#include "active/summary.hpp"
#include "base/parameter_visitor.hpp"
#include "base/rng.hpp"
#include "wisecrowd/dalc_session.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using dalc_loop::Pool;
using dalc_loop::Score;

struct Options {
  double past = 0.5;
  std::size_t first_answers = 200, round_answers = 200;
  double budget = 1;
  std::size_t first_epochs = 60, epochs = 20;
  std::size_t draws = 20;
  std::size_t refresh = 5;
  dalc_loop::Doubt doubt = dalc_loop::Doubt::entropy;
  bool repeats = true;
  std::size_t diversity = 0, capacity = 0;
  double response = 1, late = 0;
};

using dalc_loop::Doubt;
constexpr auto kUncertaintyNames = enum_names<Doubt>(
    {{Doubt::entropy, "entropy"}, {Doubt::bald, "bald"}, {Doubt::predictive_entropy, "predictive_entropy"}});

void loop_parameters(ParameterVisitor& v, Options& o) {
  v.real("past", o.past, 0.01, 0.99,
         "share of the tasks whose answers are known from the beginning: whom to trust on which tasks "
         "is learned from them, nothing else");
  v.integer("first_answers", o.first_answers, 1, 1e9,
            "random answers to random tasks, one each, that every policy starts from");
  v.integer("round_answers", o.round_answers, 1, 1e9, "answers bought between two trainings");
  v.real("budget", o.budget, 0, 1, "stop when this share of the recorded answers is bought");
  v.integer("first_epochs", o.first_epochs, 1, 1e6, "epochs on the first answers");
  v.integer("round_epochs", o.epochs, 1, 1e6,
            "epochs after each round, from where the network stands; the model with all answers gets as "
            "many in all");
  v.integer("draws", o.draws, 1, 1e6,
            "draws of MC-dropout that say how unsure the network is; fewer than 10 rank badly");
  v.choice("uncertainty", o.doubt, kUncertaintyNames,
           "which tasks are asked about: those that network and answers leave open most; those with most entropy that "
           "more data would remove, for labels that nobody can be sure of; or those that the network alone leaves "
           "open");
  v.integer("refresh", o.refresh, 0, 1e6, "learn again whom to trust after so many rounds; 0: never");
  v.flag("repeats", o.repeats, "ask about a task again while it is unsettled; otherwise once each");
  v.integer("diversity", o.diversity, 0, 1e6,
            "choose tasks that differ from one another among this many times as many unsure ones as "
            "are asked about; 0: the most unsure");
  v.integer("capacity", o.capacity, 0, 1e9, "how often a worker can be asked in one round; 0: any number of times");
  v.real("response", o.response, 0.01, 1,
         "share of the questions that are answered; the others are not paid, and others are asked instead");
  v.real("late", o.late, 0, 0.9,
         "share of the workers and of the tasks that appear only when half of the answers are bought");
}

/// What all policies of a seed have in common.
struct World {
  const LearningData& data;
  const Options& options;
  std::vector<std::uint32_t> test_rows;
  std::vector<ClassId> test_truth;
  std::string stream;  // names the randomness of this seed
  const RunContext& context;
};

Score judge(DalcSession& session, const World& world) {
  return dalc_loop::score(session.predict(world.test_rows), world.test_truth, world.data.crowd.answers.class_count());
}

/// Answers to the next questions. Of those who do not answer others are asked instead, until there are enough answers
/// or nobody is left: what is not answered is not paid.
std::vector<CategoryAnswer> next_answers(const DalcPolicy& policy, Pool& pool, DalcSession& session, const World& world,
                                         std::size_t count, const std::string& stream) {
  const Options& options = world.options;
  const dalc_loop::QuestionOptions choice{.chooses_task = policy.chooses_task,
                                          .chooses_worker = policy.chooses_worker,
                                          .doubt = options.doubt,
                                          .draws = options.draws,
                                          .diversity = options.diversity};
  std::vector<CategoryAnswer> answers;
  for (std::size_t attempt = 0; answers.size() < count; ++attempt) {
    const std::string name = attempt == 0 ? stream : fmt::format("{} again {}", stream, attempt);
    const std::vector<LiveQuestion> questions = dalc_loop::next_questions(
        &session, pool.open_tasks(options.repeats),
        [&](TaskId task, std::vector<WorkerId>& workers) { pool.askable(task, workers); },
        {.count = count - answers.size(), .capacity = options.capacity}, choice, world.data.crowd.answers.class_count(),
        name, world.context);
    if (questions.empty() && !pool.hides()) break;
    if (questions.empty()) pool.show_all();  // nobody else is left
    Rng silence = world.context.rng(name).fork("silence");
    for (const LiveQuestion& question : questions) {
      const bool answered = options.response >= 1 || silence.uniform() < options.response;
      const CategoryAnswer answer = pool.take(question.task, question.worker, answered);
      if (answered) answers.push_back(answer);
    }
  }
  return answers;
}

struct SeedCurve {
  std::vector<std::size_t> answers;
  std::vector<Score> scores;
  std::vector<CategoryAnswer> bought;
};

SeedCurve play(const DalcPolicy& policy, Pool pool, std::unique_ptr<DalcSession> session, const World& world,
               std::size_t bought, std::size_t budget, const std::function<void()>& round_done) {
  const Options& options = world.options;
  SeedCurve curve;
  curve.answers.push_back(bought);
  curve.scores.push_back(judge(*session, world));
  const std::size_t first = bought;
  for (std::size_t round = 1; bought < budget && !world.context.cancelled(); ++round) {
    if (2 * (bought - first) >= budget - first) pool.show_all();
    const std::string stream = fmt::format("{} round {}", world.stream, round);
    const std::vector<CategoryAnswer> answers =
        next_answers(policy, pool, *session, world, std::min(options.round_answers, budget - bought), stream);
    if (answers.empty()) break;
    curve.bought.insert(curve.bought.end(), answers.begin(), answers.end());
    session->add(answers);
    session->train(options.epochs, stream);
    if (options.refresh > 0 && round % options.refresh == 0) session->refresh_reliability();
    bought += answers.size();
    curve.answers.push_back(bought);
    curve.scores.push_back(judge(*session, world));
    round_done();
  }
  return curve;
}

/// The rows that policies are judged on.
void find_test_rows(std::span<const ClassId> row_truth, World& world) {
  for (std::size_t row = 0; row < world.data.features.rows && row < row_truth.size(); ++row) {
    if (world.data.split[row] != Split::test || row_truth[row] == kNoClass) continue;
    world.test_rows.push_back(static_cast<std::uint32_t>(row));
    world.test_truth.push_back(row_truth[row]);
  }
  if (world.test_rows.empty()) {
    throw Error(ErrorCode::bad_input,
                "the loop is judged on rows of the split test whose truth is known, and there are none: give gold for "
                "them, and a table of tasks with a column split");
  }
}

/// Tasks to train on that have features and answers.
std::vector<TaskId> tasks_to_play(const LearningData& data) {
  const CategoryAnswers& recorded = data.crowd.answers;
  std::vector<TaskId> tasks;
  for (std::size_t t = 0; t < recorded.task_count(); ++t) {
    const std::uint32_t row = data.row_of_task[t];
    if (row == kNoRow || data.split[row] != Split::train || recorded.workers_of(TaskId(t)).empty()) continue;
    tasks.push_back(TaskId(t));
  }
  return tasks;
}

/// How many of the tasks belong to the past.
std::size_t past_of(std::span<const TaskId> tasks, const Options& options) {
  const auto past = static_cast<std::size_t>(std::lround(options.past * static_cast<double>(tasks.size())));
  if (past == 0 || tasks.size() - past < options.first_answers) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} tasks with features and answers are too few for a past of {} and {} first answers",
                            tasks.size(), past, options.first_answers));
  }
  return past;
}

/// The bar: the model with every answer of the pool. It gets as many epochs as a policy that buys everything, so that
/// the bar is not low for want of training.
Score score_with_all_answers(const DalcSession& session, const Pool& pool, const World& world) {
  const Options& options = world.options;
  std::unique_ptr<DalcSession> reference = session.clone();
  reference->add(pool.rest());
  reference->train(options.first_epochs, world.stream + " all");
  const std::size_t rounds =
      (pool.answers_left() - options.first_answers + options.round_answers - 1) / options.round_answers;
  for (std::size_t round = 1; round <= rounds && !world.context.cancelled(); ++round) {
    reference->train(options.epochs, fmt::format("{} all {}", world.stream, round));
    if (options.refresh > 0 && round % options.refresh == 0) reference->refresh_reliability();
  }
  return judge(*reference, world);
}

/// Who and what is unknown at first, and the data without what these workers said of the past.
struct Latecomers {
  std::vector<bool> workers, tasks;
  LearningData before;
  std::vector<std::uint32_t> known_rows;
};

Latecomers latecomers(const LearningData& data, std::span<const TaskId> pool, double share, Rng rng) {
  const CategoryAnswers& answers = data.crowd.answers;
  Latecomers late{
      std::vector<bool>(answers.worker_count(), false), std::vector<bool>(answers.task_count(), false), data, {}};
  for (std::size_t j = 0; j < late.workers.size(); ++j) late.workers[j] = rng.bernoulli(share);
  std::vector<bool> late_row(data.features.rows, false);
  for (const TaskId task : pool) {
    late.tasks[index(task)] = rng.bernoulli(share);
    late_row[data.row_of_task[index(task)]] = late.tasks[index(task)];
  }
  for (std::uint32_t row = 0; row < data.features.rows; ++row) {
    if (data.split[row] == Split::train && !late_row[row]) late.known_rows.push_back(row);
  }
  std::vector<CategoryAnswer> kept;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) {
      if (!late.workers[index(workers[a])]) kept.push_back({TaskId(t), workers[a], labels[a]});
    }
  }
  late.before.crowd.answers = make_category_answers(
      kept, {answers.task_names(), answers.worker_names(), answers.class_names()}, DuplicatePolicy::repeat);
  return late;
}

/// One curve per policy. Seeds differ a little in how many answers there are: what all have stays.
void add_seed(std::span<const SeedCurve> curves, DalcLoop& result) {
  for (std::size_t p = 0; p < curves.size(); ++p) {
    const SeedCurve& curve = curves[p];
    if (result.seeds == 0 && p == 0) result.answers = curve.answers;
    std::size_t common = 0;
    while (common < std::min(result.answers.size(), curve.answers.size()) &&
           result.answers[common] == curve.answers[common]) {
      ++common;
    }
    result.answers.resize(common);
    auto& accuracy = result.curves[p].accuracy.emplace_back();
    auto& auc = result.curves[p].auc.emplace_back();
    result.curves[p].bought.push_back(curve.bought);
    for (const Score& score : curve.scores) {
      accuracy.push_back(score.accuracy);
      auc.push_back(score.auc);
    }
  }
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::span<const DalcPolicy> dalc_policies() {
  static const std::array<DalcPolicy, 4> policies = {
      {{"rd", false, false}, {"ac", false, true}, {"ad", true, false}, {"dalc", true, true}}};
  return policies;
}

const DalcPolicy& dalc_policy(const std::string& name) {
  for (const DalcPolicy& policy : dalc_policies()) {
    if (policy.name == name) return policy;
  }
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no policy '{}' of the DALC loop: choose rd (neither task nor worker is chosen), ac "
                          "(the worker is), ad (the task is) or dalc (both are)",
                          name));
}

std::vector<ParameterSpec> dalc_loop_parameters() { return declare_parameters(loop_parameters); }

DalcLoop play_dalc_loop(const LearningData& data, std::span<const ClassId> row_truth, const Parameters& parameters,
                        const Parameters& model, const NetworkSpec& network, std::span<const std::string> policies,
                        std::size_t seeds, const RunContext& context) {
  const Options options = read_parameters(loop_parameters, parameters);
  World world{data, options, {}, {}, {}, context};
  find_test_rows(row_truth, world);
  const std::vector<TaskId> tasks = tasks_to_play(data);
  const std::size_t past_count = past_of(tasks, options);

  DalcLoop result;
  result.past_tasks = past_count;
  result.pool_tasks = tasks.size() - past_count;
  result.test_rows = world.test_rows.size();
  std::vector<const DalcPolicy*> played;
  for (const std::string& name : policies) {
    played.push_back(&dalc_policy(name));
    result.curves.push_back({.policy = name});
  }
  double rounds_done = 0;
  for (std::size_t seed = 0; seed < seeds && !context.cancelled(); ++seed) {
    world.stream = fmt::format("dalc loop {}", seed);
    std::vector<TaskId> order = tasks;
    context.rng(world.stream).fork("past").shuffle(std::span(order));
    const auto past = std::span<const TaskId>(order).first(past_count);
    const auto asked = std::span<const TaskId>(order).subspan(past_count);
    Pool pool(data.crowd.answers, asked, data.row_of_task);
    const std::size_t all = pool.answers_left();
    const auto budget = static_cast<std::size_t>(std::lround(options.budget * static_cast<double>(all)));

    std::unique_ptr<DalcSession> session = make_dalc_session(data, past, model, network, world.stream, context);
    const Score reached = score_with_all_answers(*session, pool, world);
    Latecomers late;
    if (options.late > 0) {
      late = latecomers(data, asked, options.late, context.rng(world.stream).fork("late"));
      session = make_dalc_session(late.before, past, model, network, world.stream, context, late.known_rows);
      pool.hide(late.workers, late.tasks);
    }
    const std::vector<CategoryAnswer> first =
        next_answers(dalc_policies().front(), pool, *session, world, options.first_answers, world.stream + " first");
    session->add(first);
    session->train(options.first_epochs, world.stream + " first");
    const double rounds = std::ceil(static_cast<double>(budget - std::min(budget, first.size())) /
                                    static_cast<double>(options.round_answers));
    std::vector<SeedCurve> curves;
    for (const DalcPolicy* const policy : played) {
      curves.push_back(play(*policy, pool, session->clone(), world, first.size(), budget, [&] {
        rounds_done += 1;
        context.report(
            {.stage = "asking", .done = rounds_done, .total = rounds * static_cast<double>(played.size() * seeds)});
      }));
    }
    if (context.cancelled()) break;  // only whole seeds count
    add_seed(curves, result);
    result.reference_accuracy.push_back(reached.accuracy);
    result.reference_auc.push_back(reached.auc);
    result.all_answers += static_cast<double>(all);
    ++result.seeds;
  }
  result.all_answers = result.seeds > 0 ? result.all_answers / static_cast<double>(result.seeds) : kNaN;
  result.status = context.cancelled() ? Status::cancelled : Status::converged;
  dalc_loop::summarise(result, context.rng("dalc loop bootstrap"));
  return result;
}

}  // namespace wisecrowd
