#pragma once

#include "aggregate/numbers/shared/precision_em.hpp"

namespace wisecrowd::student_em {

struct Options : numbers::PrecisionOptions {
  Options() { degrees = 5; }
};

/// Like gaussian_em with errors that are Student's: wild answers of good workers count less.
class StudentEm final : public Aggregator<Numbers> {
 public:
  explicit StudentEm(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::student_em
