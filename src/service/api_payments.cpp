// What is to be paid for: every answer that stands, with the reason where it should not be.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "service/service.hpp"
#include "service/study.hpp"
#include "service/words.hpp"
#include "store/review_table.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

/// How the answers of a worker are judged: all alike, and refused only if it is advised to stop.
struct Verdict {
  bool paid = true;
  std::string reason;
  double amount = 0;  ///< of one answer
};

class Verdicts {
 public:
  Verdicts(const Study& study, const ProjectSettings& settings, std::map<std::string, WorkerSettings> decided)
      : study_(study), price_(settings.price), decided_(std::move(decided)) {}
  /// Nothing for a model, which nobody pays.
  [[nodiscard]] std::optional<Verdict> of(const std::string& worker) const {
    const auto decided = decided_.find(worker);
    if (decided != decided_.end() && decided->second.machine) return std::nullopt;
    const auto studied = study_.by_worker.find(worker);
    const bool stop = studied != study_.by_worker.end() && studied->second.advice == to_string(WorkerAdvice::stop);
    const double cost = decided == decided_.end() ? 1 : decided->second.cost;
    return Verdict{!stop, stop ? studied->second.reason : std::string(), stop ? 0 : price_ * cost};
  }

 private:
  const Study& study_;
  double price_;
  std::map<std::string, WorkerSettings> decided_;
};

std::string own_row(const Entry& entry, const Verdict& verdict) {
  return fmt::format("{},{},{},{},{},{},{:.10g}\n", csv_field(spreadsheet_safe(entry.task)),
                     csv_field(spreadsheet_safe(entry.worker)), csv_field(spreadsheet_safe(entry.assignment)),
                     csv_field(spreadsheet_safe(entry.label)), verdict.paid ? "approve" : "reject",
                     csv_field(spreadsheet_safe(verdict.reason)), verdict.amount);
}

Json totals(const Project& project, const Verdicts& verdicts) {
  constexpr std::size_t kAtOnce = 50'000;
  std::map<std::string, std::uint64_t> given;
  std::int64_t after = 0;
  for (std::size_t got = kAtOnce; got == kAtOnce;) {
    const auto page = project.with_journal([&](const Journal& journal) { return journal.standing(after, kAtOnce); });
    for (const Entry& entry : page) ++given[entry.worker];
    got = page.size();
    if (got > 0) after = page.back().position;
  }
  Json list = Json::array();
  for (const auto& [worker, answers] : given) {
    const auto verdict = verdicts.of(worker);
    if (!verdict) continue;
    list.push_back({{"worker", worker},
                    {"answers", answers},
                    {"verdict", verdict->paid ? "approve" : "reject"},
                    {"reason", verdict->reason},
                    {"amount", verdict->amount * static_cast<double>(answers)}});
  }
  return list;
}

}  // namespace

void Service::list_payments(Call& call) {
  allow_query(call.request, {"format", "limit", "cursor", "after"});
  await_position(call);
  const auto given = call.request.query.find("format");
  const std::string shape = given == call.request.query.end() ? "json" : given->second;
  if (shape != "json" && shape != "csv" && shape != "mturk" && shape != "toloka")
    throw Refusal(400, "format: there are json, csv, mturk and toloka");
  const auto limit = static_cast<std::size_t>(query_integer(call.request, "limit", 50'000, 1, 100'000));
  const std::int64_t after = query_integer(call.request, "cursor", 0, 0, std::int64_t{1} << 53);
  const auto study = call.project->study();
  if (!study) throw Refusal(409, "nobody has looked at the workers yet: try again in a second");
  const Verdicts verdicts(*study, call.project->settings(), call.project->worker_settings());
  if (shape == "json") {
    return call.reply(
        json_response(200, {{"workers", totals(*call.project, verdicts)}, {"position", study->position}}));
  }
  const auto page = call.project->with_journal([&](const Journal& journal) { return journal.standing(after, limit); });
  const ReviewTable table = shape == "mturk" ? ReviewTable::mturk : ReviewTable::toloka;
  HttpResponse response;
  response.type = shape == "toloka" ? "text/tab-separated-values; charset=utf-8" : "text/csv; charset=utf-8";
  response.body = shape == "csv" ? "task,worker,assignment,label,verdict,reason,amount\n" : review_header(table);
  for (const Entry& entry : page) {
    const auto verdict = verdicts.of(entry.worker);
    if (!verdict || (shape != "csv" && entry.assignment.empty())) continue;
    response.body += shape == "csv"
                         ? own_row(entry, *verdict)
                         : review_row(table, entry.assignment, entry.worker,
                                      verdict->paid ? std::nullopt : std::optional<std::string_view>(verdict->reason));
  }
  if (page.size() == limit) response.headers.emplace_back("Wisecrowd-Next", std::to_string(page.back().position));
  response.headers.emplace_back("Content-Disposition",
                                fmt::format("attachment; filename=\"payments.{}\"", shape == "toloka" ? "tsv" : "csv"));
  call.reply(std::move(response));
}

}  // namespace wisecrowd::service
