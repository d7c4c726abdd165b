#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/output_folder.hpp"
#include "wisecrowd/category_result.hpp"

namespace wisecrowd {

// Files that the results of several commands have in common. A writer returns false when it was cancelled on the way.

/// Class names as CSV fields, quoted once.
[[nodiscard]] std::vector<std::string> class_fields(const NameTable& classes);
/// ",p_<class>" for every class.
[[nodiscard]] std::string probability_columns(const NameTable& classes);

[[nodiscard]] bool write_labels(OutputFile& file, const CategoryResult& result, const RunContext& context);
[[nodiscard]] bool write_workers(OutputFile& file, const CategoryResult& result, const RunContext& context);
/// One row per worker, truth and label.
[[nodiscard]] bool write_confusion(OutputFile& file, const CategoryAnswers& answers, std::span<const double> confusion,
                                   const RunContext& context);

/// Creates a file, lets `write` fill it, and flushes it.
template <class Write>
[[nodiscard]] bool add_file(OutputFolder& folder, const std::string& name, const Write& write) {
  OutputFile file = folder.create(name);
  if (!write(file)) return false;
  file.finish();
  return true;
}

}  // namespace wisecrowd
