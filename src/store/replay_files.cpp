#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "store/curve_pictures.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

void add_row(TextBuffer& text, std::string_view name, std::initializer_list<double> numbers) {
  text.append_field(name);
  for (const double number : numbers) {
    text.append(',');
    text.append_number(number);
  }
  text.append('\n');
}

Json summary_of(const Replay& replay, const std::string& about) {
  Json summary = {{"version", WISECROWD_VERSION},
                  {"replay", Json::parse(about)},
                  {"accuracy_of_all_answers", replay.target},
                  {"all_answers", replay.all_answers},
                  {"scored_tasks", replay.scored_tasks},
                  {"seeds", replay.seeds},
                  {"answers_per_round", replay.answers_per_round},
                  {"status", std::string(to_string(replay.status))},
                  {"policies", Json::array()}};
  for (const ReplayCurve& curve : replay.curves) {
    Json entry = {{"policy", curve.policy},
                  {"mean_height", curve.area},
                  {"answers_at_end", curve.answers.back()},
                  {"cost_at_end", curve.cost.back()},
                  {"accuracy_at_end", curve.accuracy.back()},
                  {"seeds_that_stopped_by_rule", curve.stopped},
                  {"savings", Json::array()}};
    for (const Saving& saving : replay.savings) {
      if (saving.policy != curve.policy) continue;
      entry["savings"].push_back({{"slack", saving.slack},
                                  {"reached", saving.reached},
                                  {"answers", saving.answers},
                                  {"answers_interval", {saving.low, saving.high}},
                                  {"saved", saving.saved},
                                  {"saved_interval", {saving.saved_low, saving.saved_high}}});
    }
    summary["policies"].push_back(std::move(entry));
  }
  return summary;
}

}  // namespace

std::string replay_json(const Replay& replay, const std::string& about) { return json_text(summary_of(replay, about)); }

WrittenReplay write_replay(const Replay& replay, const std::string& title, const std::string& about,
                           const std::string& directory) {
  OutputFolder folder(directory, "summary.json");
  TextBuffer curves, seeds, savings;
  curves.append("policy,answers,cost,accuracy,low,high\n");
  seeds.append("policy,seed,answers,accuracy\n");
  savings.append("policy,slack,reached,answers,answers_low,answers_high,saved,saved_low,saved_high\n");
  for (const ReplayCurve& curve : replay.curves) {
    for (std::size_t p = 0; p < curve.answers.size(); ++p) {
      add_row(curves, curve.policy, {curve.answers[p], curve.cost[p], curve.accuracy[p], curve.low[p], curve.high[p]});
      for (std::size_t s = 0; s < curve.by_seed.size(); ++s) {
        add_row(seeds, curve.policy, {static_cast<double>(s), curve.answers_by_seed[s][p], curve.by_seed[s][p]});
      }
    }
    for (const Saving& saving : replay.savings) {
      if (saving.policy != curve.policy) continue;
      add_row(savings, saving.policy,
              {saving.slack, saving.reached ? 1.0 : 0.0, saving.answers, saving.low, saving.high, saving.saved,
               saving.saved_low, saving.saved_high});
    }
  }
  WrittenReplay written;
  const auto write = [&](const std::string& name, std::string_view text) {
    OutputFile file = folder.create(name);
    file.append(text);
    file.finish();
    written.files.push_back(name);
  };
  write("curves.csv", curves.text());
  write("seeds.csv", seeds.text());
  write("savings.csv", savings.text());
  Json summary = summary_of(replay, about);
  store::write_curve_pictures(replay, title, folder, written, summary);
  folder.commit(summary);
  written.files.emplace_back("summary.json");
  return written;
}

}  // namespace wisecrowd
