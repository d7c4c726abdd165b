#include <fmt/core.h>

#include <algorithm>

#include "ingest/platforms/json_reading.hpp"

namespace wisecrowd::ingest::arena {
namespace {

/// Left, right or tie as the words of such files have it; empty for others.
std::string_view outcome_of(const std::string& winner) {
  if (winner == "model_a") return "left";
  if (winner == "model_b") return "right";
  if (winner == "tie" || winner == "tie (bothbad)") return "tie";
  return {};
}

struct Battle {
  std::string question, left, right, winner, judge, time;
  bool machine = false;
};

void take(const Battle& battle, const Place& place, Collected& into) {
  const std::string_view outcome = outcome_of(battle.winner);
  if (battle.left.empty() || battle.right.empty()) {
    return into.problem(place, "", "", "a battle needs model_a and model_b");
  }
  if (outcome.empty()) {
    return into.problem(place, "", battle.winner, "as winner: model_a, model_b, tie or tie (bothbad) is wanted");
  }
  const std::uint32_t submission = into.submit(battle.question.empty() ? "battle" : battle.question,
                                               battle.judge.empty() ? "unnamed" : battle.judge, place);
  into.submissions[submission].machine = battle.machine;
  into.set_time(submission, battle.time);
  into.say_pair(submission, "winner", battle.left, battle.right, outcome);
}

void read_json(const PlatformFile& file, Collected& into) {
  const auto read_one = [&](const JsonObject& object, std::uint64_t row) {
    Battle battle{text_at(object, "question_id").value_or(""), text_at(object, "model_a").value_or(""),
                  text_at(object, "model_b").value_or(""),     text_at(object, "winner").value_or(""),
                  text_at(object, "judge").value_or(""),       text_at(object, "tstamp").value_or("")};
    // A model that judges is named together with its prompt.
    if (const auto parts = array_at(object, "judge")) {
      for (const std::string& part : scalar_list(*parts).value_or(std::vector<std::string>{})) {
        battle.judge += (battle.judge.empty() ? "" : "/") + part;
      }
      battle.machine = true;
    }
    if (battle.machine && !file.options.platform.models) {
      ++into.left_out["predicted by models"];
      return;
    }
    take(battle, {.row = row}, into);
  };
  read_objects(file, read_one, into);
}

void read_csv(const PlatformFile& file, Collected& into) {
  std::vector<std::string> names;
  const auto at = [&](const std::vector<std::string>& fields, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::string() : fields[static_cast<std::size_t>(found - names.begin())];
  };
  read_table_rows(
      file, [&](const std::vector<std::string>& header) { names = header; },
      [&](const std::vector<std::string>& f, std::uint64_t line) {
        take({at(f, "question_id"), at(f, "model_a"), at(f, "model_b"), at(f, "winner"), at(f, "judge"),
              at(f, "tstamp")},
             {.row = line}, into);
      },
      into);
}

bool recognises(const FileHead& head) {
  return head.is_json && head.has("model_a") && head.has("model_b") && head.has("winner") && head.has("question_id");
}

void read(const PlatformFile& given, Collected& into) {
  PlatformFile file = given;
  const bool json = head_of("", look_at(file.input, 4096, file.context)).is_json;
  return json ? read_json(file, into) : read_csv(file, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "an arena", .summary = "battles of models with a winner, as JSON or CSV"},
          .recognises = recognises,
          .read = read,
          .time_names = {"tstamp"}};
}

}  // namespace wisecrowd::ingest::arena
