#include "kind_run.hpp"

namespace wisecrowd::app {

RunRecord record_before(const KindRequest& request, const MethodInfo& info, const Parameters& parameters,
                        const Session& session, const RunContext& context) {
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = info.name;
  record.parameters = as_list(parameters);
  record.reading = reading_record(request.read.options());
  record.seed = context.seed();
  record.threads = context.threads();
  record.inputs.emplace_back("answers", request.answers);
  if (!request.gold.empty()) record.inputs.emplace_back("gold", request.gold);
  if (!request.read.tokens.empty()) record.inputs.emplace_back("tokens", request.read.tokens);
  if (request.read.sequences()) {
    const auto positions = request.read.position_columns();
    if (!positions.answers.empty()) record.reading.emplace_back("position_column", positions.answers);
    if (!positions.gold.empty()) record.reading.emplace_back("gold_position_column", positions.gold);
  }
  return record;
}

std::string what_was_kept(const KindRequest& request, const char* files, const Session& session) {
  const Screen& screen = session.out_screen;
  if (!request.out.empty()) {
    return fmt::format("\n{} {}\n{}  run.json       how it was made: parameters, seed, warnings, timings\n",
                       screen.bold("Written to"), shell_word(request.out), files);
  }
  if (!request.report.path.empty()) return "";
  return "\n" + wrapped("Nothing was written. To keep the results, add --out and a folder:", screen.width, 0) +
         fmt::format("\n  {} --out result\n", session.typed);
}

void show_hidden_scores(std::vector<HeldOutScore> scores, std::size_t hidden, std::size_t folds, const char* score,
                        const char* about, const Screen& screen, Session& session) {
  session.out.add(fmt::format("{}   by {} that the methods did not see, in {}\n\n", screen.bold("Scored"),
                              counted(hidden, "answer"), counted(folds, "fold")));
  Table table({{"method", Column::Side::left},
               {score},
               {"95 %", Column::Side::right, true},
               {"behind the best"},
               {"95 %"},
               {"time"}},
              1);
  for (const HeldOutScore& row : scores) {
    if (!row.refusal.empty()) continue;
    const bool best = row.behind_best.value == 0;
    const auto interval = [](const Estimate& m) { return fmt::format("{} to {}", fixed(m.low, 3), fixed(m.high, 3)); };
    table.add({row.method, fixed(row.log_probability.value, 4), interval(row.log_probability),
               best ? "best" : fixed(row.behind_best.value, 4), best ? "" : interval(row.behind_best),
               duration(row.seconds)});
  }
  session.out.add(table.text(screen.width, screen.dim_on(), screen.off()));
  session.out.add("\n  " + wrapped(about, screen.width, 2) + "\n");
  for (const HeldOutScore& row : scores) {
    if (!row.refusal.empty()) session.out.add(fmt::format("  {}: {}\n", row.method, row.refusal));
  }
}

Json hidden_scores_json(std::string_view kind, const std::vector<HeldOutScore>& scores, std::size_t hidden,
                        std::size_t folds, const char* key) {
  Json json = {{"answers_kind", kind}, {"hidden_answers", hidden}, {"folds", folds}, {"methods", Json::array()}};
  for (const HeldOutScore& score : scores) {
    if (!score.refusal.empty()) {
      json["methods"].push_back({{"method", score.method}, {"refusal", score.refusal}});
      continue;
    }
    json["methods"].push_back({{"method", score.method},
                               {key, estimate_json(score.log_probability)},
                               {"behind_best", estimate_json(score.behind_best)},
                               {"seconds", score.seconds}});
  }
  return json;
}

}  // namespace wisecrowd::app
