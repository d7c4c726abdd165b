#include "store/review_table.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/csv_text.hpp"

namespace wisecrowd {
namespace {

/// A field of a table whose fields cannot be quoted.
std::string without_tabs(std::string_view text) {
  std::string field(text);
  std::replace_if(
      field.begin(), field.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return field;
}

}  // namespace

std::string_view review_header(ReviewTable table) noexcept {
  return table == ReviewTable::mturk ? "AssignmentId,WorkerId,Approve,Reject\n"
                                     : "ASSIGNMENT:assignment_id\tACCEPT:verdict\tACCEPT:comment\n";
}

std::string review_row(ReviewTable table, std::string_view assignment, std::string_view worker,
                       std::optional<std::string_view> refused) {
  const std::string_view reason = refused.value_or("");
  if (table == ReviewTable::mturk) {
    return fmt::format("{},{},{},{}\n", csv_field(assignment), csv_field(worker), refused ? "" : "x",
                       csv_field(reason));
  }
  return fmt::format("{}\t{}\t{}\n", without_tabs(assignment), refused ? "-" : "+", without_tabs(reason));
}

}  // namespace wisecrowd
