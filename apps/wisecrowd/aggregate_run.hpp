#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common_options.hpp"
#include "structure_flags.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/cleaning.hpp"

namespace wisecrowd::app {

/// What one aggregation needs to know.
struct AggregateRequest {
  std::string labels;
  std::optional<std::string> gold;
  bool gold_for_evaluation = false;
  std::string method;             ///< empty: the default
  std::string init;               ///< the method that it starts from; empty: its own start
  bool init_from_tables = false;  ///< from the posterior that the tables of init imply
  std::string finish;             ///< the method that goes on from its result; empty: none
  std::vector<std::string> settings;
  CleaningRequest without;  ///< whose answers the method does not see
  double abstain_below = 0;
  ReadOptions read;
  StructureFlags structure;
  std::optional<std::string> out;
  bool look_at_pairs_only = false;  ///< unless one stands out: no search for dependent workers beside a named method
};

struct AggregateOutcome {
  CategoryResult result;
  double fit_seconds = 0;
};

/// Reads, describes, fits, summarises, and writes if wanted. The `aggregate` and `demo` commands.
[[nodiscard]] AggregateOutcome run_aggregate(const AggregateRequest& request, Session& session, Work& work);

/// Leaves the answers of such workers out of `data`, and says in the record who they are and why. Nothing happens when
/// nobody is asked for.
void leave_out(const CleaningRequest& without, CategoryData& data, RunRecord& record, Work& work);
/// Completes a fit to such data: tables of those who were left out, and who else answers as one.
void complete_cleaned_fit(const CategoryData& all, const CategoryData& seen, const RunRecord& record, CategoryFit& fit,
                          Work& work);

/// Adds warnings whose code is not there yet: data and method may notice the same thing.
void add_new(std::vector<Warning>& warnings, const std::vector<Warning>& more);

}  // namespace wisecrowd::app
