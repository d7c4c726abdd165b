#include "wisecrowd/live_loop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "active/questions.hpp"
#include "base/parameter_visitor.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using dalc_loop::Doubt;
using dalc_loop::QuestionOptions;

/// Names what is random, as the first seed of a replay does: the same answers give the same questions in both.
constexpr const char* kStream = "dalc loop 0";

struct Options {
  std::size_t first_answers = 100, first_epochs = 60, epochs = 20;
  std::size_t draws = 20, refresh = 5, diversity = 0, capacity = 0;
  bool repeats = true, train_on_past = true;
  double timeout = 24;
};

void loop_parameters(ParameterVisitor& v, Options& o) {
  v.integer("first_answers", o.first_answers, 1, 1e9,
            "until there are so many answers to tasks with features, questions are drawn by chance");
  v.integer("first_epochs", o.first_epochs, 1, 1e6, "epochs of the first training");
  v.integer("round_epochs", o.epochs, 1, 1e6, "epochs when new answers came, from where the network stands");
  v.integer("draws", o.draws, 1, 1e6,
            "draws of MC-dropout that say how unsure the network is; fewer than 10 rank badly");
  v.integer("refresh", o.refresh, 0, 1e6, "learn again whom to trust after so many trainings; 0: never");
  v.flag("repeats", o.repeats, "ask about a task again while it is unsettled; otherwise once each");
  v.integer("diversity", o.diversity, 0, 1e6,
            "choose tasks that differ from one another among this many times as many unsure ones as are asked about; "
            "0: the most unsure");
  v.integer("capacity", o.capacity, 0, 1e9, "how often a worker is asked in one round at most; 0: any number of times");
  v.real("timeout", o.timeout, 0, 1e9,
         "hours after which a question without an answer is given up: it is refunded, and others are asked; 0: never");
  v.flag("train_on_past", o.train_on_past,
         "the network learns from the answers that were there before the loop began, too; otherwise they only tell "
         "whom to trust");
}

/// The crowd by names.
struct Places {
  std::unordered_map<std::string_view, std::uint32_t> tasks, workers;

  explicit Places(const CategoryAnswers& answers) {
    for (std::uint32_t t = 0; t < answers.task_count(); ++t) tasks.emplace(answers.task_names()[t], t);
    for (std::uint32_t j = 0; j < answers.worker_count(); ++j) workers.emplace(answers.worker_names()[j], j);
  }
};

std::uint64_t pair_of(TaskId task, WorkerId worker) {
  return (std::uint64_t{static_cast<std::uint32_t>(index(task))} << 32U) | static_cast<std::uint32_t>(index(worker));
}

std::vector<CategoryAnswer> answers_with_features(const LearningData& data) {
  std::vector<CategoryAnswer> list;
  const CategoryAnswers& answers = data.crowd.answers;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const std::uint32_t row = data.row_of_task[t];
    if (row == kNoRow || data.split[row] != Split::train) continue;
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) list.push_back({TaskId(t), workers[a], labels[a]});
  }
  return list;
}

/// A number that changes with the answers, and with nothing else.
std::uint64_t fingerprint(const std::vector<CategoryAnswer>& answers, const CategoryAnswers& names) {
  std::uint64_t sum = 0;
  for (const CategoryAnswer& answer : answers) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const auto mix = [&](std::string_view text) {
      for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
      hash = (hash ^ 0xFFU) * 0x100000001b3ULL;
    };
    mix(names.task_names()[index(answer.task)]);
    mix(names.worker_names()[index(answer.worker)]);
    mix(names.class_names()[index(answer.label)]);
    sum += hash * 0x9E3779B97F4A7C15ULL;
  }
  return sum;
}

