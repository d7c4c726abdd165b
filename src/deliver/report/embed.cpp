#include "deliver/report/embed.hpp"

#include <fmt/core.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::string_view kDataMark = "<!--WISECROWD-DATA-->";
constexpr std::string_view kTitleMark = "WISECROWD-TITLE";

std::size_t place_of(std::string_view page, std::string_view mark) {
  const std::size_t at = page.find(mark);
  if (at == std::string_view::npos || page.find(mark, at + 1) != std::string_view::npos) {
    throw Error(ErrorCode::internal, fmt::format("the report's page must have the mark {} once", mark));
  }
  return at;
}

}  // namespace

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size() + json.size() / 16);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else if (json.substr(i, 3) == "\xE2\x80\xA8") {
      safe += "\\u2028";
      i += 2;
    } else if (json.substr(i, 3) == "\xE2\x80\xA9") {
      safe += "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      case '\'': html += "&#39;"; break;
      case '\0': html += "\xEF\xBF\xBD"; break;
      default: html += c;
    }
  }
  return html;
}

std::string fill_page(std::string_view page, std::string_view title, std::string_view json) {
  // Places are looked for in the page alone, so that names cannot play the marks.
  const std::size_t data_at = place_of(page, kDataMark);
  const std::size_t title_at = place_of(page, kTitleMark);
  const std::string data =
      fmt::format(R"(<script type="application/json" id="wisecrowd-data">{}</script>)", script_safe(json));
  const std::string words = html_text(title);
  std::string filled;
  filled.reserve(page.size() + data.size() + words.size());
  const auto put_data = [&] { filled += data; };
  const auto put_title = [&] { filled += words; };
  const auto rest = [&](std::size_t begin, std::size_t end) { filled += page.substr(begin, end - begin); };
  const bool title_first = title_at < data_at;
  const std::size_t first = title_first ? title_at : data_at;
  const std::size_t first_end = first + (title_first ? kTitleMark : kDataMark).size();
  const std::size_t second = title_first ? data_at : title_at;
  const std::size_t second_end = second + (title_first ? kDataMark : kTitleMark).size();
  rest(0, first);
  title_first ? put_title() : put_data();
  rest(first_end, second);
  title_first ? put_data() : put_title();
  rest(second_end, page.size());
  return filled;
}

}  // namespace wisecrowd::report
