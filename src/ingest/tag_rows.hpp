#pragma once

#include <charconv>

#include "ingest/rows.hpp"
#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd::ingest {

/// Documents are shorter than this: a larger position is a mistake.
inline constexpr std::uint32_t kLongestDocument = 1U << 24;

/// One tag of one token per row. Without a worker column it is the truth; without a tag column, what stands in the
/// worker column is the token itself.
class TagRows : public CountedRows<TagRows> {
 public:
  using CountedRows::CountedRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const bool has_worker = plan.worker != kNoColumn, has_tag = plan.label != kNoColumn;
    const std::size_t position_column = plan.numbers.front();
    const Field document = row.field(plan.task);
    const Field worker = has_worker ? row.field(plan.worker) : Field{};
    const Field tag = has_tag ? row.field(plan.label) : Field{};
    const Field position = row.field(position_column);
    bool good = usable(document, plan.task, line);
    good = (!has_worker || usable(worker, plan.worker, line)) && good;
    good = (!has_tag || (usable(tag, plan.label, line) && take_tag(tag.text, line))) && good;
    good = usable(position, position_column, line) && take_position(position.text, line) && good;
    if (!good) return false;
    const std::uint32_t code = has_tag ? chunk_.classes.code(tag.text, table_.classes) : 0;
    const std::uint32_t entry = chunk_.add_answer(code, line);
    chunk_.task_keys.add(document.text, table_.tasks.hash(document.text), entry);
    if (has_worker) chunk_.add_worker(worker.text, table_.workers.hash(worker.text), entry);
    return true;
  }

 private:
  bool take_tag(std::string_view text, std::uint64_t line) {
    ParsedTag tag;
    if (parse_tag(text, tag)) return true;
    problem(line, table_.plan.names[table_.plan.label], text,
            std::string("is no tag of the BIO scheme: ") + kBioScheme);
    return false;
  }
  bool take_position(std::string_view text, std::uint64_t line) {
    std::uint32_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc() && end == text.data() + text.size() && value < kLongestDocument) {
      chunk_.numbers.push_back(value);
      return true;
    }
    problem(line, table_.plan.names[table_.plan.numbers.front()], text,
            "is not the position of a token: tokens of a document are numbered 0, 1, 2 … (or 1, 2, 3 …), below "
            "16,777,216");
    return false;
  }
};

}  // namespace wisecrowd::ingest
