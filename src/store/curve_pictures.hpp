#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/output_folder.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd::store {

/// Adds curves.svg, and curves.png where it can be drawn; otherwise `written` and `summary` say why not.
void write_curve_pictures(const Replay& replay, const std::string& title, OutputFolder& folder, WrittenReplay& written,
                          nlohmann::ordered_json& summary);

}  // namespace wisecrowd::store
