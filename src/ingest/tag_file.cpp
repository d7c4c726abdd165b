#include "ingest/tag_file.hpp"

#include <fmt/core.h>

#include <utility>

#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/read_sequences.hpp"

namespace wisecrowd::ingest {

void TagFile::flatten() {
  std::size_t answer = 0;
  for (const CategoryPiece& piece : table.pieces) {
    documents.insert(documents.end(), piece.tasks.begin(), piece.tasks.end());
    workers.insert(workers.end(), piece.workers.begin(), piece.workers.end());
    codes.insert(codes.end(), piece.payload.begin(), piece.payload.end());
    for (std::size_t i = 0; i < piece.size(); ++i, ++answer) {
      const std::size_t row = table.row_of_answer(answer);
      positions.push_back(static_cast<std::uint32_t>(table.numbers[row]));
    }
  }
  table.pieces.clear();
}

TagFile open_tags(const Input& input, const TagColumns& columns, const ReadOptions& options, const Tuning& tuning,
                  const RunContext& context, DataReport& notes) {
  TableRequest request;
  request.kind = TableKind::tags;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    return plan_tags(file, format, std::move(names), columns);
  };
  TagFile file{read_table(input, request, options, tuning, context, notes), {}, {}, {}, {}};
  settle_problems(file.table.file, options.lenient, notes);
  if (file.table.pieces.empty()) refuse_all_rows(file.table.file, notes);
  return file;
}

void TagNames::add(const ClassColumn& codes) {
  for (std::uint32_t c = 0; c < codes.names().size(); ++c) {
    ParsedTag tag;
    if (parse_tag(codes.names()[c], tag) && !tag.outside) types_.intern(tag.type);
  }
}

NameTable TagNames::order() {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < types_.size(); ++i) names.push_back(types_[i]);
  const auto order = class_order(names);
  place_.resize(order.size());
  std::vector<std::string> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place_[order[i]] = i;
    sorted.emplace_back(names[order[i]]);
  }
  return NameTable(sorted);
}

std::vector<TagId> TagNames::ids(const ClassColumn& codes) const {
  std::vector<TagId> ids;
  for (std::uint32_t c = 0; c < codes.names().size(); ++c) {
    ParsedTag tag;
    (void)parse_tag(codes.names()[c], tag);  // the rows were checked
    const std::size_t type = tag.outside ? 0 : place_[types_.find(tag.type)];
    ids.push_back(tag.outside ? kOutside : tag.begins ? begin_tag(type) : inside_tag(type));
  }
  return ids;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

TagTable read_tag_table(const std::string& path, const ReadOptions& options, const std::string& position_column,
                        const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  ingest::TagFile file = ingest::open_tags(
      {path, std::nullopt}, {options.task_column, position_column, "", options.label_column, false, true, false},
      options, ingest::Tuning{}, context, notes);
  file.flatten();
  ingest::TagNames names;
  names.add(file.table.classes);
  TagTable out;
  out.types = names.order();
  const auto ids = names.ids(file.table.classes);
  for (const std::uint16_t code : file.codes) out.tags.push_back(ids[code]);
  out.documents = file.table.tasks.release(context.pool());
  if (options.safe_names) {
    out.documents = ingest::safe_names(out.documents);
    out.types = ingest::safe_names(out.types);
  }
  out.document = std::move(file.documents);
  out.position = std::move(file.positions);
  return out;
}

}  // namespace wisecrowd
