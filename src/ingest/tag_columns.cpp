#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "ingest/column_aliases.hpp"
#include "ingest/column_search.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

std::vector<std::string_view> document_aliases() {
  std::vector<std::string_view> documents{"doc", "document"};
  documents.insert(documents.end(), std::begin(kTaskAliases), std::end(kTaskAliases));
  return documents;
}

/// What the tag of a token, or the type of a span, is called.
std::vector<std::string_view> with_label_aliases(std::vector<std::string_view> names, bool truth) {
  if (truth) names.insert(names.end(), std::begin(kTruthAliases), std::end(kTruthAliases));
  names.insert(names.end(), std::begin(kLabelAliases), std::end(kLabelAliases));
  return names;
}

[[nodiscard]] bool all_found(std::span<const Wanted> wanted) {
  return std::none_of(wanted.begin(), wanted.end(), [](const Wanted& w) { return *w.place == kNoColumn; });
}

std::vector<std::string_view> tag_aliases(bool truth) {
  return with_label_aliases({"tag", "bio", "ner_tag", "tags"}, truth);
}

ColumnPlan plan_wide_tags(ColumnPlan plan, const std::string& file, const TagColumns& columns) {
  plan.layout = TableLayout::wide;
  std::size_t position = kNoColumn;
  const auto documents = document_aliases();
  const Wanted wanted[] = {{"document", columns.document, documents, &plan.task},
                           {"position", columns.position, kPositionAliases, &position}};
  find_columns(plan, file, wanted);
  if (!all_found(wanted)) {
    fail_missing(plan, file, wanted,
                 "Name them with `columns=DOC,POSITION`; a file that numbers no tokens is read in the order of its "
                 "rows with `format=conll`");
  }
  const std::size_t worker = find_alias(plan.names, kWorkerAliases);
  const std::size_t tag = find_alias(plan.names, tag_aliases(false));
  if (worker != kNoColumn && tag != kNoColumn) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the columns '{}' and '{}' are those of one row per tag: leave the wide layout out",
                            file, printable(plan.names[worker]), printable(plan.names[tag])));
  }
  plan.numbers = plan.beside = {position};
  const std::size_t token = find_alias(plan.names, kTokenAliases);
  if (token != kNoColumn && token != plan.task && token != position) plan.beside.push_back(token);
  if (plan.format != TableFormat::jsonl && plan.names.size() < 2 + plan.beside.size()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: a wide table has one column per worker beside the document and the position; this "
                            "one has only {}{}",
                            file, shown_header(plan), hint(plan)));
  }
  check_worker_columns(plan, file);
  return plan;
}

/// Where the two ends of spans stand, or kNoColumn.
std::pair<std::size_t, std::size_t> find_ends(const std::vector<std::string>& names) {
  for (const auto& [first, second] : kSpanAliases) {
    const std::size_t start = find_alias(names, std::span(&first, 1)), end = find_alias(names, std::span(&second, 1));
    if (start != kNoColumn && end != kNoColumn) return {start, end};
  }
  return {kNoColumn, kNoColumn};
}

}  // namespace

std::size_t find_document_column(const std::vector<std::string>& names) {
  return find_alias(names, document_aliases());
}

std::size_t find_token_column(const std::vector<std::string>& names) {
  const std::size_t found = find_alias(names, kTokenAliases);
  return found == kNoColumn ? 0 : found;
}

ColumnPlan plan_tags(const std::string& file, TableFormat format, std::vector<std::string> names,
                     const TagColumns& columns) {
  ColumnPlan plan;
  plan.format = format;
  plan.names = std::move(names);
  if (columns.wide) return plan_wide_tags(std::move(plan), file, columns);
  const auto documents = document_aliases();
  const auto tags = tag_aliases(!columns.has_worker);
  std::size_t position = kNoColumn;
  std::vector<Wanted> wanted = {{"document", columns.document, documents, &plan.task},
                                {"position", columns.position, kPositionAliases, &position}};
  std::string shape = "DOC,POSITION";
  if (columns.has_worker) {
    const std::span<const std::string_view> workers(kWorkerAliases), tokens(kTokenAliases);
    const bool token = columns.worker_is_token;
    wanted.push_back({token ? "token" : "worker", columns.worker, token ? tokens : workers, &plan.worker});
    shape += token ? ",TOKEN" : ",WORKER";
  }
  if (columns.has_tag) {
    wanted.push_back({"tag", columns.tag, tags, &plan.label});
    shape += ",TAG";
  }
  if (!take_positions(plan, file, wanted)) {
    find_columns(plan, file, wanted);
    if (!all_found(wanted)) {
      fail_missing(
          plan, file, wanted,
          columns.worker_is_token
              ? std::string("The first row must name them: doc,position,token")
              : fmt::format("Name them with `{}={}`{}", columns.has_worker ? "columns" : "gold_columns", shape,
                            columns.has_worker ? ", or choose the wide layout if there is one column per worker" : ""));
    }
    refuse_repeated_names(plan, file, false);
  }
  plan.numbers = {position};
  return plan;
}

bool are_span_columns(const std::vector<std::string>& names) {
  return find_ends(names).first != kNoColumn && find_alias(names, kPositionAliases) == kNoColumn;
}

ColumnPlan plan_spans(const std::string& file, std::vector<std::string> names, const ReadOptions& options, bool gold) {
  ColumnPlan plan;
  plan.names = std::move(names);
  const auto& given = gold ? options.gold_value_columns : options.value_columns;
  std::size_t start = kNoColumn, end = kNoColumn;
  const auto documents = document_aliases();
  const auto types = with_label_aliases({"type", "tag", "entity", "entity_type", "span_type", "entity_label"}, gold);
  const bool named = given.size() == 2;
  std::vector<Wanted> wanted = {
      {"document", gold ? options.gold_task_column : options.task_column, documents, &plan.task},
      {"start", named ? given[0] : "", {}, &start},
      {"end", named ? given[1] : "", {}, &end},
      {"type", gold ? options.gold_label_column : options.label_column, types, &plan.label}};
  if (!gold) wanted.push_back({"worker", options.worker_column, kWorkerAliases, &plan.worker});
  find_columns(plan, file, wanted);
  if (!named) std::tie(start, end) = find_ends(plan.names);
  if (!all_found(wanted)) {
    fail_missing(plan, file, wanted,
                 gold ? "Name them with `gold_columns=DOC,START,END,TYPE`"
                      : "Name them with `columns=DOC,WORKER,START,END,TYPE`");
  }
  plan.numbers = {start, end};
  refuse_repeated_names(plan, file, false);
  return plan;
}

}  // namespace wisecrowd::ingest