/// The memory's session with tasks and workers by the numbers of the data.
DalcMemory by_numbers(const LiveMemory& memory, const Places& places, std::size_t workers) {
  DalcMemory session = memory.session;
  const auto lost = [](std::string_view what, const std::string& name) {
    return Error(
        ErrorCode::bad_input,
        fmt::format("the loop has learned from {} '{}', which is not there any more: begin a new loop", what, name));
  };
  for (CategoryAnswer& answer : session.past) {
    const std::string& task = memory.tasks.at(index(answer.task));
    const std::string& worker = memory.workers.at(index(answer.worker));
    const auto t = places.tasks.find(task);
    const auto j = places.workers.find(worker);
    if (t == places.tasks.end()) throw lost("task", task);
    if (j == places.workers.end()) throw lost("worker", worker);
    answer.task = TaskId(t->second);
    answer.worker = WorkerId(j->second);
  }
  std::vector<std::size_t> from(workers, memory.workers.size());  // where each worker stood
  for (std::size_t j = 0; j < memory.workers.size(); ++j) {
    const auto at = places.workers.find(memory.workers[j]);
    if (at != places.workers.end()) from[at->second] = j;
  }
  session.own.clear();
  session.own_columns.clear();
  session.own_offset.assign(1, 0);
  for (std::size_t j = 0; j < workers; ++j) {
    if (from[j] < memory.workers.size()) {
      const std::uint64_t begin = memory.session.own_offset[from[j]], end = memory.session.own_offset[from[j] + 1];
      for (std::uint64_t i = begin; i < end; ++i) {
        session.own.push_back(memory.session.own[i]);
        if (!memory.session.own_columns.empty()) session.own_columns.push_back(memory.session.own_columns[i]);
      }
    }
    session.own_offset.push_back(session.own.size());
  }
  return session;
}

void remember(DalcSession& session, const CategoryAnswers& answers, LiveMemory& memory) {
  memory.session = session.memory();
  memory.tasks.clear();
  memory.workers.clear();
  for (std::size_t t = 0; t < answers.task_count(); ++t) memory.tasks.emplace_back(answers.task_names()[t]);
  for (std::size_t j = 0; j < answers.worker_count(); ++j) memory.workers.emplace_back(answers.worker_names()[j]);
}

class Round {
 public:
  Round(const LearningData& data, LiveMemory& memory, const LiveRequest& request, const RunContext& context)
      : data_(data),
        memory_(memory),
        request_(request),
        context_(context),
        options_(read_parameters(loop_parameters, memory.settings.loop)),
        places_(data.crowd.answers),
        answers_(answers_with_features(data)) {}

  LiveRound run() {
    settle_pending();
    learn();
    if (context_.cancelled()) return std::move(round_);
    ask();
    return std::move(round_);
  }

 private:
  /// Questions that were answered leave the list; those that wait too long are given up.
  void settle_pending() {
    std::unordered_set<std::uint64_t> answered;
    const CategoryAnswers& all = data_.crowd.answers;
    for (std::size_t t = 0; t < all.task_count(); ++t) {
      for (const WorkerId worker : all.workers_of(TaskId(t))) answered.insert(pair_of(TaskId(t), worker));
    }
    const auto limit = static_cast<std::int64_t>(options_.timeout * 3600);
    std::vector<PendingQuestion> left;
    for (PendingQuestion& question : memory_.pending) {
      const auto t = places_.tasks.find(question.task);
      const auto j = places_.workers.find(question.worker);
      const bool known = t != places_.tasks.end() && j != places_.workers.end();
      if (known && answered.contains(pair_of(TaskId(t->second), WorkerId(j->second)))) {
        if (question.given_up) memory_.spent += question.cost;  // it came after all
        ++memory_.answered;
        ++round_.new_answers;
        continue;
      }
      if (!question.given_up && options_.timeout > 0 && request_.now - question.asked_at >= limit) {
        question.given_up = true;
        ++memory_.given_up;
        ++round_.given_up;
        memory_.spent -= question.cost;
        memory_.refunded += question.cost;
        round_.refunded += question.cost;
      }
      if (!question.given_up) ++round_.waiting;
      if (known) unanswered_.insert(pair_of(TaskId(t->second), WorkerId(j->second)));
      if (known && !question.given_up) ++waiting_[t->second];
      left.push_back(std::move(question));
    }
    memory_.pending = std::move(left);
    answered_ = std::move(answered);
  }

