#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "screen_text.hpp"
#include "terminal.hpp"
#include "wisecrowd/comparison_result.hpp"

namespace wisecrowd::app {

[[nodiscard]] std::string comparison_data_line(const ComparisonAnswers& answers, const Screen& screen);
[[nodiscard]] std::string comparison_summary(const ComparisonResult& result, bool is_default, double seconds,
                                             const Screen& screen);
[[nodiscard]] std::string comparison_score_lines(const ComparisonEvaluation& evaluation);
[[nodiscard]] nlohmann::ordered_json comparison_evaluation_json(const ComparisonEvaluation& evaluation);
[[nodiscard]] std::string comparison_description_text(const ComparisonDescription& description,
                                                      const ComparisonAnswers& answers, const Screen& screen);
[[nodiscard]] nlohmann::ordered_json comparison_description_json(const ComparisonDescription& description,
                                                                 const ComparisonAnswers& answers,
                                                                 const std::vector<Warning>& warnings);

}  // namespace wisecrowd::app
