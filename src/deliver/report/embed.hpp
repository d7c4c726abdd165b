#pragma once

#include <string>
#include <string_view>

namespace wisecrowd::report {

/// JSON that may stand inside <script type="application/json">: nothing in it ends the element, begins a comment or a
/// tag, or is a line break to old JavaScript. It is the same JSON: only characters inside strings are written
/// otherwise.
[[nodiscard]] std::string script_safe(std::string_view json);

/// Text that may stand in HTML, in an element or in a quoted attribute.
[[nodiscard]] std::string html_text(std::string_view text);

/// The page with data and title in place of its marks. Throws internal when a mark is missing or there twice.
[[nodiscard]] std::string fill_page(std::string_view page, std::string_view title, std::string_view json);

}  // namespace wisecrowd::report
