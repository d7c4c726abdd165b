#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "terminal.hpp"
#include "wisecrowd/set_result.hpp"

namespace wisecrowd::app {

// What the command line shows of answers that are sets of classes.

[[nodiscard]] std::string set_data_line(const SetAnswers& answers, const Screen& screen);
[[nodiscard]] std::string set_summary(const SetResult& result, bool is_default, double seconds, const Screen& screen);
[[nodiscard]] std::string set_score_lines(const SetEvaluation& evaluation, const NameTable& classes,
                                          const Screen& screen);
[[nodiscard]] nlohmann::ordered_json set_evaluation_json(const SetEvaluation& evaluation, const NameTable& classes);
[[nodiscard]] std::string set_description_text(const SetDescription& description, const SetAnswers& answers,
                                               const Screen& screen);
[[nodiscard]] nlohmann::ordered_json set_description_json(const SetDescription& description, const SetAnswers& answers,
                                                          const std::vector<Warning>& warnings);

}  // namespace wisecrowd::app
