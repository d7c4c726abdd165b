#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report_run.hpp"

namespace wisecrowd::app {

/// What one run on answers of another kind than categories needs to know; commands use the parts that they have flags
/// for.
struct KindRequest {
  std::string answers;
  std::string gold;
  bool gold_for_evaluation = false;
  std::string method;  ///< empty: the default; for compare a list, empty: all
  std::vector<std::string> settings;
  std::string out;
  ReportRequest report;   ///< aggregate
  std::size_t folds = 0;  ///< compare
  double share = 0;       ///< compare
  bool json = false;
  ReadFlags read;
  RunFlags run;
};

/// What the commands do with answers of a kind.
struct KindCommands {
  std::string_view kind;  ///< "numbers"
  void (*aggregate)(const KindRequest& request, Session& session);
  void (*describe)(const KindRequest& request, Session& session);
  /// With gold by errors, without by hidden answers.
  void (*compare)(const KindRequest& request, Session& session);
  /// `request.answers` is a table of what was inferred; `warnings` are known beforehand.
  void (*evaluate)(const KindRequest& request, std::vector<Warning> warnings, Session& session);

  /// Refuses a flag that is for categories alone.
  void refuse(bool given, std::string_view flag) const;
};

/// Null for categories, which the commands handle themselves.
[[nodiscard]] const KindCommands* kind_commands(const ReadFlags& read);

// One per kind.
[[nodiscard]] KindCommands number_commands();
[[nodiscard]] KindCommands similarity_commands();
[[nodiscard]] KindCommands comparison_commands();
[[nodiscard]] KindCommands set_commands();
[[nodiscard]] KindCommands sequence_commands();

}  // namespace wisecrowd::app
