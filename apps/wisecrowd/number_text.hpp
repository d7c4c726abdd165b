#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "screen_text.hpp"
#include "terminal.hpp"
#include "wisecrowd/number_result.hpp"

namespace wisecrowd::app {

/// A number as people write it: 4 significant digits, whole ones without a point.
[[nodiscard]] std::string short_number(double value);
[[nodiscard]] std::string number_data_line(const NumberAnswers& answers, const Screen& screen);
[[nodiscard]] std::string number_summary(const NumberResult& result, bool is_default, double seconds,
                                         const Screen& screen);
/// Some of the tasks, their score if there is one, and the best and worst workers.
[[nodiscard]] std::string number_tables(const NumberResult& result, const Screen& screen);
[[nodiscard]] std::string number_score_lines(const NumberEvaluation& evaluation, const std::vector<std::string>& names,
                                             const Screen& screen);
[[nodiscard]] nlohmann::ordered_json number_evaluation_json(const NumberEvaluation& evaluation,
                                                            const std::vector<std::string>& names);
[[nodiscard]] std::string number_description_text(const NumberDescription& description, const NumberAnswers& answers,
                                                  const Screen& screen);
[[nodiscard]] nlohmann::ordered_json number_description_json(const NumberDescription& description,
                                                             const NumberAnswers& answers,
                                                             const std::vector<Warning>& warnings);

}  // namespace wisecrowd::app
