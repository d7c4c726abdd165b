#include "aggregate/numbers/student_em/student_em.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

using student_em::StudentEm;

/// Good workers of whom one answer in twenty is wild.
struct SlippingCrowd {
  NumberData data;
  std::vector<double> truth;
};
SlippingCrowd slipping_crowd(double wild) {
  Rng rng(11);
  NumberAnswersBuilder builder;
  SlippingCrowd crowd;
  for (int t = 0; t < 600; ++t) {
    crowd.truth.push_back(10 * rng.normal());
    for (int w = 0; w < 6; ++w) {
      const double slip = rng.uniform() < wild ? 60 * rng.normal() : 0;
      builder.add("t" + std::to_string(1000 + t), "w" + std::to_string(w),
                  crowd.truth.back() + (0.5 + 0.5 * w) * rng.normal() + slip);
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

double off(const NumberFit& fit, const std::vector<double>& truth) {
  double sum = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) sum += (fit.estimate[t] - truth[t]) * (fit.estimate[t] - truth[t]);
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

TEST(StudentEm, BoundNeverFalls) {
  const NumberFit fit = StudentEm().fit(slipping_crowd(0.05).data, RunContext());
  ASSERT_GT(fit.trace.size(), 5U);
  for (std::size_t i = 1; i < fit.trace.size(); ++i) {
    EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-8 * std::abs(fit.trace[i])) << i;
  }
  EXPECT_EQ(fit.status, Status::converged);
}

TEST(StudentEm, WildAnswersMoveLittle) {
  const SlippingCrowd crowd = slipping_crowd(0.05);
  const double robust = off(StudentEm().fit(crowd.data, RunContext()), crowd.truth);
  EXPECT_LT(robust, 0.6 * off(aggregate(crowd.data, "gaussian_em"), crowd.truth));
  EXPECT_LT(robust, 1);
}

TEST(StudentEm, ManyDegreesAreNormal) {
  const SlippingCrowd crowd = slipping_crowd(0);
  student_em::Options options;
  options.degrees = 1000;
  const NumberFit student = StudentEm(options).fit(crowd.data, RunContext());
  const NumberFit normal = aggregate(crowd.data, "gaussian_em");
  for (std::size_t t = 0; t < crowd.truth.size(); ++t) EXPECT_NEAR(student.estimate[t], normal.estimate[t], 0.05);
}

}  // namespace
}  // namespace wisecrowd
