#include "wisecrowd/prediction_files.hpp"

#include <algorithm>

#include "base/csv_text.hpp"
#include "base/rows_writer.hpp"
#include "store/category_tables.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd {
namespace {

std::size_t likeliest_class(std::span<const double> row) {
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

/// The table of both: `further` adds columns to a row.
template <class Further>
std::string predictions(const NameTable& rows, const NameTable& classes, std::span<const double> probabilities,
                        std::string_view further_names, const Further& further) {
  TextBuffer text;
  text.append("task,label,probability" + probability_columns(classes));
  text.append(further_names);
  text.append('\n');
  const auto fields = class_fields(classes);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto row = probabilities.subspan(r * classes.size(), classes.size());
    const std::size_t label = likeliest_class(row);
    text.append_field(rows[r]);
    text.append(',');
    text.append(fields[label]);
    text.append(',');
    text.append_probability(row[label]);
    for (const double p : row) {
      text.append(',');
      text.append_probability(p);
    }
    further(r, text);
    text.append('\n');
  }
  return std::string(text.text());
}

}  // namespace

std::string predictions_csv(const NameTable& rows, const NameTable& classes, std::span<const double> probabilities) {
  return predictions(rows, classes, probabilities, "", [](std::size_t, TextBuffer&) {});
}

std::string predictions_csv(const NameTable& rows, const NameTable& classes, const Draws& draws) {
  return predictions(rows, classes, draws.probabilities, ",predictive_entropy,mutual_information",
                     [&](std::size_t r, TextBuffer& text) {
                       text.append(',');
                       text.append_probability(draws.entropy[r]);
                       text.append(',');
                       text.append_probability(draws.mutual_information[r]);
                     });
}

void write_predictions(const std::string& path, const NameTable& rows, const NameTable& classes,
                       std::span<const double> probabilities) {
  write_prediction_table(path, predictions_csv(rows, classes, probabilities));
}

std::string reliabilities_csv(const NameTable& rows, const NameTable& workers, std::span<const RowWorker> pairs,
                              std::span<const double> reliabilities, bool safe) {
  TextBuffer text;
  text.append("task,worker,reliability\n");
  std::vector<std::string> names;
  for (std::size_t j = 0; j < workers.size(); ++j) {
    names.push_back(csv_field(safe ? spreadsheet_safe(workers[j]) : std::string(workers[j])));
  }
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    text.append_field(rows[pairs[n].row]);
    text.append(',');
    text.append(names[index(pairs[n].worker)]);
    text.append(',');
    text.append_probability(reliabilities[n]);
    text.append('\n');
  }
  return std::string(text.text());
}

void write_prediction_table(const std::string& path, const std::string& table) { write_file_whole(path, table); }

}  // namespace wisecrowd
