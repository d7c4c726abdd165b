#include "learn/crowd_layer/crowd_layer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/learning_sets.hpp"

namespace wisecrowd::crowd_layer {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;

constexpr Layer kLayers[] = {Layer::matrix, Layer::weights, Layer::biases, Layer::weights_biases, Layer::scale};

LayerModel shaken(const TrainingSet& set, Layer layer) {
  Options options;
  options.layer = layer;
  LayerModel model(set, options);
  Rng rng(5);
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (double& w : model.weights().of(j)) w += 0.5 * rng.normal();
  }
  return model;
}

TEST(CrowdLayer, GradientsThroughATwoLayerNetwork) {
  const TrainingSet set = testing::three_class_set(true);
  for (const Layer layer : kLayers) {
    const LayerModel model = shaken(set, layer);
    EXPECT_LT(testing::gradient_error(model, set, 1), 1e-5) << static_cast<int>(layer);
    const std::size_t block = model.weights_per_worker();
    const double own = testing::own_gradient_error(
        model, set, 1, set.worker_count * block,
        [block](AnswerModel& m, std::size_t p, double change) {
          dynamic_cast<LayerModel&>(m).weights().of(p / block)[p % block] += change;
        },
        [block](AnswerModel& m, std::size_t p) {
          return dynamic_cast<LayerModel&>(m).weights().gradient(p / block)[p % block];
        });
    EXPECT_LT(own, 1e-5) << static_cast<int>(layer);
  }
}

/// Three workers whose votes are known: what each says where the votes say k, as logarithms.
TEST(CrowdLayer, StartsFromTheVotesIfAsked) {
  const TrainingSet set = testing::three_class_set();
  Options options;
  options.start = Options::Start::votes;
  LayerModel model(set, options);
  const std::vector<double> votes = vote_shares(set);
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> said(3, 0.0);
      double all = 0;
      for (std::size_t i = 0; i < set.task_count(); ++i) {
        for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
          if (index(set.workers_of(i)[a]) != j) continue;
          said[index(set.labels_of(i)[a])] += votes[i * 3 + k];
          all += votes[i * 3 + k];
        }
      }
      for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_NEAR(model.weights().of(j)[k * 3 + l], std::log(said[l] / all + 1e-4), 1e-12);
      }
    }
  }
  const auto crowd = gaussian_crowd(2, 300, 300, 2, 1.5, max_mig_workers('H', 1));
  const auto learned =
      testing::run_learner(crowd.data, "crowd_layer", {{"start", "votes"}, {"epochs", "20"}, {"learning_rate", "0.03"}},
                           {.kind = "linear"}, 1);
  EXPECT_GT(testing::test_accuracy(crowd, learned.row_probabilities), .85);
  EXPECT_THROW((void)testing::run_learner(crowd.data, "crowd_layer", {{"start", "votes"}, {"layer", "SW"}},
                                          {.kind = "linear"}, 1),
               Error);
}

/// Before they move all layers are the same function; a matrix with only a diagonal is a weight per class.
TEST(CrowdLayer, LayersMeetWhereTheyShould) {
  const TrainingSet set = testing::three_class_set();
  Options options;
  LayerModel matrix(set, options);
  const auto expected = testing::evaluate(matrix, set, 3);
  for (const Layer layer : kLayers) {
    options.layer = layer;
    LayerModel model(set, options);
    EXPECT_NEAR(testing::evaluate(model, set, 3).loss, expected.loss, 1e-12);
  }
  LayerModel weights = shaken(set, Layer::weights);
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    for (std::size_t k = 0; k < 3; ++k) matrix.weights().of(j)[k * 4] = weights.weights().of(j)[k];
  }
  const auto a = testing::evaluate(matrix, set, 3), b = testing::evaluate(weights, set, 3);
  EXPECT_NEAR(a.loss, b.loss, 1e-12);
  for (std::size_t v = 0; v < a.gradients.size(); ++v) EXPECT_NEAR(a.gradients[v], b.gradients[v], 1e-12);
}

/// What the posterior believes of a worker is what the layer makes of a sure class.
TEST(CrowdLayer, PosteriorUsesTheTablesThatItShows) {
  const TrainingSet set = testing::three_class_set();
  for (const Layer layer : kLayers) {
    const LayerModel model = shaken(set, layer);
    const std::vector<double> outputs{.3, -.2, .5};
    const std::vector<WorkerId> workers{WorkerId{0}, WorkerId{2}};
    const std::vector<ClassId> labels{ClassId{1}, ClassId{0}};
    std::vector<double> found(3), expected(3);
    model.posterior(outputs, {workers, labels}, found);
    posterior_from_tables(outputs, {workers, labels}, model.worker_tables(), expected);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], 1e-12);
  }
}

double accuracy(char skill, int which, const char* layer = "MW") {
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto crowd = gaussian_crowd(seed, 3000, 5000, 2, 1.3, max_mig_workers(skill, which));
    const Learned learned = testing::run_learner(
        crowd.data, "crowd_layer", {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0"}, {"layer", layer}},
        {.kind = "linear"}, seed);
    mean += testing::test_accuracy(crowd, learned.row_probabilities) / 3;
  }
  return mean;
}

/// Good where most answers are right, copies or not; at chance where naive workers are the majority (G7).
TEST(CrowdLayer, GaussianSuite) {
  for (const char skill : {'H', 'L'}) {
    EXPECT_GT(accuracy(skill, 1), 0.88) << skill;
    EXPECT_GT(accuracy(skill, 3), 0.88) << skill;
  }
  EXPECT_LT(accuracy('L', 2), 0.6);
  for (const char* layer : {"VW", "VB", "VW+B", "SW"}) EXPECT_GT(accuracy('H', 1, layer), 0.88) << layer;
}

/// A step costs what its answers cost, however many workers there are: the rest is the memory's distance.
TEST(CrowdLayer, AMillionWorkersCostWhatAThousandCost) {
  const TrainingSet few = testing::sparse_set(1000, 8192, 3, 2), many = testing::sparse_set(1000000, 8192, 3, 2);
  LayerModel small(few, {}), large(many, {});
  const double thousand = testing::seconds_of_steps(small, few, 64),
               million = testing::seconds_of_steps(large, many, 64);
  EXPECT_LT(million, 10 * thousand + 0.01) << thousand << " s and " << million << " s";
  RecordProperty("ratio", std::to_string(million / thousand));
}

}  // namespace
}  // namespace wisecrowd::crowd_layer
