#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "screen_text.hpp"
#include "terminal.hpp"
#include "wisecrowd/similarity_result.hpp"

namespace wisecrowd::app {

[[nodiscard]] std::string similarity_data_line(const SimilarityAnswers& answers, const Screen& screen);
[[nodiscard]] std::string similarity_summary(const SimilarityResult& result, bool is_default, double seconds,
                                             const Screen& screen);
[[nodiscard]] std::string similarity_score_lines(const SimilarityEvaluation& evaluation, const Screen& screen);
[[nodiscard]] nlohmann::ordered_json similarity_evaluation_json(const SimilarityEvaluation& evaluation);
[[nodiscard]] std::string similarity_description_text(const SimilarityDescription& description,
                                                      const SimilarityAnswers& answers, const Screen& screen);
[[nodiscard]] nlohmann::ordered_json similarity_description_json(const SimilarityDescription& description,
                                                                 const SimilarityAnswers& answers,
                                                                 const std::vector<Warning>& warnings);

}  // namespace wisecrowd::app