  void learn() {
    if (!memory_.began && answers_.size() < options_.first_answers) {
      round_.by_chance = true;
      return;
    }
    const std::uint64_t seen = fingerprint(answers_, data_.crowd.answers);
    if (!memory_.began) {
      begin();
    } else {
      session_ = resume_dalc_session(data_, by_numbers(memory_, places_, data_.crowd.answers.worker_count()),
                                     memory_.settings.model, memory_.settings.network, context_);
      session_->add(added());
      if (seen != memory_.answers_seen) train();
    }
    memory_.answers_seen = seen;
    remember(*session_, data_.crowd.answers, memory_);
  }

  /// Whom to trust is learned from what is there.
  void begin() {
    std::vector<TaskId> past;
    for (const CategoryAnswer& answer : answers_) {
      if (past.empty() || past.back() != answer.task) past.push_back(answer.task);
    }
    session_ = make_dalc_session(data_, past, memory_.settings.model, memory_.settings.network, kStream, context_);
    memory_.began = true;
    memory_.round = 0;
    if (options_.train_on_past) {
      session_->add(answers_);
      train();
    } else {
      round_.by_chance = true;
    }
  }

  void train() {
    if (memory_.round == 0) {
      session_->train(options_.first_epochs, std::string(kStream) + " first");
    } else {
      session_->train(options_.epochs, stream());
      if (options_.refresh > 0 && memory_.round % options_.refresh == 0) session_->refresh_reliability();
    }
    ++memory_.round;
    memory_.asked_in_round = 0;
    round_.trained = true;
  }

  /// The answers that the network learns from.
  [[nodiscard]] std::vector<CategoryAnswer> added() const {
    if (options_.train_on_past) return answers_;
    std::unordered_set<std::uint64_t> past;
    for (const CategoryAnswer& answer : memory_.session.past) {
      const auto t = places_.tasks.find(memory_.tasks[index(answer.task)]);
      const auto j = places_.workers.find(memory_.workers[index(answer.worker)]);
      past.insert(pair_of(TaskId(t->second), WorkerId(j->second)));
    }
    std::vector<CategoryAnswer> rest;
    for (const CategoryAnswer& answer : answers_) {
      if (!past.contains(pair_of(answer.task, answer.worker))) rest.push_back(answer);
    }
    return rest;
  }

  [[nodiscard]] std::string stream() const {
    return memory_.round == 0 ? std::string(kStream) + " first" : fmt::format("{} round {}", kStream, memory_.round);
  }

