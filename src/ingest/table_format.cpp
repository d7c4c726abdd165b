#include <algorithm>
#include <initializer_list>

#include "ingest/columns.hpp"

namespace wisecrowd::ingest {
namespace {

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return name.ends_with(ending); });
}

}  // namespace

TableFormat detect_format(const std::string& file, std::string_view first_bytes, TableFormat asked) {
  const auto text = first_bytes.find_first_not_of(" \t\r\n");
  const char first = text == std::string_view::npos ? '\0' : first_bytes[text];
  TableFormat format = asked;
  if (format == TableFormat::automatic) {
    std::string name = normalised(file);  // lower case; dots became underscores
    if (ends_with_any(name, {"_gz", "_zst"})) name.erase(name.rfind('_'));
    if (ends_with_any(name, {"_zstd"})) name.erase(name.rfind('_'));
    if (ends_with_any(name, {"_csv"})) format = TableFormat::csv;
    if (ends_with_any(name, {"_tsv", "_tab"})) format = TableFormat::tsv;
    if (ends_with_any(name, {"_jsonl", "_ndjson", "_json"})) format = TableFormat::jsonl;
  }
  if (format == TableFormat::automatic) {
    const std::string_view line = first_bytes.substr(0, first_bytes.find_first_of("\r\n"));
    const bool tabs = line.find('\t') != std::string_view::npos && line.find(',') == std::string_view::npos;
    format = first == '{' || first == '[' ? TableFormat::jsonl : tabs ? TableFormat::tsv : TableFormat::csv;
  }
  return format;
}

}  // namespace wisecrowd::ingest
