#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "terminal.hpp"
#include "wisecrowd/category_result.hpp"

namespace wisecrowd::app {

/// What a run found, in a screenful.
[[nodiscard]] std::string run_summary(const CategoryResult& result, bool method_is_default, double seconds,
                                      const Screen& screen);

/// Parts of it for other commands: a line with a title, and the tables of classes and workers.
[[nodiscard]] std::string summary_line(const std::string& title, const std::string& text, const Screen& screen);
[[nodiscard]] std::string summary_tables(const CategoryResult& result, const Screen& screen);

/// The same, in numbers: class balance, how sure, best and worst workers.
[[nodiscard]] nlohmann::ordered_json run_summary_json(const CategoryResult& result);

/// "wisecrowd: warning: …", one line each where nobody looks at a screen.
[[nodiscard]] std::string warning_lines(std::span<const Warning> warnings, const Screen& screen);

/// "93.2 % (91.5 to 94.7)"
[[nodiscard]] std::string percent_with_interval(const Estimate& estimate);

}  // namespace wisecrowd::app
