#include "service/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "service/project.hpp"
#include "service/words.hpp"

namespace wisecrowd::service {
namespace {

namespace fs = std::filesystem;

class ServiceJournal : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wisecrowd_journal_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  static Batch batch(std::vector<Entry> entries, std::string key = "", std::string digest = "") {
    Batch batch;
    batch.entries = std::move(entries);
    batch.key = std::move(key);
    batch.digest = std::move(digest);
    return batch;
  }
  static Entry answer(std::string task, std::string worker, std::string label) {
    Entry entry;
    entry.task = std::move(task);
    entry.worker = std::move(worker);
    entry.label = std::move(label);
    if (entry.label.empty()) entry.kind = EntryKind::withdrawal;
    return entry;
  }
  fs::path folder_;
};

TEST_F(ServiceJournal, KeepsWhatItIsToldInOrder) {
  {
    Journal journal = Journal::open((folder_ / "j").string());
    const Batch one = batch({answer("t1", "w", "a"), answer("t2", "w", "b")}), two = batch({answer("t1", "w", "")});
    const auto receipts = journal.append({&one, &two});
    EXPECT_EQ(receipts[0].position, 2);
    EXPECT_EQ(receipts[1].position, 3);
  }
  Journal journal = Journal::open((folder_ / "j").string());
  const auto entries = journal.read(1, 10);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].task, "t2");
  EXPECT_EQ(entries[1].kind, EntryKind::withdrawal);
  EXPECT_GT(entries[1].time, 1.7e9);
  EXPECT_EQ(journal.last_position(), 3);
}

TEST_F(ServiceJournal, AKeyIsTakenOnce) {
  Journal journal = Journal::open((folder_ / "j").string());
  const Batch one = batch({answer("t", "w", "a")}, "k", "d1"), other = batch({answer("t", "w", "b")}, "k", "d2");
  const auto receipts = journal.append({&one, &one, &other});
  EXPECT_EQ(receipts[0].kind, Receipt::Kind::accepted);
  EXPECT_EQ(receipts[1].kind, Receipt::Kind::repeated);
  EXPECT_EQ(receipts[1].position, receipts[0].position);
  EXPECT_EQ(receipts[2].kind, Receipt::Kind::key_reused);
  EXPECT_EQ(journal.last_position(), 1);
}

TEST_F(ServiceJournal, AForgottenAnnotationTakesItsAnswerAlong) {
  Journal journal = Journal::open((folder_ / "j").string());
  Batch made = batch({answer("t", "w", "a"), answer("t", "w", "b")});
  made.annotations = {{1, "t", "w", "a"}, {2, "t", "w", "b"}, {3, "u", "w", ""}};
  Batch gone;
  gone.forgotten = {2, 3, 99};
  Batch rest;
  rest.forgotten = {1};
  (void)journal.append({&made, &gone, &rest});
  const auto entries = journal.read(2, 10);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].label, "a");  // the other annotation of the same worker stands
  EXPECT_EQ(entries[1].kind, EntryKind::withdrawal);
  EXPECT_TRUE(journal.annotations().empty());
}

TEST_F(ServiceJournal, AProjectFollowsItsJournalAfterALoss) {
  const RunContext context(RunOptions{.threads = 1});
  const auto write = [&](Project& project, std::vector<Entry> entries) {
    const Batch one = batch(std::move(entries));
    (void)project.append({&one});
  };
  {
    Project project("p", folder_, ProjectSettings{.title = "P", .classes = {"a", "b"}});
    write(project, {answer("t", "w", "a"), answer("u", "w", "a"), answer("u", "v", "b")});
    EXPECT_EQ(project.absorb(context), 3U);
    write(project, {answer("t", "w", "b"), answer("t", "v", "b"), answer("u", "v", "")});
  }
  fs::remove(folder_ / "crowd.state");  // it can always be made anew
  Project project("p", folder_, std::nullopt);
  EXPECT_EQ(project.settings().classes.size(), 2U);
  EXPECT_EQ(project.absorbed(), 0);
  EXPECT_EQ(project.absorb(context), 6U);
  EXPECT_EQ(project.absorb(context), 0U);
  EXPECT_TRUE(project.wait_for(6, 0));
  EXPECT_FALSE(project.wait_for(7, 0.01));
  project.with_state([&](const CrowdState& state) {
    EXPECT_EQ(state.summary().answers, 3U);
    EXPECT_EQ(state.task("t")->answers.size(), 2U);
    EXPECT_EQ(state.task("t")->label, ClassId(1));
    EXPECT_EQ(state.task("u")->answers.size(), 1U);
  });
}

