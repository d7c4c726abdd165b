#pragma once

#include "support.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd::python {

/// `compare` of a kind of answers: methods with their defaults by the answers hidden from them, a row each; none when
/// nothing can be hidden. `score` is the name of the figure: "log_probability".
template <class Kind>
[[nodiscard]] py::list compare_by_hidden_answers(const typename Kind::Data& data,
                                                 const std::vector<std::string>& methods, std::size_t folds,
                                                 double share, std::uint64_t seed, unsigned threads,
                                                 const char* score = "log_probability") {
  std::vector<MethodStage> stages;
  for (const std::string& method : methods) {
    stages.push_back({method, Parameters(method_of<Kind>(method).parameters)});
  }
  Work work(seed, threads, py::none());
  const auto scores = work.run([&](const RunContext& context) {
    const HeldOut<Kind> held_out(data, {.folds = folds, .share = share}, context);
    return held_out.hidden_count() == 0 ? std::vector<HeldOutScore>{}
                                        : score_by_held_out_answers(held_out, stages, context);
  });
  py::list rows;
  for (const HeldOutScore& entry : scores) {
    py::dict row;
    row["method"] = entry.method;
    row[score] = entry.log_probability.value;
    row["low"] = entry.log_probability.low;
    row["high"] = entry.log_probability.high;
    row["behind_best"] = entry.behind_best.value;
    rows.append(row);
  }
  return rows;
}

}  // namespace wisecrowd::python
