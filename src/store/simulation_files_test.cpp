#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

class WriteSimulation : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / ("wisecrowd_" + std::string(test->name()) + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] static Simulation crowd(std::uint64_t seed = 1, std::size_t tasks = 500) {
    return simulate("hammer_spammer", {tasks, 30, 3, 4}, Parameters(simulation_kind("hammer_spammer").parameters),
                    RunContext({.seed = seed}));
  }
  [[nodiscard]] std::string text(const std::string& path) const {
    std::ifstream file(root_ / path);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  [[nodiscard]] std::vector<std::string> lines(const std::string& path) const {
    std::istringstream stream(text(path));
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
  [[nodiscard]] std::string out(const std::string& name = "out") const { return (root_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }
  fs::path root_;
};

TEST_F(WriteSimulation, WritesWhatWasDrawn) {
  const Simulation s = crowd();
  ASSERT_EQ(write_simulation(s, out() + "/", RunContext()), Status::converged);
  EXPECT_EQ(entries(), 1U);

  auto labels = lines("out/answers.csv");
  ASSERT_EQ(labels.size(), 2001U);
  EXPECT_EQ(labels[0], "task,worker,label");
  std::vector<std::string> expected;
  for (std::uint32_t t = 0; t < 500; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      expected.push_back(std::string(s.data.answers.task_names()[t]) + "," +
                         std::string(s.data.answers.worker_names()[index(s.data.answers.workers_of(TaskId{t})[i])]) +
                         "," + std::to_string(index(s.data.answers.labels_of(TaskId{t})[i])));
    }
  }
  labels.erase(labels.begin());
  // Shuffled: neighbours rarely belong to the same task.
  std::size_t neighbours = 0;
  for (std::size_t i = 1; i < labels.size(); ++i)
    neighbours += labels[i].substr(0, 13) == labels[i - 1].substr(0, 13) ? 1 : 0;
  EXPECT_LT(neighbours, 20U);
  EXPECT_FALSE(std::is_sorted(labels.begin(), labels.end()));
  std::sort(labels.begin(), labels.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(labels, expected);

  const auto gold = lines("out/gold.csv");
  ASSERT_EQ(gold.size(), 501U);
  EXPECT_EQ(gold[0], "task,label");
  EXPECT_EQ(gold[500], "task_00000500," + std::to_string(index(s.data.gold[499])));

  const auto workers = lines("out/workers.csv");
  ASSERT_EQ(workers.size(), 31U);
  EXPECT_EQ(workers[0], "worker,kind,accuracy");
  for (std::size_t w = 0; w < 30; ++w) {
    const bool hammer = s.worker_kind[w] == "hammer";
    EXPECT_EQ(workers[w + 1].substr(0, 21),
              std::string(s.data.answers.worker_names()[w]) + "," + (hammer ? "hammer," : "spammer"));
    EXPECT_NEAR(std::stod(workers[w + 1].substr(workers[w + 1].rfind(',') + 1)), hammer ? 1 : 1.0 / 3, 1e-4);
  }

  const auto confusion = lines("out/confusion.csv");
  ASSERT_EQ(confusion.size(), 30U * 9 + 1);
  EXPECT_EQ(confusion[0], "worker,truth,label,probability");
  EXPECT_EQ(confusion[9].substr(0, 18), "worker_000001,2,2,");
  EXPECT_NEAR(std::stod(confusion[9].substr(18)), s.confusion[8], 1e-6);

  const auto record = nlohmann::json::parse(text("out/simulation.json"));
  EXPECT_EQ(record["kind"], "hammer_spammer");
  EXPECT_EQ(record["tasks"], 500);
  EXPECT_EQ(record["seed"], 1);
  EXPECT_EQ(record["parameters"]["gamma"], 0.5);
}

/// The floats of an .npy file with their shape, read by the letter of the format.
struct Array {
  std::string header;
  std::vector<float> values;
};
Array parse_npy(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0U);
  Array array{bytes.substr(10, length), std::vector<float>((bytes.size() - 10 - length) / 4)};
  EXPECT_EQ(array.header.back(), '\n');
  std::memcpy(array.values.data(), bytes.data() + 10 + length, array.values.size() * 4);
  return array;
}

TEST_F(WriteSimulation, FeaturesAndTestAnswersGoIntoFilesOfTheirOwn) {
  const Parameters parameters(simulation_kind("lftc").parameters);
  const Simulation s = simulate("lftc", {200, 40, 2, 5}, parameters, RunContext({.seed = 2}), {.test_tasks = 70});
  ASSERT_EQ(write_simulation(s, out(), RunContext()), Status::converged);
  const Array array = parse_npy(text("out/features.npy"));
  EXPECT_EQ(array.header.substr(0, 65), "{'descr': '<f4', 'fortran_order': False, 'shape': (270, 300), }  ");
  EXPECT_EQ(array.values, s.features);
  const auto tasks = lines("out/tasks.csv");
  ASSERT_EQ(tasks.size(), 271U);
  EXPECT_EQ(tasks[0], "task,row,split");
  EXPECT_EQ(tasks[200], "task_00000200,199,train");
  EXPECT_EQ(tasks[201], "task_00000201,200,test");
  EXPECT_EQ(lines("out/gold.csv").size(), 271U);
  const auto train = lines("out/answers.csv");
  const auto test = lines("out/answers_test.csv");
  EXPECT_EQ(train.size(), s.data.answers.answer_count() + 1);
  EXPECT_EQ(test.size(), s.held_out.answer_count() + 1);
  for (std::size_t i = 1; i < train.size(); ++i) EXPECT_LE(train[i].substr(0, 13), "task_00000200");
  for (std::size_t i = 1; i < test.size(); ++i) EXPECT_GT(test[i].substr(0, 13), "task_00000200");
  const auto reliability = lines("out/reliability.csv");
  ASSERT_EQ(reliability.size(), train.size() + test.size() - 1);
  EXPECT_EQ(reliability[0], "task,worker,reliability");
  const auto& answers = s.data.answers;
  std::size_t first = 0;
  while (answers.workers_of(TaskId{static_cast<std::uint32_t>(first)}).empty()) ++first;
  const std::string pair = std::string(answers.task_names()[first]) + "," +
                           std::string(answers.worker_names()[index(answers.workers()[0])]) + ",";
  EXPECT_EQ(reliability[1].substr(0, pair.size()), pair);
  EXPECT_NEAR(std::stod(reliability[1].substr(pair.size())), s.reliability[0], 1e-6);
  EXPECT_EQ(lines("out/workers.csv")[0], "worker,kind,accuracy,expertise");
  const auto record = nlohmann::json::parse(text("out/simulation.json"));
  EXPECT_EQ(record["feature_columns"], 300);
  EXPECT_EQ(record["held_out_answers"], s.held_out.answer_count());
  // Replaced by a simulation that has fewer files.
  ASSERT_EQ(write_simulation(crowd(), out(), RunContext()), Status::converged);
  EXPECT_FALSE(fs::exists(root_ / "out" / "features.npy"));
}

TEST_F(WriteSimulation, GivenTasksKeepTheirNamesAndTheirTable) {
  GivenTasks given;
  given.names = NameTable(std::vector<std::string>{"a,b", "plain", "dark"});
  given.classes = NameTable(std::vector<std::string>{"cat", "small, dog"});
  given.truth = {ClassId{1}, ClassId{0}, kNoClass};
  const Simulation s =
      simulate("hammer_spammer", {1, 3, 2, 3}, Parameters(simulation_kind("hammer_spammer").parameters), RunContext(),
               {.given = &given});
  const SimulationSources sources{"g.csv", "t.csv", "f.npy", "task,row,split,more\nwhatever\n"};
  ASSERT_EQ(write_simulation(s, out(), RunContext(), sources), Status::converged);
  EXPECT_EQ(text("out/gold.csv"), "task,label\n\"a,b\",\"small, dog\"\nplain,cat\n");
  EXPECT_EQ(text("out/tasks.csv"), sources.task_table);
  EXPECT_EQ(lines("out/answers.csv").size(), 7U);
  const auto record = nlohmann::json::parse(text("out/simulation.json"));
  EXPECT_EQ(record["gold"], "g.csv");
  EXPECT_EQ(record["tasks_file"], "t.csv");
  EXPECT_EQ(record["features"], "f.npy");
}

TEST_F(WriteSimulation, ThreadsDoNotMatter) {
  const Simulation s = crowd(3, 40000);
  write_simulation(s, out("one"), RunContext({.threads = 1}));
  write_simulation(s, out("four"), RunContext({.seed = 99, .threads = 4}));
  for (const char* file : {"answers.csv", "gold.csv", "workers.csv", "confusion.csv", "simulation.json"}) {
    EXPECT_EQ(text(std::string("one/") + file), text(std::string("four/") + file)) << file;
  }
}

TEST_F(WriteSimulation, ReplacesItsOwnFolderOnly) {
  fs::create_directory(root_ / "out");  // an empty folder is fine
  write_simulation(crowd(1), out(), RunContext());
  const std::string before = text("out/answers.csv");
  write_simulation(crowd(2), out(), RunContext());
  EXPECT_NE(text("out/answers.csv"), before);
  EXPECT_EQ(entries(), 1U);

  std::ofstream(root_ / "out" / "thesis.txt") << "years of work";
  const std::string mine = text("out/answers.csv");
  try {
    write_simulation(crowd(3), out(), RunContext());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("thesis.txt"), std::string::npos);
  }
  EXPECT_EQ(text("out/answers.csv"), mine);
  EXPECT_EQ(text("out/thesis.txt"), "years of work");

  fs::create_directory(root_ / "foreign");
  std::ofstream(root_ / "foreign" / "answers.csv") << "task,worker,label\n";
  EXPECT_THROW(write_simulation(crowd(3), out("foreign"), RunContext()), Error);
  std::ofstream(root_ / "file") << "x";
  EXPECT_THROW(write_simulation(crowd(3), out("file"), RunContext()), Error);
  EXPECT_THROW(write_simulation(crowd(3), out("file/below"), RunContext()), Error);
  EXPECT_THROW(write_simulation(crowd(3), "", RunContext()), Error);
  EXPECT_EQ(entries(), 3U);
}

TEST_F(WriteSimulation, CancelledLeavesNothing) {
  std::atomic<bool> cancel{false};
  const RunContext context({.on_progress = [&](const Progress&) { cancel = true; }, .cancel = &cancel});
  EXPECT_EQ(write_simulation(crowd(), out(), context), Status::cancelled);
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace wisecrowd
