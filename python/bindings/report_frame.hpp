#pragma once

#include "support.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/run_record.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::python {

using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Numbers as a fit has them; None is no numbers.
inline std::vector<double> reals(const py::handle& given) {
  if (given.is_none()) return {};
  const auto array = given.cast<Reals>();
  return {array.data(), array.data() + array.size()};
}

/// The other way round than to_list.
inline std::vector<Warning> warnings_from(const py::handle& list) {
  std::vector<Warning> warnings;
  for (const auto& [code, message] : list.cast<std::vector<std::pair<std::string, std::string>>>()) {
    warnings.push_back({code, message});
  }
  return warnings;
}

/// What a report says of the run itself, whatever the kind of answers.
struct ReportFrame {
  RunRecord record;
  ReportOptions options;
};

inline ReportFrame report_frame(const EntryInfo& info, const py::dict& parameters, std::uint64_t seed,
                                const std::string& title, std::uint64_t gold_tasks, bool gold_seen) {
  ReportFrame frame;
  frame.record.version = WISECROWD_VERSION;
  frame.record.method = info.name;
  frame.record.seed = seed;
  const Parameters checked = parameters_from(info.parameters, parameters);  // lives as long as the loop
  for (const auto& [name, value] : checked.all()) frame.record.parameters.emplace_back(name, value);
  frame.record.gold_tasks = gold_tasks;
  if (gold_tasks > 0) frame.record.gold_use = gold_seen ? "inference" : "evaluation";
  frame.options.title = title;
  frame.options.method_title = info.title;
  frame.options.method_summary = info.summary;
  return frame;
}

}  // namespace wisecrowd::python
