#pragma once

#include "result/report_facts.hpp"

namespace wisecrowd {

/// One pass over the answers.
[[nodiscard]] AgreementFacts agreement_facts(const CategoryAnswers& answers, const RunContext& context);

}  // namespace wisecrowd
