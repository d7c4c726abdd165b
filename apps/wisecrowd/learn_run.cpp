#include "learn_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "aggregate_run.hpp"
#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

const std::vector<std::string> kNetworks = {"linear", "mlp", "cnn"};

/// Some of the tasks or rows, with what is known and what is said of them.
class Part {
 public:
  Part(std::string name, std::size_t classes) : name_(std::move(name)), classes_(classes) {}

  void add(ClassId gold, const std::vector<double>& chosen, const std::vector<double>& last, std::size_t at) {
    gold_.push_back(gold);
    take(chosen, at, chosen_, chosen_labels_);
    take(last, at, last_, last_labels_);
  }
  [[nodiscard]] bool empty() const noexcept { return gold_.empty(); }
  [[nodiscard]] LearnScore score(const RunContext& context) const {
    return {name_, evaluate(chosen_labels_, chosen_, gold_, classes_, {}, context),
            evaluate(last_labels_, last_, gold_, classes_, {.bootstrap = 0}, context)};
  }

 private:
  void take(const std::vector<double>& from, std::size_t at, std::vector<double>& to, std::vector<ClassId>& labels) {
    const auto row = std::span(from).subspan(at * classes_, classes_);
    to.insert(to.end(), row.begin(), row.end());
    labels.push_back(ClassId(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  std::string name_;
  std::size_t classes_;
  std::vector<ClassId> gold_, chosen_labels_, last_labels_;
  std::vector<double> chosen_, last_;
};

std::uint64_t known_truths(const LearningInput& input) {
  auto known = [](ClassId k) { return k != kNoClass; };
  auto count = static_cast<std::uint64_t>(std::count_if(input.row_gold.begin(), input.row_gold.end(), known));
  for (std::size_t t = 0; t < input.task_gold.size(); ++t) {
    count += known(input.task_gold[t]) && input.data.row_of_task[t] == kNoRow ? 1 : 0;
  }
  return count;
}

}  // namespace

void FeatureFlags::add_to(Command& command, bool required, bool with_text_columns) {
  Option* option = command.add_text("--features,-f", features, "FILE",
                                    "what is known of each task: an .npy array (rows × columns, or images), a CSV "
                                    "or TSV table with a task column and "
                                    "numeric columns, or one with a task and a text column",
                                    {ValueHint::Kind::file});
  if (required) option->required();
  command.add_text("--tasks,-t", tasks, "FILE",
                   "a table task,row,split: which row of an .npy array belongs to which task (rows count from 0), and "
                   "whether it is for train, valid or test; needed unless tasks are named by the numbers of their rows",
                   {ValueHint::Kind::file});
  if (with_text_columns) {
    command.add_count("--text-columns", text_columns, 1, std::uint64_t{1} << 26,
                      fmt::format("of texts, how many words and pairs of words are counted at most ({})",
                                  FeatureOptions{}.text_columns));
  }
}

LearningFiles FeatureFlags::files(const std::string& labels, const std::string& gold, bool learn_from_gold) const {
  LearningFiles files;
  files.answers = labels;
  if (!gold.empty()) files.gold = gold;
  files.features = features;
  files.tasks = tasks_file();
  files.learn_from_gold = learn_from_gold;
  files.text_columns = text_columns;
  return files;
}

std::optional<std::string> FeatureFlags::tasks_file() const {
  return tasks.empty() ? std::nullopt : std::optional(tasks);
}

void NetworkFlags::add_to(Command& command) {
  command.add_text(
      "--model", model, "NAME|FILE",
      "the network: linear, mlp (the usual one), cnn for images, or a TorchScript file that takes a batch of "
      "rows and gives one raw number per class",
      {ValueHint::Kind::choice, kNetworks});
  command.add_count("--hidden", hidden, 1, kMostHidden, fmt::format("mlp: units of a hidden layer ({})", hidden));
  command.add_count("--layers", layers, 1, kMostLayers, fmt::format("mlp: hidden layers ({})", layers));
  command.add_number("--dropout", dropout, 0, kMostDropout,
                     fmt::format("mlp and cnn: share of the last hidden layer left out at each step ({})", dropout));
}

NetworkSpec NetworkFlags::spec(const LearnerInfo& info) const {
  NetworkSpec network;
  network.hidden = hidden;
  network.layers = layers;
  network.dropout = dropout;
  if (model.empty()) {
    if (info.linear_only) network.kind = "linear";
    return network;
  }
  network.kind = model;
  const bool named = std::find(kNetworks.begin(), kNetworks.end(), model) != kNetworks.end();
  std::error_code error;
  if (!named && !std::filesystem::is_regular_file(model, error)) {
    const std::string near = suggestion(model, kNetworks);
    throw Failure(
        model.find_first_of("./") == std::string::npos ? EX_USAGE : EX_NOINPUT,
        fmt::format(
            "there is no model '{}', neither by name nor as a file{}", printable(model),
            near.empty() ? fmt::format(": choose {}, or name a TorchScript file", fmt::join(kNetworks, ", ")) : near));
  }
  return network;
}

std::string network_text(const NetworkSpec& network) {
  if (network.kind == "mlp") {
    return fmt::format("mlp, {} of {}, dropout {}", counted(network.layers, "hidden layer"),
                       counted(network.hidden, "unit"), network.dropout);
  }
  if (network.kind == "cnn") return fmt::format("cnn, dropout {}", network.dropout);
  return network.kind == "linear" ? "linear" : printable(network.kind);
}

std::string rows_text(const LearnedRows& result) {
  const auto count = [&](Split part) {
    return static_cast<std::uint64_t>(std::count(result.split.begin(), result.split.end(), part));
  };
  const std::string shape = result.row_shape.size() == 1 ? counted(result.row_shape[0], "number")
                                                         : fmt::format("{} pixels", fmt::join(result.row_shape, " × "));
  std::string text = fmt::format("{} of {}: {} to train", counted(result.row_names.size(), "row"), shape,
                                 grouped(count(Split::train)));
  if (count(Split::valid) > 0) text += fmt::format(", {} valid", grouped(count(Split::valid)));
  if (count(Split::test) > 0) text += fmt::format(", {} test", grouped(count(Split::test)));
  return text;
}

std::string epochs_text(const LearnedRows& result, const std::string& score) {
  const double held_out = result.chosen_epoch > 0 && result.chosen_epoch <= result.curve.size()
                              ? result.curve[result.chosen_epoch - 1].held_out
                              : std::nan("");
  if (std::isnan(held_out)) return fmt::format("{}; the last one is kept", result.epochs);
  return fmt::format("{} of {}, chosen by held-out likelihood ({} {})", result.chosen_epoch, result.epochs, score,
                     fixed(held_out, 3));
}

std::vector<LearnScore> score_learned(const LearningInput& input, const Learned& learned, bool with_tasks,
                                      const RunContext& context) {
  const LearningData& data = input.data;
  const std::size_t classes = data.crowd.answers.class_count();
  std::vector<bool> answered(data.features.rows, false);
  for (const std::uint32_t row : data.row_of_task) {
    if (row != kNoRow) answered[row] = true;
  }
  Part test("test_rows", classes), valid("valid_rows", classes), unanswered("unanswered_rows", classes);
  for (std::size_t r = 0; r < input.row_gold.size(); ++r) {
    if (input.row_gold[r] == kNoClass) continue;
    if (data.split[r] == Split::train && answered[r]) continue;
    Part& part = data.split[r] == Split::test ? test : data.split[r] == Split::valid ? valid : unanswered;
    part.add(input.row_gold[r], learned.row_probabilities, learned.final_row_probabilities, r);
  }
  Part tasks("answered_tasks", classes);
  for (std::size_t t = 0; with_tasks && t < input.task_gold.size(); ++t) {
    if (input.task_gold[t] == kNoClass || data.crowd.answers.labels_of(TaskId(t)).empty()) continue;
    tasks.add(input.task_gold[t], learned.crowd.posterior, learned.final_posterior, t);
  }
  std::vector<LearnScore> scores;
  for (const Part* part : {&test, &valid, &unanswered, &tasks}) {
    if (!part->empty()) scores.push_back(part->score(context));
  }
  return scores;
}

namespace {

/// Learns from the data without the answers of such workers; the data, and what is said of workers, stay whole.
Learned learn_without(const CleaningRequest& without, LearningData& data, RunRecord& record, Work& work,
                      const std::function<Learned(const LearningData& data)>& learn_from) {
  const CategoryData all = data.crowd;
  Stopwatch watch;
  leave_out(without, data.crowd, record, work);
  if (record.cleaning) record.timings.emplace_back("clean", watch.lap());
  Learned learned = learn_from(data);
  work.check_stopped();
  if (!record.cleaning) return learned;
  complete_cleaned_fit(all, data.crowd, record, learned.crowd, work);
  if (!learned.answer_reliability.empty()) {
    learned.answer_reliability = values_of_all(all.answers, data.crowd.answers, learned.answer_reliability);
  }
  data.crowd = all;
  return learned;
}

}  // namespace

LearnOutcome run_learn(const LearnRequest& request, Session& session, Work& work) {
  // Everything that can be refused is refused before the long work.
  RunRecord record;
  const LearnerInfo& info =
      learner_named(request.method.empty() ? std::string(default_learning_method()) : request.method);
  const Parameters parameters = parameters_from(info.parameters, request.settings, info.name);
  warn_of_former_names(session, parameters);
  const NetworkSpec network = request.network.spec(info);
  if (info.linear_only && network.kind != "linear") {
    throw usage_error(fmt::format("{} is defined for a linear classifier: leave --model out", info.name));
  }
  if (request.torchscript && !request.out)
    throw usage_error("--torchscript needs --out: it adds a file to the results");
  if (request.out) at_stage(Stage::creating, [&] { check_output_directory(*request.out); });

  record.method = info.name;
  record.parameters = as_list(parameters);
  record.version = WISECROWD_VERSION;
  record.reading = reading_record(request.read);
  record.command = session.typed;
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  LearningFiles files = request.files;
  record.inputs.emplace_back("answers", files.answers);
  if (files.gold) record.inputs.emplace_back("gold", *files.gold);
  record.inputs.emplace_back("features", files.features);
  if (files.tasks) record.inputs.emplace_back("tasks", *files.tasks);
  const bool gold_refused = files.learn_from_gold && !info.uses_gold;
  if (gold_refused) files.learn_from_gold = false;

  Stopwatch watch;
  DataReport report;
  LearningInput input =
      at_stage(Stage::reading, [&] { return read_learning_data(files, request.read, work.context(), &report); });
  work.check_stopped();
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  if (gold_refused) {
    record.data_warnings.push_back(
        {"gold_not_used", fmt::format("{} cannot learn from gold, so it was kept for scoring.", info.name),
         "To let gold take part, choose a learner that can use it (wisecrowd methods says which)."});
  }
  add_new(record.data_warnings, describe(input.data.crowd.answers).warnings);
  record.timings.emplace_back("describe", watch.lap());
  work.check_stopped();
  record.gold_tasks = known_truths(input);
  if (!input.task_gold.empty()) record.gold_use = files.learn_from_gold ? "inference" : "evaluation";

  Learned learned = learn_without(request.without, input.data, record, work, [&](const LearningData& data) {
    watch.lap();
    return learn(data, info.name, parameters, network, work.context());
  });
  LearnOutcome outcome;
  outcome.fit_seconds = watch.lap();
  record.timings.emplace_back("fit", outcome.fit_seconds);
  std::erase_if(learned.crowd.warnings, [&](const Warning& warning) {
    return std::any_of(record.data_warnings.begin(), record.data_warnings.end(),
                       [&](const Warning& known) { return known.code == warning.code; });
  });
  auto scores = score_learned(input, learned, !files.learn_from_gold, work.context());
  record.timings.emplace_back("evaluate", watch.lap());
  work.check_stopped();
  outcome.result = make_learn_result(std::move(input.data), std::move(input.task_gold), std::move(learned), network,
                                     std::move(record), work.context());
  outcome.result.scores = std::move(scores);
  auto& timings = outcome.result.crowd.record.timings;
  timings.emplace_back("summarise", watch.lap());
  work.check_stopped();
  if (request.out) {
    session.interrupts.writes_to(*request.out);
    const Status status = at_stage(Stage::writing, [&] {
      return write_result(outcome.result, *request.out, {.torchscript = request.torchscript}, work.context());
    });
    session.interrupts.writes_to("");
    timings.emplace_back("write", watch.lap());
    if (status == Status::cancelled) throw Stopped();
  }
  return outcome;
}

}  // namespace wisecrowd::app
