#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wisecrowd {

/// Tables by which platforms are told what to pay for.
enum class ReviewTable {
  mturk,   ///< CSV: AssignmentId, WorkerId, Approve, Reject
  toloka,  ///< TSV: ASSIGNMENT:assignment_id, ACCEPT:verdict, ACCEPT:comment
};

[[nodiscard]] std::string_view review_header(ReviewTable table) noexcept;
/// A row with its end; `refused`: why it should not be paid.
[[nodiscard]] std::string review_row(ReviewTable table, std::string_view assignment, std::string_view worker,
                                     std::optional<std::string_view> refused);

}  // namespace wisecrowd
