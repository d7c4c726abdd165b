#pragma once

#include "wisecrowd/sequence_result.hpp"

namespace wisecrowd {

/// What a report of sequences says beyond the result.
struct SequenceReportFacts {
  SequenceDescription description;
};
[[nodiscard]] SequenceReportFacts report_facts(const SequenceResult& result);

}  // namespace wisecrowd
