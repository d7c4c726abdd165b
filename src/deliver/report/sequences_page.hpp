#pragma once

#include <string>
#include <vector>

#include "deliver/report/shared.hpp"
#include "result/sequence_report_facts.hpp"

namespace wisecrowd::report {

/// What the page shows of a result on sequences: sequences.cpp has the summary, sequences_tables.cpp documents, workers
/// and types.
class SequencePage {
 public:
  SequencePage(const SequenceResult& result, const ReportOptions& options, const RunContext& context);
  [[nodiscard]] Json document();

 private:
  [[nodiscard]] std::span<const TagId> tags_of(std::size_t document) const;
  /// The spans of a document as [first, end, type, …]; `more` adds to each.
  [[nodiscard]] Json spans_json(std::span<const TagId> tags) const;
  [[nodiscard]] Json found_json(std::size_t document) const;
  [[nodiscard]] Json said_json(std::size_t document, std::size_t& bytes) const;
  [[nodiscard]] Json tokens_json(std::size_t document, std::size_t& bytes) const;
  [[nodiscard]] Order chosen_documents() const;
  [[nodiscard]] std::string verdict(const Json& warnings) const;

  void add_counts(Json& document);
  void add_warnings(Json& document);
  void add_headlines(Json& document);
  void add_types(Json& document);
  void add_documents(Json& document);
  void add_workers(Json& document);
  void add_gold(Json& document);
  void add_rest(Json& document);

  const SequenceResult result_;  ///< with the digits of the files
  const SequenceDescription description_;
  const ReportOptions& options_;
  const RunContext& context_;
  const SequenceAnswers& answers_;
  const SequenceFit& fit_;
  std::vector<std::size_t> first_span_;  ///< per document, and the end
  std::vector<double> doubt_;            ///< per document: expected number of wrong spans
  std::vector<std::string> sampling_;
};

}  // namespace wisecrowd::report
