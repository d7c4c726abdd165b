#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/output_folder.hpp"
#include "deliver/report/shared.hpp"
#include "wisecrowd/judge_report.hpp"

// The page of a look at judges: machines beside people, their leanings, calibration, and the leaderboard.

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostPeople = 60, kMostLeaders = 200, kMostShares = 200;

class JudgePage {
 public:
  explicit JudgePage(const JudgeRun& run) : run_(run), data_(run.data), study_(run.study) {}

  Json document(const std::string& title) {
    ReportOptions options;
    options.title = title;
    options.method_title = "People and machines in one crowd";
    options.method_summary =
        "The truth of people and machines together, where machines of one family may err together, and how far each "
        "machine can be believed, measured by people.";
    Json document = document_head(run_.record, options);
    document["answers_kind"] = "judges";
    document["run"] = run_facts(run_.record, study_.fit, options, 0);
    document["run"].erase("data_hash");
    document["counts"] = {{"tasks", data_.tasks.size()},
                          {"workers", data_.workers.size()},
                          {"answers", data_.answers.size()},
                          {"machines", study_.judges.size()},
                          {"people_tasks", study_.people_tasks}};
    WarningList list(run_.record);
    list.add_new(run_.record.data_warnings);
    list.add_new(study_.warnings);
    document["warnings"] = list.json();
    add_summary(document);
    document["judges"] = judge_rows();
    document["biases"] = bias_rows();
    document["calibration"] = calibration_rows();
    document["prevalence"] = prevalence_rows();
    document["families"] = family_rows();
    document["leaderboard"] = leaderboard_rows();
    document["scores_in_points"] = data_.kind == JudgedKind::ordered;
    document["convergence"] = convergence_facts(study_.fit, true, sampling_);
    document["sampling"] = sampling_;
    return document;
  }

 private:
  [[nodiscard]] std::string worker(WorkerId id) const { return shown_name(data_.workers[index(id)]); }
  static Json figures(const Estimate& e) {
    return {{"value", number(e.value, kHeadlineDigits)},
            {"low", number(e.low, kHeadlineDigits)},
            {"high", number(e.high, kHeadlineDigits)}};
  }

  /// The machine that people's answers speak best for; null where none is known.
  [[nodiscard]] const JudgeReliability* best() const {
    const JudgeReliability* top = nullptr;
    for (const WorkerId judge : study_.judges) {
      const JudgeReliability& one = study_.reliability[index(judge)];
      if (std::isnan(one.against_people.value)) continue;
      if (top == nullptr || one.against_people.value > top->against_people.value) top = &one;
    }
    return top;
  }

  void add_summary(Json& document) const {
    std::string words =
        fmt::format("{} were looked at beside {}; people answered {} of {}.", counted(study_.judges.size(), "machine"),
                    counted(data_.workers.size() - study_.judges.size(), "other worker"), grouped(study_.people_tasks),
                    counted(data_.tasks.size(), "task"));
    Json list = Json::array();
    if (const JudgeReliability* top = best()) {
      words += fmt::format(" By people's answers, {} is right most often.", worker(top->worker));
      list.push_back(with_interval(
          headline("best", "Best machine", number(top->against_people.value, kHeadlineDigits), "share",
                   fmt::format("{}: right answers by the truth of people alone.", worker(top->worker)), "estimated"),
          top->against_people.low, top->against_people.high));
    }
    if (std::isfinite(study_.agreement.people_agree)) {
      list.push_back(headline("people", "People agree", number(study_.agreement.people_agree, kHeadlineDigits), "share",
                              "Of two people's answers to one task.", "counted"));
    }
    std::size_t clear = 0;
    for (const BiasEstimate& bias : study_.biases) {
      clear += bias.clear && bias.bias != JudgeBias::lean ? 1 : 0;
    }
    list.push_back(headline("biases", "Leanings beyond doubt", clear, "count",
                            "Towards the side shown first, the longer text or the own family's work.", "estimated"));
    document["headlines"] = std::move(list);
    document["verdict"] = words + serious_words(document["warnings"], "what is said of machines");
  }

