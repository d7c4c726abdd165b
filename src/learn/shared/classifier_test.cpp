#include "learn/shared/classifier.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

class Classifiers : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("wisecrowd_classifier_{}", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string place(const std::string& name) const {
    fs::create_directories(folder_ / name);
    return (folder_ / name).string();
  }
  static Features rows(std::size_t count, std::size_t columns, std::uint64_t seed) {
    Features features;
    features.rows = count;
    features.shape = {columns};
    Rng rng(seed);
    for (std::size_t i = 0; i < count * columns; ++i)
      features.dense.push_back(static_cast<float>(rng.normal() * 3 + 1));
    return features;
  }
  ClassifierParts parts(const NetworkSpec& spec, const Features& features, std::size_t outputs, std::size_t classes) {
    ClassifierParts result;
    result.network = make_network(spec, features, outputs, 7, context_);
    result.spec = spec;
    result.input_shape = features.shape;
    result.sparse = features.is_sparse();
    result.scaling = standardise(features, {});
    std::vector<std::string> names;
    for (std::size_t k = 0; k < classes; ++k) names.push_back(fmt::format("class \"{}\" é", k));
    result.classes = NameTable(names);
    return result;
  }
  void expect_round_trip(ClassifierParts made, const Features& features, const std::string& name) {
    const auto classifier = make_classifier(std::move(made));
    const auto before = classifier->predict(features, context_);
    classifier->save(place(name));
    const auto loaded = load_classifier(place(name), context_);
    EXPECT_EQ(loaded->predict(features, context_), before) << "the same bits";
    ASSERT_EQ(loaded->class_count(), classifier->class_count());
    EXPECT_EQ(loaded->class_names()[1], classifier->class_names()[1]);
    for (std::size_t r = 0; r < features.rows; ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < loaded->class_count(); ++k) sum += before[r * loaded->class_count() + k];
      EXPECT_NEAR(sum, 1, 1e-12);
    }
    // In the folder of results it is found as well.
    fs::create_directories(folder_ / (name + "_result"));
    fs::copy(place(name), folder_ / (name + "_result") / "model");
    EXPECT_EQ(load_classifier((folder_ / (name + "_result")).string(), context_)->predict(features, context_), before);
  }
  void expect_refused(const std::string& folder, const std::string& expected, ErrorCode code = ErrorCode::bad_input) {
    try {
      (void)load_classifier(folder, context_);
      ADD_FAILURE() << "was accepted; wanted: " << expected;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), code) << error.what();
    }
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void overwrite(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  static std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  fs::path folder_;
  RunContext context_{{.threads = 2}};
};

TEST_F(Classifiers, RoundTripLinearAndMlp) {
  const Features features = rows(2500, 6, 1);
  expect_round_trip(parts({.kind = "linear"}, features, 3, 3), features, "linear");
  expect_round_trip(parts({.kind = "mlp", .hidden = 5, .layers = 2, .dropout = 0.3}, features, 4, 4), features, "mlp");
}

TEST_F(Classifiers, RoundTripSparseText) {
  Features features;
  features.rows = 3;
  features.shape = {4};
  features.offsets = {0, 2, 2, 3};
  features.indices = {0, 3, 1};
  features.values = {0.6F, 0.8F, 1};
  ClassifierParts made = parts({.kind = "linear"}, features, 2, 2);
  made.recipe.kind = FeatureRecipe::Kind::text;
  made.recipe.words = {3, 77, 0xFFFFFFFFFFULL, 0xFFFFFFFFFFFFFFFFULL};
  made.recipe.rarity = {1, 2, 3, 4.25F};
  const FeatureRecipe recipe = made.recipe;
  expect_round_trip(std::move(made), features, "text");
  const auto loaded = load_classifier(place("text"), context_);
  EXPECT_EQ(loaded->recipe().kind, FeatureRecipe::Kind::text);
  EXPECT_EQ(loaded->recipe().words, recipe.words);
  EXPECT_EQ(loaded->recipe().rarity, recipe.rarity);
}

