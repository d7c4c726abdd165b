#include "base/output_folder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "wisecrowd-output-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (root_ / name).string(); }
  [[nodiscard]] std::set<std::string> names(const fs::path& folder) const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().filename());
    return found;
  }
  static void write(const std::string& directory, const std::string& text) {
    OutputFolder folder(directory, "run.json");
    OutputFile file = folder.create("data.csv");
    file.append(text);
    file.finish();
    folder.commit({{"seed", 1}});
  }
  static std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string refusal(const std::string& directory) { return refusal_of(directory, "new"); }
  static std::string refusal_of(const std::string& directory, const std::string& text) {
    try {
      write(directory, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return error.what();
    }
    return "";
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(root_ / name) << text; }

  fs::path root_;
};

using Names = std::set<std::string>;

TEST_F(OutputFolderTest, AppearsOnlyWithCommit) {
  {
    OutputFolder folder(at("out"), "run.json");
    folder.create("data.csv").append("half");
    EXPECT_FALSE(fs::exists(at("out")));
  }
  EXPECT_EQ(names(root_), Names{}) << "an abandoned folder must leave no trace";
  write(at("out"), "whole");
  EXPECT_EQ(names(root_), Names{"out"});
  EXPECT_EQ(names(root_ / "out"), (Names{"data.csv", "run.json"}));
  EXPECT_EQ(content(root_ / "out" / "data.csv"), "whole");
}

TEST_F(OutputFolderTest, ReplacesOnlyItsOwn) {
  write(at("out"), "first");
  write(at("out"), "second");
  EXPECT_EQ(content(root_ / "out" / "data.csv"), "second");

  put("out/notes.txt", "mine");
  EXPECT_NE(refusal(at("out")).find("'notes.txt'"), std::string::npos);
  EXPECT_EQ(content(root_ / "out" / "notes.txt"), "mine");
  EXPECT_EQ(content(root_ / "out" / "data.csv"), "second");
  EXPECT_EQ(names(root_), Names{"out"});

  fs::create_directory(at("foreign"));
  put("foreign/thesis.tex", "years of work");
  EXPECT_NE(refusal(at("foreign")).find("no run.json"), std::string::npos);
  put("foreign/run.json", R"({"program": "something else", "files": ["thesis.tex", "run.json"]})");
  EXPECT_NE(refusal(at("foreign")), "");
  put("foreign/run.json", "no JSON at all");
  EXPECT_NE(refusal(at("foreign")), "");
  EXPECT_EQ(content(root_ / "foreign" / "thesis.tex"), "years of work");
}

TEST_F(OutputFolderTest, OneKindOfRecordDoesNotReplaceAnother) {
  write(at("out"), "a result");
  EXPECT_THROW(OutputFolder(at("out"), "simulation.json"), Error);
}

TEST_F(OutputFolderTest, TakesEmptyFoldersLinksAndMissingParents) {
  fs::create_directory(at("empty"));
  write(at("empty/"), "text");
  EXPECT_EQ(content(root_ / "empty" / "data.csv"), "text");
  fs::create_directory_symlink(at("empty"), at("link"));
  write(at("link"), "through the link");
  EXPECT_EQ(content(root_ / "empty" / "data.csv"), "through the link");
  write(at("a/b/c"), "deep");
  EXPECT_EQ(content(root_ / "a" / "b" / "c" / "data.csv"), "deep");
  { OutputFolder folder(at("x/y/z"), "run.json"); }
  EXPECT_FALSE(fs::exists(at("x"))) << "parents made in vain are removed";
}

TEST_F(OutputFolderTest, RefusesWhatIsNoFolder) {
  put("file", "text");
  EXPECT_NE(refusal(at("file")).find("it is a file"), std::string::npos);
  EXPECT_NE(refusal(at("file/below")), "");
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("."), "");
  EXPECT_NE(refusal("/"), "");
  EXPECT_EQ(content(root_ / "file"), "text");
}

TEST_F(OutputFolderTest, RemovesLeftoversOfTheDeadOnly) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto* folder = new OutputFolder(at("out"), "run.json");
    folder->create("data.csv").append("half");
    ::_exit(0);  // as if killed: no destructor runs
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(names(root_).size(), 1U);

  fs::create_directory(at(".out.tmp-1-living"));      // process 1 always lives
  fs::create_directory(at(".out.tmp-nonsense"));      // not a name of ours
  fs::create_directory(at(".other.tmp-99999999-x"));  // of another place
  write(at("out"), "whole");
  EXPECT_EQ(names(root_), (Names{"out", ".out.tmp-1-living", ".out.tmp-nonsense", ".other.tmp-99999999-x"}));
}

TEST_F(OutputFolderTest, StopAtOnceRemovesWhatThisProcessWrites) {
  OutputFolder folder(at("out"), "run.json");
  folder.create("data.csv").append("half");
  remove_unfinished(at("out"), false);
  EXPECT_EQ(names(root_).size(), 1U);
  remove_unfinished(at("out"), true);
  EXPECT_EQ(names(root_), Names{});
}

TEST_F(OutputFolderTest, AFailedWriteIsAnErrorThatNamesTheFile) {
  const pid_t child = ::fork();
  if (child == 0) {
    // A limit on the size of files stands for a full disk: both make writing fail in the middle.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = refusal_of(at("out"), std::string(5000, 'x'));
    ::_exit(message.find("data.csv") != std::string::npos && fs::is_empty(root_) ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace wisecrowd
