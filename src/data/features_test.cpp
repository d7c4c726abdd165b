#include "wisecrowd/features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

LearningData small() {
  LearningData data;
  data.crowd.answers = CategoryAnswersBuilder().add("t", "w", "a").add("u", "w", "b").add("x", "w", "b").build();
  data.features.rows = 3;
  data.features.shape = {2};
  data.features.dense = {1, 2, 3, 4, 5, 6};
  const std::vector<std::string> names = {"u", "t", "new"};
  data.row_names = NameTable(names);
  data.split = {Split::train, Split::train, Split::test};
  data.row_of_task = {1, 0, kNoRow};
  return data;
}

void expect_refused(const std::function<void(LearningData&)>& spoil, const std::string& expected) {
  LearningData data = small();
  spoil(data);
  try {
    validate(data);
    ADD_FAILURE() << "was accepted; wanted: " << expected;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
  }
}

TEST(LearningData, IsChecked) {
  EXPECT_NO_THROW(validate(small()));
  expect_refused([](auto& d) { d.features.dense.pop_back(); }, "features hold 5 numbers; 3 rows × 2 columns need 6");
  expect_refused([](auto& d) { d.features.shape.clear(); }, "0 dimensions per row");
  expect_refused([](auto& d) { d.split.pop_back(); }, "3 rows of features have 3 names and 2 splits");
  expect_refused([](auto& d) { d.row_of_task.pop_back(); }, "3 tasks have 2 rows assigned");
  expect_refused([](auto& d) { d.row_of_task[0] = 7; }, "task 't' has row 7, but there are only 3");
  expect_refused([](auto& d) { d.row_of_task[0] = 0; }, "has row 0, which belongs to another task already");
  expect_refused([](auto& d) { d.features.dense[3] = std::nanf(""); }, "row 1 (task 't'), column 1: value nan");
  expect_refused([](auto& d) { d.features.dense[4] = std::numeric_limits<float>::infinity(); },
                 "row 2 (task 'new'), column 0: value inf");
  expect_refused([](auto& d) { d.crowd.task_priors.assign(6, 0.5); }, "task priors");
}

TEST(LearningData, SparseRowsAreChecked) {
  const auto sparse = [](LearningData& data) {
    data.features.dense.clear();
    data.features.shape = {10};
    data.features.offsets = {0, 2, 2, 3};
    data.features.indices = {1, 7, 9};
    data.features.values = {1, 2, 3};
  };
  LearningData data = small();
  sparse(data);
  EXPECT_NO_THROW(validate(data));
  const auto spoilt = [&](const std::function<void(Features&)>& spoil) {
    return [&, spoil](LearningData& d) {
      sparse(d);
      spoil(d.features);
    };
  };
  expect_refused(spoilt([](Features& f) { f.indices[2] = 10; }), "row 2 of the sparse features has column 10");
  expect_refused(spoilt([](Features& f) { f.indices[1] = 1; }), "out of order");
  expect_refused(spoilt([](Features& f) { f.offsets[3] = 4; }), "do not fit each other");
  expect_refused(spoilt([](Features& f) { f.values[2] = std::nanf(""); }), "row 2 (task 'new'), column 9");
}

TEST(Scaling, GivesMeanZeroAndDeviationOne) {
  Features features;
  features.rows = 4;
  features.shape = {3};
  features.dense = {1, 5, 1e6F, 2, 5, 1e6F + 1, 3, 5, 1e6F + 2, 100, 5, 1e6F + 3};
  const std::vector<std::uint32_t> use = {0, 1, 2};
  const Scaling scaling = standardise(features, use);
  const Features result = scaled(features, scaling);
  for (const std::size_t column : {0U, 2U}) {
    double mean = 0, square = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      mean += result.row(r)[column] / 3.0;
      square += std::pow(result.row(r)[column], 2) / 3.0;
    }
    EXPECT_NEAR(mean, 0, 1e-6);
    EXPECT_NEAR(square, 1, 1e-5);
  }
  EXPECT_EQ(scaling.factor[1], 1.0F) << "a column that never changes is only shifted";
  EXPECT_EQ(result.row(3)[1], 0.0F);
  EXPECT_GT(result.row(3)[0], 50) << "rows that were not used are scaled like the others";
}

TEST(Scaling, ImagesByChannel) {
  Features features;
  features.rows = 2;
  features.shape = {1, 2, 3};
  features.dense = {0, 10, 7, 2, 20, 7, 4, 30, 7, 6, 40, 7};
  const Scaling scaling = standardise(features, {});
  ASSERT_EQ(scaling.shift.size(), 3U);
  EXPECT_FLOAT_EQ(scaling.shift[0], 3);
  EXPECT_FLOAT_EQ(scaling.shift[1], 25);
  EXPECT_NEAR(scaling.factor[0], 1 / std::sqrt(5.0), 1e-6);
  EXPECT_EQ(scaling.factor[2], 1);
  features.shape = {2, 3};
  EXPECT_EQ(standardise(features, {}).shift.size(), 1U) << "grey images have one channel";
  const Features grey = scaled(features, standardise(features, {}));
  double mean = 0;
  for (const float x : grey.dense) mean += x / 12.0;
  EXPECT_NEAR(mean, 0, 1e-6);
}

TEST(Scaling, LeavesSparseRowsAlone) {
  Features features;
  features.rows = 1;
  features.shape = {4};
  features.offsets = {0, 1};
  features.indices = {2};
  features.values = {3};
  EXPECT_TRUE(standardise(features, {}).empty());
  EXPECT_EQ(scaled(features, {}).values, features.values);
}

TEST(Scaling, OfOtherFeaturesIsRefused) {
  Features features;
  features.rows = 1;
  features.shape = {2};
  features.dense = {1, 2};
  EXPECT_THROW((void)scaled(features, {{0}, {1}}), Error);
}

}  // namespace
}  // namespace wisecrowd
