#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "sequence_run.hpp"
#include "sequence_text.hpp"
#include "shared_json.hpp"
#include "wisecrowd/read_sequences.hpp"

namespace wisecrowd::app {
namespace {

/// Tags and gold of the documents that both tables have, by the types of both.
struct MatchedTags {
  NameTable types;
  std::vector<std::uint64_t> offsets{0};
  std::vector<TagId> tags, gold;
  std::size_t only_predicted = 0, only_gold = 0;  ///< documents
};

/// The rows of each document in the order of positions.
using RowsOfDocument = std::map<std::string_view, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

RowsOfDocument rows_by_document(const TagTable& table, const std::string& path) {
  RowsOfDocument rows;
  for (std::uint32_t r = 0; r < table.tags.size(); ++r) {
    rows[table.documents[table.document[r]]].emplace_back(table.position[r], r);
  }
  for (auto& [document, own] : rows) {
    std::sort(own.begin(), own.end());
    const auto twice =
        std::adjacent_find(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != own.end()) {
      throw Failure(EX_DATAERR, fmt::format("{}: position {} of document '{}' stands there twice: keep one of the two",
                                            printable(path), twice->first, printable(document)));
    }
  }
  return rows;
}

MatchedTags match_tags(const TagTable& predicted, const std::string& predicted_path, const TagTable& gold,
                       const std::string& gold_path) {
  MatchedTags matched;
  std::map<std::string_view, std::size_t> place;
  for (const TagTable* table : {&predicted, &gold}) {
    for (std::size_t x = 0; x < table->types.size(); ++x) place.emplace(table->types[x], 0);
  }
  std::vector<std::string> names;
  for (auto& [name, at] : place) {
    at = names.size();
    names.emplace_back(name);
  }
  matched.types = NameTable(names);
  const auto tag_in = [&](const TagTable& table, std::uint32_t row) {
    const TagId tag = table.tags[row];
    if (tag == kOutside) return tag;
    const std::size_t type = place.at(table.types[type_of(tag)]);
    return is_begin(tag) ? begin_tag(type) : inside_tag(type);
  };
  const auto found = rows_by_document(predicted, predicted_path), known = rows_by_document(gold, gold_path);
  for (const auto& [document, rows] : known) {
    const auto own = found.find(document);
    if (own == found.end()) {
      ++matched.only_gold;
      continue;
    }
    // Tokens that one of the tables lacks break spans on both sides.
    std::size_t at = 0;
    for (const auto& [position, row] : rows) {
      while (at < own->second.size() && own->second[at].first < position) ++at;
      const bool both = at < own->second.size() && own->second[at].first == position;
      matched.tags.push_back(both ? tag_in(predicted, own->second[at].second) : kNoTag);
      matched.gold.push_back(tag_in(gold, row));
    }
    matched.offsets.push_back(matched.tags.size());
  }
  for (const auto& [document, rows] : found) matched.only_predicted += known.contains(document) ? 0 : 1;
  return matched;
}

}  // namespace

void evaluate_sequences_file(const KindRequest& request, std::vector<Warning> warnings, Session& session) {
  Work work(session, request.run);
  const auto read = [&](const std::string& path, const std::string& columns, const char* flag, bool safe) {
    ReadFlags flags = request.read;
    flags.columns.clear();
    flags.gold_columns.clear();
    ReadOptions options = flags.options();
    std::string position;
    read_columns(columns, flag, {&options.task_column, &position, &options.label_column},
                 std::string(flag) + " doc,position,tag");
    options.safe_names = safe && options.safe_names;
    DataReport report;
    TagTable table =
        at_stage(Stage::reading, [&] { return read_tag_table(path, options, position, work.context(), &report); });
    work.check_stopped();
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    return table;
  };
  const TagTable predicted = read(request.answers, request.read.columns, "--columns", false);
  const TagTable gold = read(request.gold, request.read.gold_columns, "--gold-columns", true);
  const MatchedTags matched = match_tags(predicted, request.answers, gold, request.gold);
  if (matched.tags.empty()) {
    throw Failure(EX_DATAERR, fmt::format("no document of {} stands in {}: are both of the same documents?",
                                          printable(request.gold), printable(request.answers)));
  }
  const SequenceEvaluation evaluation =
      evaluate_sequences(matched.offsets, matched.tags, matched.gold, matched.types.size());
  session.warn(warnings);
  if (request.json) {
    auto json = sequence_evaluation_json(evaluation, matched.types);
    json["documents_without_gold"] = matched.only_predicted;
    json["gold_without_tags"] = matched.only_gold;
    json["warnings"] = warnings_json(warnings);
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  std::string text =
      fmt::format("{}   {} against gold", screen.bold("Scored"), counted(evaluation.documents, "document"));
  if (matched.only_predicted > 0) text += fmt::format("; {} without gold", grouped(matched.only_predicted));
  if (matched.only_gold > 0) text += fmt::format("; {} gold only", grouped(matched.only_gold));
  session.out.add(text + "\n" + sequence_score_lines(evaluation, matched.types, screen));
}

}  // namespace wisecrowd::app
