#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "aggregate_run.hpp"
#include "failure.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd::app {
namespace {

constexpr SimulationSize kSize{.tasks = 1000, .workers = 40, .classes = 3, .answers_per_task = 5};
constexpr const char* kKind = "hammer_spammer";

struct DemoArguments {
  std::string out = "wisecrowd-demo";
  RunFlags run;
};

/// How many of the true spammers are among as many workers of lowest informativeness.
struct Detection {
  std::size_t spammers = 0;
  std::size_t found = 0;
};

Detection detect_spammers(const Simulation& crowd, const CategoryResult& result) {
  Detection detection;
  std::vector<std::size_t> order(result.workers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.workers[a].informativeness < result.workers[b].informativeness;
  });
  // The files were shuffled, so workers are matched by name.
  std::vector<std::string_view> spammers;
  for (std::size_t w = 0; w < crowd.worker_kind.size(); ++w) {
    if (crowd.worker_kind[w] == "spammer") spammers.push_back(crowd.data.answers.worker_names()[w]);
  }
  detection.spammers = spammers.size();
  for (std::size_t i = 0; i < std::min(spammers.size(), order.size()); ++i) {
    const auto name = result.data.answers.worker_names()[order[i]];
    detection.found += std::find(spammers.begin(), spammers.end(), name) != spammers.end() ? 1 : 0;
  }
  return detection;
}

/// A long command over several lines, as a shell takes it.
std::string folded(const std::string& command, std::size_t width) {
  std::string text;
  std::size_t column = 2;
  for (std::size_t at = 0; at < command.size();) {
    std::size_t end = std::min(command.find(' ', at + 1), command.size());
    if (command.compare(at, 3, " --") == 0)
      end = std::min(command.find(' ', end + 1), command.size());  // with its value
    if (at > 0 && column + (end - at) + 2 > width) {
      text += " \\\n   ";
      column = 3;
    }
    text += command.substr(at, end - at);
    column += end - at;
    at = end;
  }
  return text;
}

/// What the tour says, paragraph by paragraph.
class Guide {
 public:
  explicit Guide(Session& session) : session_(session) {}
  void heading(const std::string& text) const { session_.out.add("\n" + session_.out_screen.bold(text) + "\n"); }
  void tell(const std::string& text) const { session_.out.add(wrapped(text, session_.out_screen.width, 0) + "\n"); }
  void typed(const std::string& command) const {
    const Screen& screen = session_.out_screen;
    session_.out.add(screen.green("$ " + folded(command, screen.width)) + "\n");
  }

 private:
  Session& session_;
};

Simulation draw_crowd(const std::string& folder, const std::string& seed, const Guide& guide, Session& session,
                      Work& work) {
  Simulation crowd = simulate(kKind, kSize, Parameters(simulation_kind(kKind).parameters), work.context());
  work.check_stopped();
  session.interrupts.writes_to(folder);
  if (at_stage(Stage::writing, [&] { return write_simulation(crowd, folder, work.context()); }) == Status::cancelled) {
    throw Stopped();
  }
  const auto spammers =
      static_cast<std::size_t>(std::count(crowd.worker_kind.begin(), crowd.worker_kind.end(), "spammer"));
  guide.heading("1. A crowd");
  guide.tell(
      fmt::format("{} answer {} for us, {} each. What nobody tells us: {} of them are spammers, who click anything. "
                  "The answers are drawn by",
                  counted(kSize.workers, "worker"), counted(kSize.tasks, "task"),
                  counted(kSize.answers_per_task, "answer"), spammers));
  guide.typed(fmt::format("wisecrowd simulate {} --tasks {} --workers {} --classes {} --answers-per-task {}{} --out {}",
                          kKind, kSize.tasks, kSize.workers, kSize.classes, kSize.answers_per_task, seed,
                          shell_word(folder)));
  return crowd;
}

void compare_with_truth(const Simulation& crowd, const CategoryResult& result, const Guide& guide, Work& work) {
  guide.heading("3. Was it right?");
  const auto accuracy_of = [&](const std::string& method) {
    const CategoryFit fit =
        aggregate({crowd.data.answers, {}, {}}, method, Parameters(method_named(method).parameters), work.context());
    return evaluate(fit.labels, fit.posterior, crowd.data.gold, kSize.classes, {.tie_rule = fit.tie_rule},
                    work.context())
        .accuracy;
  };
  const std::string& method = result.record.method;
  const Detection detection = detect_spammers(crowd, result);
  guide.tell(fmt::format(
      "This crowd was simulated, so the truth is known. Counting votes gets {} of the tasks right, {} gets {}.",
      percent(accuracy_of("majority_vote").value), method, percent(accuracy_of(method).value)));
  guide.tell(fmt::format("Of the {}, {} are among the {} workers with the fewest bits per answer. See for yourself:",
                         counted(detection.spammers, "spammer"), detection.found, detection.spammers));
}

void run_demo(const DemoArguments& options, Session& session) {
  const Guide guide(session);
  const std::string crowd_folder = options.out + "/crowd";
  const std::string result_folder = options.out + "/result";
  at_stage(Stage::creating, [&] {
    check_output_directory(crowd_folder, "simulation.json");
    check_output_directory(result_folder);
  });
  Work work(session, options.run);
  const std::string seed = options.run.seed == 0 ? "" : fmt::format(" --seed {}", options.run.seed);
  const Simulation crowd = draw_crowd(crowd_folder, seed, guide, session, work);

  guide.heading("2. Labels out of answers");
  guide.tell("The answers alone, without any truth, are aggregated by");
  const std::string labels = crowd_folder + "/answers.csv";
  guide.typed(fmt::format("wisecrowd aggregate {}{} --out {}", shell_word(labels), seed, shell_word(result_folder)));
  AggregateRequest request;
  request.labels = labels;
  request.out = result_folder;
  const AggregateOutcome outcome = run_aggregate(request, session, work);
  session.out.add("\n" + run_summary(outcome.result, true, outcome.fit_seconds, session.out_screen));

  compare_with_truth(crowd, outcome.result, guide, work);
  guide.typed(fmt::format("wisecrowd evaluate {} {}", shell_word(result_folder + "/labels.csv"),
                          shell_word(crowd_folder + "/gold.csv")));
  work.check_stopped();

  guide.heading("4. Where things are");
  const auto file = [&](const std::string& name, const std::string& what) {
    session.out.add(fmt::format("  {:<{}}  {}\n", result_folder + "/" + name, result_folder.size() + 14, what));
  };
  file("labels.csv", "a label and probability for every task");
  file("workers.csv", "how reliable every worker is");
  file("confusion.csv", "what each worker says for each truth");
  file("run.json", "how it was made");

  guide.heading("5. Now you");
  guide.tell("Your own answers go in as a table with the columns task, worker and label:");
  guide.typed("wisecrowd describe YOUR.csv");
  guide.typed("wisecrowd aggregate YOUR.csv --out result");
  guide.tell("and everything else is told by");
  guide.typed("wisecrowd --help");
}

}  // namespace

void add_demo(CommandSet& commands) {
  Command& command = commands.add("demo", "a guided tour: a crowd with spammers, and what is found");
  auto options = std::make_shared<DemoArguments>();
  command.add_text("--out,-o", options->out, "DIR", "where to put the demo's files (wisecrowd-demo)",
                   ValueHint::written_folder());
  options->run.add_to(command, true);
  command.examples = "wisecrowd demo\nwisecrowd demo --seed 3 --out another-demo";
  command.run = [options](Session& session) { run_demo(*options, session); };
}

}  // namespace wisecrowd::app
