#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "learn/shared/answer_memory.hpp"
#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd {

/// What model.json says of the answer model; its numbers and the names of the workers go into answers.npy,
/// answer_places.npy and workers.json of the folder.
[[nodiscard]] nlohmann::ordered_json save_memory(const AnswerMemory& memory, const NameTable& workers,
                                                 const std::string& folder);

/// Reads that back; `json` is the entry of model.json, null in models from before there was one. Throws bad_input or
/// the exceptions of the JSON library where something is damaged; whether the sizes fit is for the caller to ask.
void read_memory(const nlohmann::ordered_json& json, const std::string& folder, AnswerMemory& memory,
                 NameTable& workers);

}  // namespace wisecrowd
