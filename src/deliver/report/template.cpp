#include "deliver/report/template.hpp"

#ifdef WISECROWD_HAS_REPORT_PAGE
// Made by the build from web/ (cmake/report.cmake).
extern "C" {
extern const char wisecrowd_report_page[];
extern const unsigned long long wisecrowd_report_page_size;
}
#endif

namespace wisecrowd {

std::string_view report_template() noexcept {
#ifdef WISECROWD_HAS_REPORT_PAGE
  return {wisecrowd_report_page, static_cast<std::size_t>(wisecrowd_report_page_size)};
#else
  return {};
#endif
}

}  // namespace wisecrowd
