#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "screen_text.hpp"
#include "wisecrowd/data_defects.hpp"

namespace wisecrowd::app {

/// What is wrong with data themselves, as far as files were given that can tell.
struct Defects {
  std::optional<GoldCheck> gold;
  std::vector<Contradiction> contradictions;
  std::optional<std::vector<TwinTasks>> twins;
};

/// Adds "gold_check", "contradictions" and "twin_tasks".
void add_defects(const Defects& defects, const CategoryAnswers& answers, nlohmann::ordered_json& json);

/// The first of each kind; empty when there is nothing to say.
[[nodiscard]] std::string defects_text(const Defects& defects, const CategoryAnswers& answers, const Screen& screen);

}  // namespace wisecrowd::app
