#pragma once

#include <string>
#include <vector>

#include "data/interner.hpp"
#include "ingest/table.hpp"
#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd::ingest {

/// A table of tags or tokens with its rows one after the other, those of excluded workers left out.
struct TagFile {
  Table table;
  std::vector<std::uint32_t> documents, workers, positions;
  std::vector<std::uint16_t> codes;  ///< of the tags, as table.classes has them

  [[nodiscard]] std::uint64_t line(std::size_t row) const { return table.line_of_answer(row); }
  [[nodiscard]] const std::string& position_name() const { return table.plan.names[table.plan.numbers.front()]; }
  [[nodiscard]] std::size_t size() const noexcept { return documents.size(); }

  /// Once the rows of the table are final.
  void flatten();
};

/// Reads a file and settles its problems.
[[nodiscard]] TagFile open_tags(const Input& input, const TagColumns& columns, const ReadOptions& options,
                                const Tuning& tuning, const RunContext& context, DataReport& notes);

/// Tags of several files by the same types.
class TagNames {
 public:
  void add(const ClassColumn& codes);
  /// After the last add: types get their order.
  [[nodiscard]] NameTable order();
  /// By code.
  [[nodiscard]] std::vector<TagId> ids(const ClassColumn& codes) const;

 private:
  Interner types_;
  std::vector<std::uint32_t> place_;
};

}  // namespace wisecrowd::ingest