TEST_F(Classifiers, RoundTripMixtureOfSoftmaxes) {
  const Features features = rows(50, 3, 2);
  // Two components over four outputs: once as slices, once by matrices.
  ClassifierParts slices = parts({.kind = "linear"}, features, 4, 2);
  slices.head.weights = {0.25, 0.75};
  ClassifierParts matrices = parts({.kind = "linear"}, features, 4, 2);
  matrices.head.weights = {0.25, 0.75};
  matrices.head.matrices = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  matrices.head.biases = {0, 0, 0, 0};
  const auto one = make_classifier(std::move(slices))->predict(features, context_);
  const auto other = make_classifier(std::move(matrices))->predict(features, context_);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-15);
  matrices = parts({.kind = "linear"}, features, 4, 2);
  matrices.head.weights = {0.5, 0.5};
  matrices.head.matrices = {1, 2, 3, 4, 5, 6, 7, 8, .1, .2, .3, .4, .5, .6, .7, .8};
  matrices.head.biases = {.1, -.1, .2, -.2};
  expect_round_trip(std::move(matrices), features, "mixture");
  EXPECT_THROW(load_classifier(place("mixture"), context_)->export_torchscript((folder_ / "x.pt").string()), Error);
}

TEST(OutputHead, IsTheMixtureItSays) {
  OutputHead head;
  std::vector<double> p(2);
  head.classify(std::vector<double>{std::log(3.0), 0.0}, p);
  EXPECT_NEAR(p[0], 0.75, 1e-12);
  head.weights = {0.4, 0.6};
  head.biases = {0, 0, std::log(4.0), 0};
  head.classify(std::vector<double>{std::log(3.0), 0.0, 0.0, 0.0}, p);
  EXPECT_NEAR(p[0], 0.4 * 0.75 + 0.6 * 0.8, 1e-12);
  EXPECT_NEAR(p[0] + p[1], 1, 1e-12);
  EXPECT_TRUE(head.fits(4, 2));
  EXPECT_FALSE(head.fits(3, 2));
  EXPECT_FALSE(OutputHead{}.fits(3, 2));
}

