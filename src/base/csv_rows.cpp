#include "base/csv_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "wisecrowd/error.hpp"

namespace wisecrowd {

std::string read_text_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::io, fmt::format("cannot read '{}': it is a folder", path));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    const auto size = std::filesystem::file_size(path, error);
    text.resize(error ? 0 : size);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (error) text.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (!file) {
    throw Error(ErrorCode::io,
                fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno == 0 ? EIO : errno)));
  }
  return text;
}

bool CsvRows::next() {
  if (rest_.empty()) return false;
  ++row_;
  std::size_t count = 0;
  const auto field = [&]() -> std::string& {
    if (count == fields_.size()) fields_.emplace_back();
    fields_[count].clear();
    return fields_[count++];
  };
  std::size_t at = 0;
  while (true) {
    std::string& text = field();
    if (at < rest_.size() && rest_[at] == '"') {
      ++at;
      while (at < rest_.size()) {
        const std::size_t quote = std::min(rest_.find('"', at), rest_.size());
        text += rest_.substr(at, quote - at);
        at = std::min(quote + 1, rest_.size());
        if (at >= rest_.size() || rest_[at] != '"') break;
        text += '"';
        ++at;
      }
    } else {
      const std::size_t end = std::min(rest_.find_first_of(",\n", at), rest_.size());
      text += rest_.substr(at, end - at);
      at = end;
    }
    if (at >= rest_.size() || rest_[at] != ',') break;
    ++at;
  }
  const std::size_t end = std::min(rest_.find('\n', at), rest_.size());
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  fields_.resize(count);
  return true;
}

std::size_t CsvRows::column(std::string_view name) const {
  return static_cast<std::size_t>(std::find(fields_.begin(), fields_.end(), name) - fields_.begin());
}

double CsvRows::number(std::size_t column) const {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (column >= fields_.size()) return value;
  const std::string& text = fields_[column];
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::numeric_limits<double>::quiet_NaN();
  return value;
}

}  // namespace wisecrowd