  Json judge_rows() {
    Json rows = Json::array();
    std::vector<const JudgeReliability*> order;
    for (const JudgeReliability& judge : study_.reliability) order.push_back(&judge);
    std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
      if (data_.is_machine(a->worker) != data_.is_machine(b->worker)) return data_.is_machine(a->worker);
      return data_.is_machine(a->worker) ? a->accuracy.value > b->accuracy.value : a->tasks > b->tasks;
    });
    std::size_t people = 0;
    for (const JudgeReliability* judge : order) {
      const JudgeInfo& info = data_.judges[index(judge->worker)];
      if (info.kind == WorkerKind::human && ++people > kMostPeople) continue;
      rows.push_back({{"name", worker(judge->worker)},
                      {"kind", to_string(info.kind)},
                      {"family", shown_name(info.family)},
                      {"tasks", judge->tasks},
                      {"accuracy", figures(judge->accuracy)},
                      {"against_people", figures(judge->against_people)},
                      {"agreement", figures(judge->agreement)},
                      {"base_rate", number(judge->base_rate, kHeadlineDigits)},
                      {"kappa", figures(judge->kappa)},
                      {"consistency", figures(judge->consistency)},
                      {"order_consistency", figures(judge->order_consistency)},
                      {"temperature", number(judge->temperature, kHeadlineDigits)},
                      {"more_answers", judge->needs_known ? Json(judge->more_answers) : Json(nullptr)}});
    }
    if (people > kMostPeople) {
      sampling_.push_back(
          fmt::format("Of {} people, the {} with most answers are shown.", grouped(people), kMostPeople));
    }
    return rows;
  }

  [[nodiscard]] Json bias_rows() const {
    Json rows = Json::array();
    for (const BiasEstimate& bias : study_.biases) {
      rows.push_back({{"name", worker(bias.worker)},
                      {"bias", to_string(bias.bias)},
                      {"effect", figures(bias.effect)},
                      {"share", figures(bias.share)},
                      {"answers", bias.answers},
                      {"clear", bias.clear}});
    }
    return rows;
  }

  [[nodiscard]] Json calibration_rows() const {
    Json rows = Json::array();
    for (const JudgeReliability& judge : study_.reliability) {
      const auto add = [&](const char* when, const std::vector<JudgeReliability::Bin>& bins) {
        for (const auto& bin : bins) {
          rows.push_back({{"name", worker(judge.worker)},
                          {"when", when},
                          {"confidence", number(bin.confidence, kHeadlineDigits)},
                          {"right", number(bin.right, kHeadlineDigits)},
                          {"tasks", bin.tasks}});
        }
      };
      add("raw", judge.raw_bins);
      add("calibrated", judge.calibrated_bins);
    }
    return rows;
  }

  [[nodiscard]] Json prevalence_rows() const {
    Json rows = Json::array();
    for (const PrevalenceEstimate& share : study_.prevalence) {
      if (rows.size() == kMostShares) break;
      rows.push_back({{"name", worker(share.worker)},
                      {"class", shown_name(data_.classes[index(share.of)])},
                      {"raw", number(share.raw, kHeadlineDigits)},
                      {"corrected", figures(share.corrected)}});
    }
    return rows;
  }

  [[nodiscard]] Json family_rows() const {
    Json rows = Json::array();
    for (const FamilySummary& family : study_.families) {
      if (family.members.size() < 2) continue;
      rows.push_back({{"name", shown_name(family.name)},
                      {"judges", family.members.size()},
                      {"correlation", figures(family.error_correlation)},
                      {"voices", number(family.effective_voices, 3)}});
    }
    return rows;
  }

  Json leaderboard_rows() {
    Json rows = Json::array();
    if (!study_.everybody) return rows;
    std::vector<double> people(data_.items.size(), std::nan(""));
    if (study_.people) {
      for (const LeaderboardRow& row : study_.people->rows) people[index(row.item)] = row.rank;
    }
    for (const LeaderboardRow& row : study_.everybody->rows) {
      if (rows.size() == kMostLeaders) {
        sampling_.push_back(fmt::format("Of {} items, the first {} are shown.", data_.items.size(), kMostLeaders));
        break;
      }
      rows.push_back({{"name", shown_name(data_.items[index(row.item)])},
                      {"score", number(row.score.value, kHeadlineDigits)},
                      {"low", number(row.score.low, kHeadlineDigits)},
                      {"high", number(row.score.high, kHeadlineDigits)},
                      {"rank", row.rank},
                      {"rank_low", row.rank_low},
                      {"rank_high", row.rank_high},
                      {"comparisons", row.tasks},
                      {"by_people", number(people[index(row.item)])}});
    }
    return rows;
  }

  const JudgeRun& run_;
  const JudgeData& data_;
  const JudgeStudy& study_;
  std::vector<std::string> sampling_;
};

}  // namespace
}  // namespace wisecrowd::report

namespace wisecrowd {

std::string judge_report_json(const JudgeRun& run, const std::string& title) {
  return report::JudgePage(run).document(title).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void write_judge_report(const JudgeRun& run, const std::string& title, const std::string& path) {
  const std::string json = judge_report_json(run, title);
  write_file_whole(path, path.ends_with(".json") ? json + "\n" : report_page(json, ""));
}

}  // namespace wisecrowd