TEST_F(Classifiers, OtherFeaturesAreRefused) {
  const Features features = rows(5, 3, 3);
  const auto classifier = make_classifier(parts({.kind = "linear"}, features, 2, 2));
  try {
    (void)classifier->predict(rows(5, 4, 3), context_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rows of shape (4), but the model was trained on (3)"), std::string::npos)
        << error.what();
  }
}

TEST_F(Classifiers, DamagedFilesAreRefused) {
  const Features features = rows(20, 3, 4);
  const std::string good = place("good");
  make_classifier(parts({.kind = "mlp", .hidden = 4}, features, 2, 2))->save(good);
  const std::string json = text_of(good + "/model.json");
  const std::string weights = text_of(good + "/weights.npy");
  const auto spoilt = [&](const std::string& model, const std::string& numbers) {
    overwrite(good + "/model.json", model);
    overwrite(good + "/weights.npy", numbers);
    return good;
  };
  expect_refused((folder_ / "nowhere").string(), "there is no such folder", ErrorCode::io);
  expect_refused(place("empty"), "there is no model.json in it: name the folder that", ErrorCode::io);
  expect_refused(good + "/model.json", "it is a file, not a folder", ErrorCode::io);
  expect_refused(spoilt("{", weights), "this is no model of wisecrowd, or it is damaged");
  expect_refused(spoilt("[1]", weights), "this is no model of wisecrowd");
  expect_refused(spoilt(with(json, "\"version\": 1", "\"version\": 9"), weights),
                 "version 9 of the format is not known", ErrorCode::unsupported);
  expect_refused(spoilt(with(json, "\"hidden\": 4", "\"hidden\": \"x\""), weights), "'hidden' is no number");
  expect_refused(spoilt(with(json, "\"hidden\": 4", "\"hidden\": 400000000"), weights), "'hidden' is 400000000");
  expect_refused(spoilt(with(json, "\"hidden\": 4", "\"hidden\": 400000"), weights),
                 "its sizes do not fit the weights");
  expect_refused(spoilt(with(json, "\"classes\"", "\"klasses\""), weights), "an entry is missing");
  expect_refused(spoilt(json, weights.substr(0, weights.size() - 5)), "it was cut off, copy it again");
  expect_refused(spoilt(json, weights.substr(0, 20)), "not the array of 26 numbers");
  std::string nan = weights;
  for (std::size_t i = nan.size() - 4; i < nan.size(); ++i) nan[i] = '\xFF';
  expect_refused(spoilt(json, nan), "not finite");
  fs::remove(good + "/weights.npy");
  expect_refused(good, "weights.npy: cannot be opened: the model is not complete", ErrorCode::io);
  EXPECT_NO_THROW((void)load_classifier(spoilt(json, weights), context_));
}

/// Sizes that wrap, that no memory holds, or that contradict each other.
TEST_F(Classifiers, HostileSizesAreRefused) {
  const Features features = rows(20, 3, 4);
  ClassifierParts made = parts({.kind = "mlp", .hidden = 4}, features, 4, 2);
  made.head.weights = {0.25, 0.75};
  const std::string good = place("good");
  make_classifier(std::move(made))->save(good);
  const std::string json = text_of(good + "/model.json");
  const auto spoilt = [&](const std::string& from, const std::string& to) {
    overwrite(good + "/model.json", with(json, from, to));
    return good;
  };
  // The sum of the three sizes wraps to the two numbers that head.npy has.
  expect_refused(spoilt("\"weights\": 2,", "\"weights\": 18446744073709551615, \"x\": 3,"), "'weights' is");
  expect_refused(spoilt("\"matrices\": 0", "\"matrices\": 18446744073709551615"), "'matrices' is");
  expect_refused(spoilt("\"weights\": 2,", "\"weights\": 1,"), "head.npy: this is not the array of 1 numbers");
  expect_refused(spoilt("\"weights\": 2,", "\"weights\": 0,"), "4 outputs do not fit 2 classes");
  expect_refused(spoilt("\"layers\": 1", "\"layers\": 1000000000000000000"), "'layers' is 1000000000000000000");
  expect_refused(spoilt("\"layers\": 1", "\"layers\": 0"), "'layers' is 0");
  expect_refused(spoilt("\"hidden\": 4", "\"hidden\": -1"), "'hidden' is -1");
  expect_refused(spoilt("\"hidden\": 4", "\"hidden\": 4.5"), "'hidden' is 4.5");
  expect_refused(spoilt("\"hidden\": 4", "\"hidden\": 1e300"), "'hidden' is 1e+300");
  expect_refused(spoilt("\"dropout\": 0.5", "\"dropout\": 1"), "'dropout' is 1");
  expect_refused(spoilt("\"outputs\": 4", "\"outputs\": 1152921504606846976"), "'outputs' is");
  expect_refused(spoilt("\"outputs\": 4", "\"outputs\": 0"), "'outputs' is 0");
  expect_refused(spoilt("\"parameters\": 36", "\"parameters\": 4611686018427387940"), "'parameters' is");
  expect_refused(spoilt("\"parameters\": 36", "\"parameters\": 37"), "its sizes do not fit the weights");
  expect_refused(spoilt("\"buffers\": 0", "\"buffers\": 1000000000"), "a state of 0 numbers");
  const auto shape_at = json.find("\"shape\""), shape_end = json.find(']', shape_at);
  const std::string shape = json.substr(shape_at, shape_end + 1 - shape_at);
  expect_refused(spoilt(shape, "\"shape\": [4294967296, 4294967297, 3]"), "a number of 'shape' is 4294967296");
  expect_refused(spoilt(shape, "\"shape\": [65536, 65536, 3]"), "a number of 'shape' is 65536");
  expect_refused(spoilt(shape, "\"shape\": [0]"), "a number of 'shape' is 0");
  expect_refused(spoilt(shape, "\"shape\": []"), "one to three numbers");
  expect_refused(spoilt("\"kind\": \"mlp\"", "\"kind\": \"../evil/evil.pt\""),
                 "a network of the kind '../evil/evil.pt' is not known");
  expect_refused(spoilt("\"kind\": \"mlp\"", "\"kind\": \"cnn\""), "its sizes do not fit the weights");
  expect_refused(spoilt("\"kind\": \"npy\"", "\"kind\": \"columns\", \"columns\": [\"a\"]"),
                 "its 1 features of the kind");
  expect_refused(spoilt("\"kind\": \"npy\"", "\"kind\": \"text\", \"words\": 3"), "do not fit an input of 3 numbers");
  expect_refused(spoilt("\"version\": 1", "\"version\": [[[1]]]"), "version of the format is not known",
                 ErrorCode::unsupported);
  std::string deep = "\"version\": ";
  deep += std::string(100000, '[') + std::string(100000, ']');
  expect_refused(spoilt("\"version\": 1", deep), "nested too deeply");
}

/// Two workers, the second one a coin.
AnswerMemory small_memory() {
  AnswerMemory memory;
  memory.why_none.clear();
  memory.answer_power = 0.5;
  memory.tables = {.75, .25, .25, .75, .5, .5, .5, .5};
  return memory;
}

TEST_F(Classifiers, AnswersAreWeighedByWhatIsKnownOfTheirWorkers) {
  const Features features = rows(4, 2, 4);
  ClassifierParts made = parts({.kind = "linear"}, features, 2, 2);
  std::fill(made.network->parameters().begin(), made.network->parameters().end(), 0.0F);  // says .5 of everything
  made.memory = small_memory();
  made.workers = NameTable(std::vector<std::string>{"ann", "ben"});
  make_classifier(std::move(made))->save(place("workers"));
  const auto model = load_classifier(place("workers"), context_);
  EXPECT_EQ(known_workers(*model).size(), 2U);
  const std::vector<RowAnswer> answers{
      {2, WorkerId{0}, ClassId{1}}, {1, WorkerId{1}, ClassId{1}}, {2, WorkerId{1}, ClassId{0}}};
  const std::vector<double> found = posterior(*model, features, answers, context_);
  // Each answer counts for the square root of itself.
  const double share = std::sqrt(3.0) / (1 + std::sqrt(3.0));
  EXPECT_NEAR(found[2 * 2 + 1], share, 1e-12);
  EXPECT_NEAR(found[1 * 2 + 1], .5, 1e-12);
  const std::vector<RowWorker> pairs{{3, WorkerId{0}}, {0, WorkerId{1}}};
  EXPECT_EQ(reliability(*model, features, pairs, context_), (std::vector{.75, .5}));
  EXPECT_THROW((void)reliability(*model, features, std::vector<RowWorker>{{4, WorkerId{0}}}, context_), Error);
  EXPECT_THROW((void)reliability(*model, features, std::vector<RowWorker>{{0, WorkerId{2}}}, context_), Error);
  EXPECT_THROW((void)posterior(*model, features, std::vector<RowAnswer>{{0, WorkerId{0}, ClassId{2}}}, context_),
               Error);
}

TEST_F(Classifiers, DamagedMemoriesOfWorkersAreRefused) {
  const Features features = rows(4, 2, 4);
  ClassifierParts made = parts({.kind = "linear"}, features, 2, 2);
  made.memory = small_memory();
  made.workers = NameTable(std::vector<std::string>{"ann", "ben"});
  const std::string good = place("good");
  make_classifier(std::move(made))->save(good);
  const std::string json = text_of(good + "/model.json"), names = text_of(good + "/workers.json"),
                    numbers = text_of(good + "/answers.npy");
  const auto spoilt = [&](const std::string& from, const std::string& to) {
    overwrite(good + "/model.json", with(json, from, to));
    overwrite(good + "/workers.json", names);
    overwrite(good + "/answers.npy", numbers);
    return good;
  };
  expect_refused(spoilt("\"workers\": 2", "\"workers\": 3"), "no list of the 3 workers");
  expect_refused(spoilt("\"workers\": 2", "\"workers\": -3"), "'workers' of the answer model is no whole number");
  expect_refused(spoilt("\"tables\": 8", "\"tables\": 18446744073709551615"), "no size for 'tables'");
  expect_refused(spoilt("\"tables\": 8", "\"tables\": 4"), "not the array of 4 numbers");
  expect_refused(spoilt("\"tables\": 8", "\"gates\": 8"), "does not fit its classes and sizes");
  expect_refused(spoilt("\"tables\": 8", "\"frogs\": 8"), "numbers that are not known");
  expect_refused(spoilt("\"answer_power\": 0.5", "\"answer_power\": 2"), "does not fit its classes and sizes");
  expect_refused(spoilt("\"basis\": \"none\"", "\"basis\": \"moon\""), "the basis of the workers' skills is not known");
  expect_refused(spoilt("\"basis\": \"none\"", "\"basis\": \"regions\""), "does not fit its classes and sizes");
  overwrite(spoilt("\"workers\": 2", "\"workers\": 2") + "/workers.json", with(names, "ben", "ann"));
  expect_refused(good, "worker 'ann' is there twice");
  std::string negative = numbers;
  negative.back() = '\xBF';  // of the last number, .5, the sign
  overwrite(spoilt("\"workers\": 2", "\"workers\": 2") + "/answers.npy", negative);
  expect_refused(good, "does not fit its classes and sizes");
  fs::remove(good + "/answers.npy");
  expect_refused(good, "answers.npy: cannot be opened: the model is not complete", ErrorCode::io);
  // A model from before there was such a memory predicts, and says what it lacks.
  const auto at = json.find(",\n  \"answers\""), end = json.find("\n  }", at);
  std::string old = json;
  old.erase(at, end + 4 - at);
  overwrite(good + "/model.json", old);
  const auto model = load_classifier(good, context_);
  EXPECT_EQ(model->predict(features, context_).size(), 8U);
  EXPECT_NE(why_no_workers(*model).find("train it again"), std::string::npos);
}

TEST_F(Classifiers, DrawsAgreeWithTheNetworkOnAverage) {
  const Features features = rows(3, 4, 8);
  const auto drops = make_classifier(parts({.kind = "mlp", .hidden = 64, .dropout = 0.5}, features, 2, 2));
  const Draws many = draw(*drops, features, 400, context_);
  const std::vector<double> plain = drops->predict(features, context_);
  EXPECT_FALSE(many.identical);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_NEAR(many.probabilities[r * 2], plain[r * 2], .1);
    EXPECT_NEAR(many.entropy[r],
                -many.probabilities[r * 2] * std::log(many.probabilities[r * 2]) -
                    many.probabilities[r * 2 + 1] * std::log(many.probabilities[r * 2 + 1]),
                1e-12);
    EXPECT_GT(many.mutual_information[r], 0);
    EXPECT_LT(many.mutual_information[r], many.entropy[r]);
  }
  EXPECT_EQ(draw(*drops, features, 400, context_).probabilities, many.probabilities) << "the same seed, the same draws";
  const auto firm = make_classifier(parts({.kind = "linear"}, features, 2, 2));
  const Draws same = draw(*firm, features, 5, context_);
  EXPECT_TRUE(same.identical);
  for (const double bits : same.mutual_information) EXPECT_NEAR(bits, 0, 1e-12);
}

