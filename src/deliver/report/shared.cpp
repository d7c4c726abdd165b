#include "deliver/report/shared.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "wisecrowd/messages.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostPoints = 500;

Json value_json(const ParameterValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(held)>, std::string>)
          return shown_words(held, 200);
        else
          return held;
      },
      value);
}

Json parameters_json(const std::vector<std::pair<std::string, ParameterValue>>& parameters) {
  Json list = Json::array();
  for (const auto& [name, value] : parameters) list.push_back({{"name", name}, {"value", value_json(value)}});
  return list;
}

constexpr std::size_t kCountBins = 20;
constexpr std::uint64_t kBinsOfOne = 30;

struct Title {
  std::string_view code, text;
};

/// What the warnings of readers, methods and descriptions are called. Others get their code as a title.
constexpr std::array kTitles = {
    Title{"no_answers", "There are no answers"},
    Title{"one_answer_per_task", "Only one answer per task"},
    Title{"single_worker", "All answers come from one worker"},
    Title{"single_class", "Every answer is the same"},
    Title{"constant_answers", "Every answer is the same"},
    Title{"flipped_solution", "The solution may be flipped"},
    Title{"turned_around", "Most workers contradict the votes"},
    Title{"one_worker_decides", "One worker decides"},
    Title{"network_knows_nothing", "The network learned nothing"},
    Title{"volume_collapsed", "The worker tables collapsed"},
    Title{"class_vanished", "A class vanished"},
    Title{"prior_expects_no_skill", "The prior expects no skill"},
    Title{"separate_parts", "The workers fall into separate parts"},
    Title{"few_answers_per_task", "Few answers per task"},
    Title{"few_answers_per_worker", "Many workers gave hardly any answers"},
    Title{"dependent_answers", "Workers err together"},
    Title{"methods_disagree", "The choice of the method matters"},
    Title{"not_converged", "It stopped before it settled"},
    Title{"messages_not_settled", "It stopped before it settled"},
    Title{"oscillating_messages", "It swings instead of settling"},
    Title{"skills_not_settled", "It stopped before it settled"},
    Title{"chains_disagree", "The chains disagree"},
    Title{"similar_labels", "Labels that look alike"},
    Title{"rows_dropped", "Rows were dropped"},
    Title{"answers_outside_train", "Some answers were not learned from"},
    Title{"tasks_without_features", "Tasks without features"},
    Title{"gold_not_used", "The method could not use gold"},
    Title{"gold_without_answers", "Gold for tasks that nobody answered"},
    Title{"gold_without_task", "Gold for unknown tasks"},
    Title{"unanswered_tasks", "Tasks without answers"},
    Title{"workers_alone", "Workers who share no task"},
    Title{"thin_workers", "Workers with little in common"},
    Title{"thin_pairs", "Workers with little in common"},
    Title{"confusion_left_out", "Confusion tables were left out"},
    Title{"silent_workers", "Workers without answers"},
    Title{"unused_classes", "Classes that nobody uses"},
    Title{"duplicates", "Repeated answers"},
    Title{"copied_workers", "Some workers do not work apart"},
    Title{"dependent_workers", "Some workers answer as one"},
    Title{"disconnected_parts", "The data fall into separate parts"},
};

std::string title_of(const Warning& warning) {
  if (warning.code == "disconnected_parts" && warning.severity == Severity::note) {
    return "Some splinters of the data stand alone";
  }
  for (const Title& title : kTitles) {
    if (title.code == warning.code) return std::string(title.text);
  }
  std::string title = warning.code;
  std::replace(title.begin(), title.end(), '_', ' ');
  return with_capital(title);
}

/// The last two parts of a path: "bluebird/labels.csv".
std::string short_path(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::filesystem::path folder = whole.parent_path().filename();
  return (folder.empty() || folder == "." || folder == ".." ? whole.filename() : folder / whole.filename()).string();
}

std::string title_of(const RunRecord& record, const ReportOptions& options) {
  if (!options.title.empty()) return shown_words(options.title, 300);
  for (const auto& [role, path] : record.inputs) {
    if ((role == "answers" || role == "state") && path != "-") return shown_words(short_path(path), 300);
  }
  return "Answers of a crowd";
}

}  // namespace

std::size_t step_of(std::size_t points) { return (points + kMostPoints - 1) / kMostPoints; }

