#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "screen_text.hpp"
#include "terminal.hpp"
#include "wisecrowd/sequence_result.hpp"

namespace wisecrowd::app {

[[nodiscard]] std::string sequence_data_line(const SequenceAnswers& answers, const Screen& screen);
[[nodiscard]] std::string sequence_summary(const SequenceResult& result, bool is_default, double seconds,
                                           const Screen& screen);
[[nodiscard]] std::string sequence_score_lines(const SequenceEvaluation& evaluation, const NameTable& types,
                                               const Screen& screen);
[[nodiscard]] nlohmann::ordered_json sequence_evaluation_json(const SequenceEvaluation& evaluation,
                                                              const NameTable& types);
[[nodiscard]] std::string sequence_description_text(const SequenceDescription& description,
                                                    const SequenceAnswers& answers, const Screen& screen);
[[nodiscard]] nlohmann::ordered_json sequence_description_json(const SequenceDescription& description,
                                                               const SequenceAnswers& answers,
                                                               const std::vector<Warning>& warnings);

}  // namespace wisecrowd::app