/// Values that a program would believe and a user would not.
TEST_F(Classifiers, HostileValuesAreRefused) {
  const Features features = rows(20, 1, 4);
  ClassifierParts made = parts({.kind = "linear"}, features, 2, 2);
  made.classes = NameTable(std::vector<std::string>{"cat", "dog"});
  made.scaling = {.shift = {0.5F}, .factor = {2.0F}};
  made.head.weights = {1};
  const std::string good = place("good");
  make_classifier(std::move(made))->save(good);
  const std::string json = text_of(good + "/model.json"), head = text_of(good + "/head.npy");
  const auto spoilt = [&](const std::string& from, const std::string& to) {
    overwrite(good + "/model.json", with(json, from, to));
    return good;
  };
  expect_refused(spoilt("\"dog\"", "\"cat\""), "class 'cat' is there twice");
  expect_refused(spoilt("\"dog\"", "\"\""), "class '' is empty");
  expect_refused(spoilt("\"dog\"", "\"d\\u0000g\""), "class 'd\\x00g' holds a NUL");
  expect_refused(spoilt("\"dog\"", "\"d\xff\""), "it is damaged");
  expect_refused(spoilt("2.0", "0.0"), "a factor of the scaling is 0");
  expect_refused(spoilt("2.0", "1e300"), "is out of range");
  expect_refused(spoilt("2.0", "null"), "of the wrong kind");
  expect_refused(spoilt("2.0", "2.0, 3.0"), "1 shifts and 2 factors");
  overwrite(good + "/model.json", json);
  EXPECT_NO_THROW((void)load_classifier(good, context_));
  const double huge = 1e308, negative = -1;
  for (const double weight : {huge, negative}) {
    std::string bytes = head;
    std::memcpy(bytes.data() + bytes.size() - sizeof weight, &weight, sizeof weight);
    overwrite(good + "/head.npy", bytes);
    expect_refused(good, "no shares that sum to 1");
  }
}