  /// By row: tasks of the train split whose truth is not known and that may be asked about now.
  [[nodiscard]] std::vector<TaskId> open_tasks() const {
    const CategoryAnswers& answers = data_.crowd.answers;
    std::unordered_set<std::uint32_t> of_past;
    if (!options_.train_on_past) {
      for (const CategoryAnswer& answer : memory_.session.past) {
        of_past.insert(places_.tasks.at(memory_.tasks[index(answer.task)]));
      }
    }
    std::vector<TaskId> open;
    for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
      const std::uint32_t row = data_.row_of_task[t];
      if (row == kNoRow || data_.split[row] != Split::train || data_.crowd.gold_of(TaskId(t)) != kNoClass) continue;
      if (of_past.contains(t) || waiting_.contains(t)) continue;
      if (!options_.repeats && !answers.workers_of(TaskId(t)).empty()) continue;
      open.push_back(TaskId(t));
    }
    std::sort(open.begin(), open.end(),
              [&](TaskId a, TaskId b) { return data_.row_of_task[index(a)] < data_.row_of_task[index(b)]; });
    return open;
  }

  /// Capacities less what is asked already and may still be answered.
  [[nodiscard]] std::vector<WorkerOffer> offers_left() const {
    std::vector<WorkerOffer> offers(request_.offers.begin(), request_.offers.end());
    for (const PendingQuestion& question : memory_.pending) {
      const auto j = places_.workers.find(question.worker);
      if (question.given_up || j == places_.workers.end() || offers.empty()) continue;
      std::uint32_t& capacity = offers[j->second].capacity;
      if (capacity != kUnlimited && capacity > 0) --capacity;
    }
    return offers;
  }

  void ask() {
    const CategoryAnswers& answers = data_.crowd.answers;
    std::vector<WorkerId> by_name(answers.worker_count());
    for (std::size_t j = 0; j < by_name.size(); ++j) by_name[j] = WorkerId(j);
    std::sort(by_name.begin(), by_name.end(), [&](WorkerId a, WorkerId b) {
      return answers.worker_names()[index(a)] < answers.worker_names()[index(b)];
    });
    const dalc_loop::Askable askable = [&](TaskId task, std::vector<WorkerId>& workers) {
      workers.clear();
      for (const WorkerId worker : by_name) {
        const std::uint64_t pair = pair_of(task, worker);
        if (answered_.contains(pair) || unanswered_.contains(pair)) continue;
        if (!request_.can_ask || request_.can_ask(task, worker)) workers.push_back(worker);
      }
    };
    const bool chance = round_.by_chance;
    const std::string& policy = memory_.settings.policy;
    const QuestionOptions choice{.chooses_task = !chance,
                                 .chooses_worker = !chance,
                                 .doubt = policy == "bald"                 ? Doubt::bald
                                          : policy == "predictive_entropy" ? Doubt::predictive_entropy
                                                                           : Doubt::entropy,
                                 .draws = options_.draws,
                                 .diversity = options_.diversity};
    const std::vector<WorkerOffer> offers = offers_left();
    std::vector<TaskId> open = open_tasks();
    if (request_.can_ask) {
      std::vector<WorkerId> workers;
      std::erase_if(open, [&](TaskId task) {
        askable(task, workers);
        return workers.empty();
      });
    }
    round_.candidates = open.size();
    const std::string name =
        memory_.asked_in_round == 0 ? stream() : fmt::format("{} again {}", stream(), memory_.asked_in_round);
    for (const LiveQuestion& question : dalc_loop::next_questions(
             session_.get(), std::move(open), askable,
             {.count = request_.questions, .budget = request_.budget, .capacity = options_.capacity, .offers = offers},
             choice, answers.class_count(), name, context_)) {
      round_.questions.push_back(question);
      memory_.pending.push_back({std::string(answers.task_names()[index(question.task)]),
                                 std::string(answers.worker_names()[index(question.worker)]), question.cost,
                                 request_.now, false});
      memory_.spent += question.cost;
    }
    ++memory_.asked_in_round;
  }

  const LearningData& data_;
  LiveMemory& memory_;
  const LiveRequest& request_;
  const RunContext& context_;
  Options options_;
  Places places_;
  std::vector<CategoryAnswer> answers_;
  std::unordered_set<std::uint64_t> answered_, unanswered_;
  std::unordered_map<std::uint32_t, std::uint32_t> waiting_;  // tasks with a question that may still be answered
  std::unique_ptr<DalcSession> session_;
  LiveRound round_;
};

}  // namespace

const std::vector<ParameterSpec>& live_loop_parameters() {
  static const std::vector<ParameterSpec> specs = declare_parameters(loop_parameters);
  return specs;
}

LiveSettings::LiveSettings() : loop(live_loop_parameters()), model(std::span<const ParameterSpec>{}) {}

bool is_live_policy(std::string_view policy) {
  return policy == "dalc" || policy == "bald" || policy == "predictive_entropy";
}

LiveRound next_live_round(const LearningData& data, LiveMemory& memory, const LiveRequest& request,
                          const RunContext& context) {
  const CategoryAnswers& answers = data.crowd.answers;
  if (!request.offers.empty() && request.offers.size() != answers.worker_count()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("there are {} offers for {} workers", request.offers.size(), answers.worker_count()));
  }
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < answers.class_count(); ++k) classes.emplace_back(answers.class_names()[k]);
  if (memory.began && memory.classes != classes) {
    throw Error(ErrorCode::unsupported,
                "classes appeared that the loop's network does not know: begin a new loop, and declare all classes "
                "when the state is made");
  }
  memory.classes = std::move(classes);
  return Round(data, memory, request, context).run();
}

}  // namespace wisecrowd
