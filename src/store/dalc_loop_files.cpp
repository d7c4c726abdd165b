#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/output_folder.hpp"
#include "store/curve_pictures.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd {
namespace {

/// What a picture of curves needs. Without an interval the curve is its own.
Replay drawn(const DalcLoop& loop) {
  Replay replay;
  for (const double accuracy : loop.reference_accuracy) replay.target += accuracy / static_cast<double>(loop.seeds);
  for (const DalcCurve& curve : loop.curves) {
    if (curve.mean_accuracy.empty()) continue;
    ReplayCurve& line = replay.curves.emplace_back();
    line.policy = curve.policy;
    line.answers.assign(loop.answers.begin(), loop.answers.end());
    line.accuracy = curve.mean_accuracy;
    for (const Estimate& estimate : curve.interval) {
      line.low.push_back(std::isnan(estimate.low) ? estimate.value : std::max(0.0, estimate.low));
      line.high.push_back(std::isnan(estimate.high) ? estimate.value : std::min(1.0, estimate.high));
    }
  }
  return replay;
}

}  // namespace

WrittenReplay write_dalc_loop(const DalcLoop& loop, const std::string& title, const std::string& about,
                              const std::string& directory) {
  OutputFolder folder(directory, "summary.json");
  WrittenReplay written;
  const auto write = [&](const std::string& name, const TextBuffer& text) {
    OutputFile file = folder.create(name);
    file.append(text.text());
    file.finish();
    written.files.push_back(name);
  };
  const auto row = [](TextBuffer& text, const std::string& policy, std::size_t answers) {
    text.append_field(policy);
    text.append(',');
    text.append_count(answers);
  };
  const auto number = [](TextBuffer& text, double value) {
    text.append(',');
    text.append_number(value);
  };
  const auto all = static_cast<std::size_t>(std::isnan(loop.all_answers) ? 0 : std::lround(loop.all_answers));

  TextBuffer seeds, curves, savings;
  seeds.append("policy,seed,answers,accuracy,auc\n");
  const auto seed_row = [&](const std::string& policy, std::size_t seed, std::size_t answers, double accuracy,
                            double auc) {
    seeds.append_field(policy);
    seeds.append(',');
    seeds.append_count(seed);
    seeds.append(',');
    seeds.append_count(answers);
    number(seeds, accuracy);
    number(seeds, auc);
    seeds.append('\n');
  };
  curves.append("policy,answers,accuracy,auc,low,high\n");
  savings.append("policy,area,area_low,area_high,answers_to_reach,saved,saved_low,saved_high\n");
  for (const DalcCurve& curve : loop.curves) {
    for (std::size_t s = 0; s < loop.seeds; ++s) {
      for (std::size_t p = 0; p < loop.answers.size(); ++p) {
        seed_row(curve.policy, s, loop.answers[p], curve.accuracy[s][p], curve.auc[s][p]);
      }
    }
    for (std::size_t p = 0; p < curve.mean_accuracy.size(); ++p) {
      row(curves, curve.policy, loop.answers[p]);
      number(curves, curve.mean_accuracy[p]);
      number(curves, curve.mean_auc[p]);
      number(curves, curve.interval[p].low);
      number(curves, curve.interval[p].high);
      curves.append('\n');
    }
    savings.append_field(curve.policy);
    for (const double value :
         {curve.area.value, curve.area.low, curve.area.high, curve.reaches ? curve.answers_to_reach : std::nan(""),
          curve.reaches ? curve.saved.value : std::nan(""), curve.saved.low, curve.saved.high}) {
      number(savings, value);
    }
    savings.append('\n');
  }
  for (std::size_t s = 0; s < loop.seeds; ++s) {
    seed_row("all", s, all, loop.reference_accuracy[s], loop.reference_auc[s]);
  }
  write("seeds.csv", seeds);
  write("curves.csv", curves);
  write("savings.csv", savings);
  nlohmann::ordered_json record;
  record["about"] = nlohmann::ordered_json::parse(about);
  record["seeds"] = loop.seeds;
  record["pool_tasks"] = loop.pool_tasks;
  record["past_tasks"] = loop.past_tasks;
  record["test_rows"] = loop.test_rows;
  record["all_answers"] = loop.all_answers;
  record["reference_accuracy"] = loop.reference_accuracy;
  record["reference_auc"] = loop.reference_auc;
  store::write_curve_pictures(drawn(loop), title, folder, written, record);
  folder.commit(record);
  written.files.emplace_back("summary.json");
  return written;
}

}  // namespace wisecrowd