Json document_head(const RunRecord& record, const ReportOptions& options) {
  return {{"schema", 1},
          {"program", {{"name", "wisecrowd"}, {"version", WISECROWD_VERSION}}},
          {"kind", options.learned ? "learn" : "aggregate"},
          {"title", title_of(record, options)}};
}

Json run_facts(const RunRecord& record, const FitSummary& fit, const ReportOptions& options, std::uint64_t data_hash) {
  Json stages = Json::array();
  for (const StageRecord& stage : record.stages) {
    stages.push_back(
        {{"role", stage.role}, {"method", stage.method}, {"parameters", parameters_json(stage.parameters)}});
  }
  Json inputs = Json::array(), timings = Json::array();
  for (const auto& [role, path] : record.inputs) inputs.push_back({{"role", role}, {"path", shown_words(path, 400)}});
  Json seconds = nullptr;
  for (const auto& [stage, time] : record.timings) {
    if (stage == "fit") seconds = number(time);
    if (stage != "write") timings.push_back({{"stage", stage}, {"seconds", number(time)}});
  }
  Json run = {{"method", record.method},
              {"method_title", options.method_title},
              {"method_summary", options.method_summary},
              {"parameters", parameters_json(record.parameters)},
              {"stages", std::move(stages)},
              {"seed", record.seed},
              {"iterations", fit.iterations},
              {"status", std::string(to_string(fit.status))},
              {"seconds", std::move(seconds)},
              {"timings", std::move(timings)},
              {"command", shown_words(record.command, 1000)},
              {"version", record.version},
              {"data_hash", fmt::format("{:016x}", data_hash)}};
  if (!fit.explanation.empty()) run["explanation"] = shown_words(fit.explanation);
  run["inputs"] = std::move(inputs);
  run["gold_tasks"] = record.gold_tasks;
  run["gold_use"] = record.gold_use;
  return run;
}

Json convergence_facts(const FitSummary& fit, bool with_trace, std::vector<std::string>& sampling) {
  Json convergence = {{"objective", fit.objective_name.empty() ? Json(nullptr) : Json(fit.objective_name)},
                      {"status", std::string(to_string(fit.status))},
                      {"iterations", fit.iterations},
                      {"log_likelihood", fit.has_log_likelihood ? number(fit.log_likelihood, 7) : Json(nullptr)}};
  if (fit.trace.size() > 1 && with_trace) {
    const std::size_t every = step_of(fit.trace.size());
    Json trace = Json::array(), iterations = Json::array();
    for (std::size_t i = 0; i < fit.trace.size(); i += every) {
      trace.push_back(number(fit.trace[i], 7));
      iterations.push_back(i + 1);
    }
    if ((fit.trace.size() - 1) % every != 0) {
      trace.push_back(number(fit.trace.back(), 7));
      iterations.push_back(fit.trace.size());
    }
    convergence["trace"] = std::move(trace);
    convergence["at"] = std::move(iterations);
    convergence["every"] = every;
    if (every > 1) {
      sampling.push_back(
          fmt::format("Of {} of the objective every {}th is drawn.", counted(fit.trace.size(), "value"), every));
    }
  }
  return convergence;
}

Json headline(std::string_view id, std::string_view label, Json value, std::string_view unit, std::string words,
              std::string_view kind) {
  return {{"id", id},        {"label", label}, {"value", std::move(value)}, {"low", nullptr},
          {"high", nullptr}, {"unit", unit},   {"words", std::move(words)}, {"kind", kind}};
}

Json with_interval(Json entry, double low, double high) {
  entry["low"] = number(low, kHeadlineDigits);
  entry["high"] = number(high, kHeadlineDigits);
  return entry;
}

std::string per_task_words(const GraphDescription& description) {
  const Distribution& per_task = description.answers_per_task;
  const std::string counts = fmt::format("{} from {} to {}", counted(description.answers, "answer"),
                                         counted(description.workers, "worker"), counted(description.tasks, "task"));
  if (per_task.minimum == per_task.maximum) return fmt::format("{}: {:.0f} to each task.", counts, per_task.mean);
  const std::string mean = per_task.mean < 100 ? fmt::format("{:.3g}", per_task.mean)
                                               : grouped(static_cast<std::uint64_t>(per_task.mean + 0.5));
  return fmt::format("{}: {} per task on average, between {} and {}.", counts, mean,
                     grouped(static_cast<std::uint64_t>(per_task.minimum)),
                     grouped(static_cast<std::uint64_t>(per_task.maximum)));
}

std::string serious_words(const Json& warnings, std::string_view result) {
  const auto serious =
      std::count_if(warnings.begin(), warnings.end(), [](const Json& w) { return w["severity"] == "serious"; });
  if (serious == 0) return "";
  return fmt::format(" Read {} first: {} {} in doubt.", serious == 1 ? "the serious warning" : "the serious warnings",
                     serious == 1 ? "it puts" : "they put", result);
}

std::string told(const RunRecord& record, const std::string& words) {
  const bool has_flags = record.command.starts_with("wisecrowd ");
  return with_stop(with_capital(shown_words(has_flags ? with_flags(words) : words)));
}

void WarningList::add(Severity severity, std::string title, const std::string& words, const std::string& remedy) {
  constexpr std::string_view kWords[] = {"note", "care", "serious"};
  const auto rank = static_cast<std::size_t>(severity);
  by_rank_[rank].push_back({{"severity", kWords[rank]},
                            {"title", std::move(title)},
                            {"words", told(record_, words)},
                            {"remedy", remedy.empty() ? Json(nullptr) : Json(told(record_, remedy))}});
}

void WarningList::add_new(const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) {
    if (std::find(codes_.begin(), codes_.end(), warning.code) != codes_.end()) continue;
    codes_.push_back(warning.code);
    add(warning.severity, title_of(warning), warning.message, warning.remedy);
  }
}

void WarningList::add_stopped(const FitSummary& fit, const std::string& things, std::string_view result) {
  if (fit.status != Status::cancelled) return;
  add(Severity::serious, "The run was stopped by hand",
      fmt::format("it was cancelled after {}; {} as good as it had got", counted(fit.iterations, "iteration"), things),
      fmt::format("run it again to the end before you use {}", result));
}

void WarningList::add_unmeasured(const std::string& given, const std::string& unknown, const std::string& remedy) {
  if (record_.gold_use == "inference") {
    add(Severity::note, "Gold was used, so nothing is measured on it", given,
        "keep some gold aside with `gold_for=evaluation` to measure errors");
  } else if (record_.gold_use == "none") {
    add(Severity::note, "Nothing was measured", unknown,
        remedy + " and run again with `gold=FILE` `gold_for=evaluation`");
  }
}

Json WarningList::json() const {
  Json all = Json::array();
  for (auto rank = by_rank_.rbegin(); rank != by_rank_.rend(); ++rank) {
    for (const Json& entry : *rank) all.push_back(entry);
  }
  return all;
}

std::vector<std::uint64_t> count_edges(std::uint64_t least, std::uint64_t most) {
  std::vector<std::uint64_t> edges;
  const std::uint64_t range = most - least;
  if (range <= kBinsOfOne) {
    for (std::uint64_t edge = least; edge <= most + 1; ++edge) edges.push_back(edge);
    return edges;
  }
  if (most < 10 * std::max<std::uint64_t>(least, 1)) {  // of one order of magnitude: equal bins
    std::uint64_t step = 1;
    for (std::uint64_t power = 1; range / step > kCountBins; power *= 10) {
      for (const std::uint64_t factor : {2, 5, 10}) {
        if (range / step > kCountBins) step = power * factor;
      }
    }
    for (std::uint64_t edge = least / step * step; edge <= most + step; edge += step) edges.push_back(edge);
    return edges;
  }
  edges = least == 0 ? std::vector<std::uint64_t>{0, 1} : std::vector<std::uint64_t>{1};
  for (std::uint64_t step = 1; edges.back() <= most; step *= 10) {
    for (const std::uint64_t factor : {2, 5, 10}) {
      if (edges.back() <= most) edges.push_back(step * factor);
    }
  }
  return edges;
}

Json count_histogram(const std::vector<std::uint64_t>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const std::vector<std::uint64_t> edges = count_edges(*least, *most);
  std::vector<std::uint64_t> count(edges.size() - 1, 0);
  for (const std::uint64_t value : values) {
    ++count[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin() - 1)];
  }
  return {{"edges", edges}, {"count", count}};
}

Order in_turn(const std::vector<Order>& groups, std::size_t places, std::size_t most) {
  Order order;
  std::vector<bool> there(places, false);
  for (std::size_t i = 0; order.size() < most; ++i) {
    bool any = false;
    for (const Order& group : groups) {
      if (i >= group.size()) continue;
      any = true;
      if (there[group[i]] || order.size() == most) continue;
      there[group[i]] = true;
      order.push_back(group[i]);
    }
    if (!any) break;
  }
  return order;
}

}  // namespace wisecrowd::report