TEST_F(ServiceJournal, OneOfTheFirstVersionIsBroughtUpToDate) {
  const std::string path = (folder_ / "journal.db").string();
  {
    Database old(path, Database::Mode::create);
    old.run(
        "CREATE TABLE entry(position INTEGER PRIMARY KEY, kind INTEGER NOT NULL, task TEXT NOT NULL, worker TEXT, "
        "label TEXT, time REAL NOT NULL, seconds REAL, link TEXT)");
    old.run("CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
    old.run("INSERT INTO entry VALUES (1, 0, 't', 'w', 'a', 5, NULL, NULL)");
    old.run("PRAGMA application_id = 1464030026; PRAGMA user_version = 1");
  }
  Journal journal = Journal::open(path);
  ASSERT_EQ(journal.read(0, 10).size(), 1U);
  EXPECT_EQ(journal.read(0, 10)[0].assignment, "");
  EXPECT_EQ(journal.setting(kRefittingSetting), "1");  // nobody wrote down what fits changed
  Entry paid = answer("t", "w", "b");
  paid.assignment = "A1";
  const Batch more = batch({paid});
  (void)journal.append({&more});
  ASSERT_EQ(journal.standing(0, 10).size(), 1U);
  EXPECT_EQ(journal.standing(0, 10)[0].assignment, "A1");
}

TEST_F(ServiceJournal, StandingAnswersAreThoseThatWereNeitherReplacedNorTakenBack) {
  Journal journal = Journal::open((folder_ / "journal.db").string());
  Entry gone = answer("u", "w", "");
  gone.kind = EntryKind::withdrawal;
  const Batch all = batch({answer("t", "w", "a"), answer("u", "w", "a"), answer("t", "v", "b"), gone,
                           answer("t", "w", "b"), answer("x", "v", "a")});
  (void)journal.append({&all});
  std::string shown;
  for (std::int64_t after = 0;;) {  // one at a time
    const auto page = journal.standing(after, 1);
    if (page.empty()) break;
    shown += page[0].task + page[0].worker + page[0].label + " ";
    after = page[0].position;
  }
  EXPECT_EQ(shown, "tvb twb xva ");
}

TEST_F(ServiceJournal, ATaskIsRevisedOnce) {
  Journal journal = Journal::open((folder_ / "journal.db").string());
  journal.store(kRefittingSetting, "1");
  journal.note_revised(3, {"a", "b"});
  EXPECT_EQ(journal.setting(kRefittingSetting), "");
  journal.note_revised(7, {"c", "a"});
  const auto tasks = [&](std::int64_t since, std::int64_t after, std::size_t limit) {
    std::string names;
    for (const Revision& one : journal.revised(since, after, limit)) names += one.task;
    return names;
  };
  EXPECT_EQ(tasks(0, 0, 10), "bca");
  EXPECT_EQ(tasks(4, 0, 10), "ca");
  EXPECT_EQ(tasks(8, 0, 10), "");
  const auto first = journal.revised(0, 0, 2);
  EXPECT_EQ(tasks(0, first.back().number, 2), "a");
}

TEST_F(ServiceJournal, LabelsOutsideTheClassesAreNamed) {
  Project project("p", folder_, ProjectSettings{.classes = {"a", "b"}});
  Rows rows;
  rows.entries = {answer("t", "w", "a"), answer("t", "w", "c"), answer("t", "w", "")};
  project.check_labels(rows);
  EXPECT_EQ(rows.error_count, 1U);
  EXPECT_EQ(rows.errors[0].row, 2U);
}

TEST(ServiceProject, NamesAreNeverPaths) {
  for (const char* good : {"a", "Birds-2_x", "0"}) EXPECT_TRUE(is_project_name(good)) << good;
  for (const char* bad : {"", ".", "..", "a/b", "a\\b", "-a", "_a", "a b", "a.b", "é", "a%2e"})
    EXPECT_FALSE(is_project_name(bad)) << bad;
  EXPECT_FALSE(is_project_name(std::string(65, 'a')));
}

}  // namespace
}  // namespace wisecrowd::service