TEST_F(Classifiers, OnlyOrdinaryFilesAreRead) {
  const Features features = rows(20, 3, 4);
  const std::string good = place("good");
  make_classifier(parts({.kind = "linear"}, features, 2, 2))->save(good);
  fs::remove(good + "/weights.npy");
  fs::create_directory(good + "/weights.npy");
  expect_refused(good, "weights.npy: is a folder, not a file", ErrorCode::io);
  fs::remove(good + "/weights.npy");
  ASSERT_EQ(mkfifo((good + "/weights.npy").c_str(), 0600), 0);
  expect_refused(good, "weights.npy: is a pipe or a device, not a file", ErrorCode::io);
  fs::remove(good + "/weights.npy");
  fs::create_symlink("/dev/zero", good + "/weights.npy");
  expect_refused(good, "weights.npy: is a pipe or a device, not a file", ErrorCode::io);
}

TEST_F(Classifiers, NumbersThatAreNotFiniteAreSaid) {
  const auto expect_said = [&](const Classifier& classifier, const Features& features, const std::string& expected) {
    try {
      (void)classifier.predict(features, context_);
      ADD_FAILURE() << "was predicted; wanted: " << expected;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
    }
  };
  const Features features = rows(20, 3, 4);
  const auto good = make_classifier(parts({.kind = "linear"}, features, 2, 2));
  Features spoilt = features;
  spoilt.dense[7] = std::numeric_limits<float>::quiet_NaN();
  expect_said(*good, spoilt, "features of row 2, column 1: value nan");
  ClassifierParts large = parts({.kind = "linear"}, features, 2, 2);
  for (float& weight : large.network->parameters()) weight = 3e38F;
  expect_said(*make_classifier(std::move(large)), features, "the model gives");
}

TEST_F(Classifiers, ProgramsInAModelAreRunForThoseWhoTrustIt) {
  const Features features = rows(20, 3, 4);
  const std::string folder = place("model");
  make_classifier(parts({.kind = "linear"}, features, 2, 2))->save(folder);
  overwrite(folder + "/model.json",
            with(text_of(folder + "/model.json"), "\"kind\": \"linear\"", "\"kind\": \"torchscript\""));
  expect_refused(folder, "say so with `trust_model`", ErrorCode::bad_parameter);
  try {
    (void)load_classifier(folder, context_, {.trust = true});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("network.pt: cannot be opened"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisecrowd
