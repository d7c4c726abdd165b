#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "defects_text.hpp"
#include "failure.hpp"
#include "kind_commands.hpp"
#include "learn_run.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "structure_flags.hpp"
#include "table.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/evaluate_ordered.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownClasses = 20;

struct DescribeArguments {
  std::string labels;
  std::string gold;
  FeatureFlags features;
  bool json = false;
  ReadFlags read;
  StructureFlags structure;
  RunFlags run;
};

Json description_json(const Description& d, const CategoryAnswers& answers, const std::vector<Warning>& warnings) {
  Json classes = Json::array();
  for (std::size_t k = 0; k < d.classes; ++k) {
    classes.push_back({{"class", std::string(answers.class_names()[k])}, {"answers", d.answers_per_class[k]}});
  }
  Json json = {{"tasks", d.tasks},
               {"workers", d.workers},
               {"answers", d.answers},
               {"hash", fmt::format("{:016x}", answers.content_hash())},
               {"unanswered_tasks", d.unanswered_tasks},
               {"silent_workers", d.silent_workers},
               {"answers_per_task", distribution_json(d.answers_per_task)},
               {"answers_per_worker", distribution_json(d.answers_per_worker)},
               {"classes", classes},
               {"krippendorff_alpha", d.krippendorff_alpha},
               {"fleiss_kappa", d.fleiss_kappa},
               {"pairwise_agreement", d.pairwise_agreement},
               {"unanimous_share", d.unanimous_share},
               {"components", d.components},
               {"largest_component", {{"tasks", d.largest_component_tasks}, {"workers", d.largest_component_workers}}},
               {"warnings", warnings_json(warnings)}};
  if (is_ordered(answers)) {
    const RankAgreement ranks = describe_ranks(answers);
    json["ordinal_alpha"] = ranks.ordinal_alpha;
    json["weighted_kappa"] = ranks.weighted_kappa;
  }
  return json;
}

/// Landis and Koch's words are too generous for alpha; these follow Krippendorff's own thresholds.
std::string alpha_in_words(double alpha) {
  if (alpha >= 0.8) return "reliable";
  if (alpha >= 0.667) return "fair";
  if (alpha > 0.1) return "low, so it matters whom to believe";
  return "close to chance";
}

std::string description_text(const Description& d, const CategoryAnswers& answers, const Screen& screen) {
  std::string text = fmt::format("{}  {} by {} to {}, {}\n\n", screen.bold("Data"), counted(d.answers, "answer"),
                                 counted(d.workers, "worker"), counted(d.tasks, "task"), counted(d.classes, "class"));
  const auto number = [](double x) {
    return x == static_cast<double>(static_cast<std::uint64_t>(x)) ? grouped(static_cast<std::uint64_t>(x))
                                                                   : fmt::format("{:.1f}", x);
  };
  Table spread({{"answers per", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  for (const auto& [name, v] : {std::pair("task", d.answers_per_task), std::pair("worker", d.answers_per_worker)}) {
    spread.add({name, number(v.minimum), number(v.lower_quartile), number(v.median), fmt::format("{:.1f}", v.mean),
                number(v.upper_quartile), number(v.maximum)});
  }
  text += spread.text(screen.width, screen.dim_on(), screen.off()) + "\n";

  Table classes({{"class", Column::Side::left}, {"answers"}, {"share"}});
  for (std::size_t k = 0; k < std::min(d.classes, kShownClasses); ++k) {
    classes.add({printable(answers.class_names()[k]), grouped(d.answers_per_class[k]),
                 percent(static_cast<double>(d.answers_per_class[k]) /
                         static_cast<double>(std::max<std::size_t>(d.answers, 1)))});
  }
  text += classes.text(screen.width, screen.dim_on(), screen.off());
  if (d.classes > kShownClasses) text += fmt::format("  … and {} more classes\n", d.classes - kShownClasses);

  Table agreement({{"agreement", Column::Side::left}, {"value"}, {"", Column::Side::left}});
  agreement.add({"Krippendorff's alpha", fixed(d.krippendorff_alpha, 3),
                 d.krippendorff_alpha == d.krippendorff_alpha ? alpha_in_words(d.krippendorff_alpha)
                                                              : "no task has two answers"});
  agreement.add({"Fleiss' kappa", fixed(d.fleiss_kappa, 3)});
  if (is_ordered(answers)) {
    const RankAgreement ranks = describe_ranks(answers);
    agreement.add({"ordinal alpha", fixed(ranks.ordinal_alpha, 3), "far disagreement counts more"});
    agreement.add({"weighted kappa", fixed(ranks.weighted_kappa, 3), "by squared difference of ranks"});
  }
  agreement.add({"pairs that agree", percent(d.pairwise_agreement)});
  agreement.add({"unanimous tasks", percent(d.unanimous_share), "of those with two answers or more"});
  text += "\n" + agreement.text(screen.width, screen.dim_on(), screen.off());

  text += "\n  " +
          (d.components <= 1
               ? std::string("All workers are connected through tasks that they share.")
               : wrapped(fmt::format("Workers and tasks fall into {} unconnected parts; the largest has {} and {}.",
                                     grouped(d.components), counted(d.largest_component_tasks, "task"),
                                     counted(d.largest_component_workers, "worker")),
                         screen.width, 2)) +
          "\n";
  return text;
}

/// The answers, with gold if there is a file of it, and what reading alone tells of their defects.
CategoryData read_with_defects(const DescribeArguments& options, Defects& defects, DataReport& report,
                               const RunContext& context) {
  const ReadOptions read = options.read.options();
  const auto gold = options.gold.empty() ? std::nullopt : std::optional(options.gold);
  CategoryData data;
  if (options.features.features.empty()) {
    data = read_dataset(options.labels, gold, read, context, &report);
  } else {
    LearningInput input =
        read_learning_data(options.features.files(options.labels, options.gold, false), read, context, &report);
    data = std::move(input.data.crowd);
    data.gold = std::move(input.task_gold);
    defects.twins = twin_tasks(data, input.data.features, input.data.row_of_task);
  }
  options.structure.apply(data, options.labels, read, context, report.warnings);
  // Standard input cannot be read again; then the warning has the number of contradictions, and no more.
  if (read.duplicates == DuplicatePolicy::repeat) {
    defects.contradictions = contradictions(data.answers);
  } else if (report.duplicates_contradicting > 0 && options.labels != "-") {
    ReadOptions all = read;
    all.duplicates = DuplicatePolicy::repeat;
    defects.contradictions = contradictions(read_dataset(options.labels, gold, all, context).answers);
  }
  return data;
}

void run_describe(const DescribeArguments& options, Session& session) {
  if (const KindCommands* const kind = kind_commands(options.read)) {
    kind->refuse(options.structure.ordered, "--ordered");
    kind->refuse(!options.gold.empty(), "--gold");
    kind->refuse(!options.features.features.empty(), "--features");
    KindRequest request;
    request.answers = options.labels;
    request.json = options.json;
    request.read = options.read;
    request.run = options.run;
    return kind->describe(request, session);
  }
  if (options.features.features.empty() && !options.features.tasks.empty()) {
    throw usage_error("--tasks names the rows of --features, and there are none");
  }
  Work work(session, options.run);
  DataReport report;
  Defects defects;
  const CategoryData data =
      at_stage(Stage::reading, [&] { return read_with_defects(options, defects, report, work.context()); });
  work.check_stopped();
  if (!options.gold.empty()) defects.gold = check_gold(data, work.context());
  work.check_stopped();
  const Description description = describe(data.answers);
  work.check_stopped();
  std::vector<Warning> warnings = report.warnings;
  warnings.insert(warnings.end(), description.warnings.begin(), description.warnings.end());
  session.warn(warnings);
  if (options.json) {
    Json json = description_json(description, data.answers, warnings);
    add_defects(defects, data.answers, json);
    session.out.add_json(json);
    return;
  }
  session.out.add(description_text(description, data.answers, session.out_screen));
  session.out.add(defects_text(defects, data.answers, session.out_screen));
  if (options.labels == "-") return;
  session.out.add(fmt::format("\nTo aggregate these answers:\n  wisecrowd aggregate {}{} --out result\n",
                              shell_word(options.labels), options.read.words(false) + options.structure.words()));
}

}  // namespace

void add_describe(CommandSet& commands) {
  Command& command = commands.add("describe", "what the answers look like: counts, balance, agreement, traps");
  command.details =
      "Counts tasks, workers and answers, measures how far workers agree, and warns of data from which no method can "
      "learn whom to believe (one answer per task, parts that share no worker, classes never used). It also lists "
      "what is wrong with the data themselves: workers who answered a task twice and not the same, with --gold gold "
      "labels that the answers contradict, with --features tasks that are the same under two names.";
  auto options = std::make_shared<DescribeArguments>();
  command
      .add_text("ANSWERS", options->labels, "FILE", "the answers, as for aggregate; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  command.add_text("--gold,-g", options->gold, "FILE",
                   "tasks whose truth is known, task and label: those that look wrong are listed",
                   {ValueHint::Kind::file});
  options->features.add_to(command, false, false);
  command.add_flag("--json", options->json, "print one JSON object");
  options->read.add_kind_to(command);
  options->read.add_to(command, true);
  options->structure.add_order_to(command);
  options->run.add_to(command, false);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 300 --workers 20 --classes 4 --out crowd\n"
      "wisecrowd describe crowd/answers.csv\n"
      "wisecrowd describe crowd/answers.csv --gold crowd/gold.csv\n"
      "wisecrowd describe crowd/answers.csv --json";
  command.run = [options](Session& session) { run_describe(*options, session); };
}

}  // namespace wisecrowd::app
