#include "ingest/read.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using ingest::Input;
using ingest::Tuning;

CategoryData read(const std::string& text, const ReadOptions& options = {}, DataReport* report = nullptr,
                  const std::string& name = "answers.csv") {
  const RunContext context({.threads = 2});
  return ingest::read_dataset({name, text}, std::nullopt, options, Tuning{}, context, report);
}

CategoryData read_with_gold(const std::string& text, const std::string& gold, const ReadOptions& options = {},
                            DataReport* report = nullptr) {
  const RunContext context({.threads = 2});
  return ingest::read_dataset({"answers.csv", text}, Input{"gold.csv", gold}, options, Tuning{}, context, report);
}

/// "task|worker|label" of every answer in task order.
std::string listed(const CategoryAnswers& answers) {
  std::string out;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      out += fmt::format("{}|{}|{}\n", answers.task_names()[t], answers.worker_names()[index(workers[i])],
                         answers.class_names()[index(labels[i])]);
    }
  }
  return out;
}

std::string joined(const NameTable& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += fmt::format("{}{}", i > 0 ? "," : "", names[i]);
  return out;
}

TEST(ReadDataset, LongRowsInTheOrderOfNames) {
  DataReport report;
  const CategoryData data = read("task,worker,label\nt2,w1,b\nt1,w3,a\nt2,w2,a\n", {}, &report);
  EXPECT_EQ(listed(data.answers), "t1|w3|a\nt2|w1|b\nt2|w2|a\n");
  EXPECT_EQ(joined(data.answers.worker_names()), "w1,w2,w3");
  EXPECT_EQ(joined(data.answers.class_names()), "a,b");
  EXPECT_EQ(report.rows, 3U);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_FALSE(data.has_gold());
}

TEST(ReadDataset, HeaderAliasesInAnyCaseAndOrder) {
  for (const char* header : {"rating,Rater,ITEM", "label,annotator,task", "value,Annotator,example",
                             "Answer,PERFORMER,Question", "response,user,task_id", "\"label\",\"worker\",\"task\"",
                             "label, Worker ID ,Task-ID", "Label,WorkerId,HITId"}) {
    EXPECT_EQ(listed(read(fmt::format("{}\na,w,t\n", header)).answers), "t|w|a\n") << header;
  }
}

TEST(ReadDataset, ExactNameBeatsAlias) {
  EXPECT_EQ(listed(read("value,label,worker,item,task\n1,a,w,i,t\n").answers), "t|w|a\n");
}

TEST(ReadDataset, ColumnsByName) {
  const ReadOptions options{.task_column = "page", .worker_column = "Who", .label_column = "verdict"};
  EXPECT_EQ(listed(read("verdict,task,who,page\na,x,w,t\n", options).answers), "t|w|a\n");
}

TEST(ReadDataset, ColumnsByPositionMeanNoHeader) {
  const ReadOptions options{.task_column = "2", .worker_column = "1", .label_column = "4"};
  EXPECT_EQ(listed(read("w,t,x,a\nw,u,x,b\n", options).answers), "t|w|a\nu|w|b\n");
  // … unless the header has such names.
  EXPECT_EQ(listed(read("1,2,3,4\nw,t,x,a\n", options).answers), "t|w|a\n");
}

TEST(ReadDataset, HeaderlessGoldGoesWithHeaderlessAnswers) {
  const ReadOptions options{.task_column = "1", .worker_column = "2", .label_column = "3"};
  const CategoryData data = read_with_gold("t,w,a\nu,w,b\n", "u,b\n", options);
  EXPECT_EQ(data.gold, (std::vector<ClassId>{kNoClass, ClassId{1}}));
}

TEST(ReadDataset, Quoting) {
  const CategoryData data = read(
      "task,worker,label,note\n"
      "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\n"
      "5\" disk,w\"\"x,plain,\"\"\n"
      "\"\"\"\",\"x\r\ny\",\"\xC3\xA9\",\"q\"");
  EXPECT_EQ(listed(data.answers),
            "\"|x\r\ny|\xC3\xA9\n"
            "5\" disk|w\"\"x|plain\n"
            "a,b|say \"hi\"|two\nlines\n");
}

TEST(ReadDataset, LineEndsAndByteOrderMark) {
  const auto expected = read("task,worker,label\nt1,w1,b\nt2,w1,a\n").answers.content_hash();
  for (const std::string end : {"\n", "\r\n", "\r", "\n\n", "\r\r\n"}) {
    for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
      for (const std::string& last : {std::string(), end}) {
        const std::string text = mark + "task,worker,label" + end + "t1,w1,b" + end + "t2,w1,a" + last;
        EXPECT_EQ(read(text).answers.content_hash(), expected);
      }
    }
  }
}

TEST(ReadDataset, FieldsAreNotTrimmedButLookalikesAreNamed) {
  DataReport report;
  const CategoryData data = read("task,worker,label\nt,w1,cat \nt,w2,Cat\nt,w3,dog\n", {}, &report);
  EXPECT_EQ(data.answers.class_count(), 3U);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].code, "similar_labels");
  EXPECT_NE(report.warnings[0].message.find("'cat ', 'Cat'"), std::string::npos) << report.warnings[0].message;
}

TEST(ReadDataset, ClassesInNumericOrderOrAsGiven) {
  EXPECT_EQ(joined(read("task,worker,label\nt,w1,10\nt,w2,9\nt,w3,-1\n").answers.class_names()), "-1,9,10");
  EXPECT_EQ(joined(read("task,worker,label\nt,w1,10\nt,w2,9\nt,w3,x\n").answers.class_names()), "10,9,x");
  EXPECT_EQ(joined(read("task,worker,label\nt,w,b\n", {.classes = {"c", "b", "a"}}).answers.class_names()), "c,b,a");
}

TEST(ReadDataset, DuplicatePolicies) {
  const std::string text = "task,worker,label\nt,w,a\nt,w,b\nt,w,b\nu,w,a\nt,v,a\n";
  DataReport report;
  EXPECT_EQ(listed(read(text, {}, &report).answers), "t|v|a\nt|w|b\nu|w|a\n");
  EXPECT_EQ(report.duplicates_dropped, 2U);
  EXPECT_EQ(report.duplicates_contradicting, 1U);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].code, "duplicates");
  EXPECT_NE(report.warnings[0].message.find("2 answers repeat a task and worker, 1 of them contradict"),
            std::string::npos);

  const CategoryData repeated = read(text, {.duplicates = DuplicatePolicy::repeat}, &report);
  EXPECT_EQ(listed(repeated.answers), "t|v|a\nt|w|a\nt|w|b\nt|w|b\nu|w|a\n");
  EXPECT_TRUE(repeated.answers.has_repeats());
  EXPECT_TRUE(report.warnings.empty());

  EXPECT_THROW((void)read(text, {.duplicates = DuplicatePolicy::reject}, &report), Error);
  EXPECT_EQ(report.problem_count, 2U);

  // Lenient: the rows that come too late are dropped.
  const CategoryData first = read(text, {.duplicates = DuplicatePolicy::reject, .lenient = true}, &report);
  EXPECT_EQ(listed(first.answers), "t|v|a\nt|w|a\nu|w|a\n");
  EXPECT_EQ(report.duplicates_dropped, 2U);
}

TEST(ReadDataset, SameDataForAnyOrderOfRows) {
  std::vector<std::string> rows;
  for (int i = 0; i < 400; ++i) rows.push_back(fmt::format("t{},{},{}\n", i % 57, i * i % 23, "abc"[i * i * i % 3]));
  std::vector<std::string> gold;
  for (int t = 0; t < 57; t += 3) gold.push_back(fmt::format("t{},{}\n", t, "abc"[t % 3]));
  std::sort(rows.begin(), rows.end());
  rows.erase(
      std::unique(rows.begin(), rows.end(),
                  [](const auto& a, const auto& b) { return a.substr(0, a.rfind(',')) == b.substr(0, b.rfind(',')); }),
      rows.end());
  const auto table = [](const char* header, const std::vector<std::string>& lines) {
    std::string text = header;
    for (const auto& line : lines) text += line;
    return text;
  };
  const auto shuffled = [&] { return read_with_gold(table("task,worker,label\n", rows), table("task,label\n", gold)); };
  const CategoryData expected = shuffled();
  Rng rng(4);
  for (int shuffle = 0; shuffle < 5; ++shuffle) {
    rng.shuffle(std::span(rows));
    rng.shuffle(std::span(gold));
    const CategoryData data = shuffled();
    EXPECT_EQ(listed(data.answers), listed(expected.answers));
    EXPECT_EQ(data.answers.content_hash(), expected.answers.content_hash());
    EXPECT_EQ(data.gold, expected.gold);
  }
}

TEST(ReadDataset, Gold) {
  DataReport report;
  const CategoryData data =
      read_with_gold("task,worker,label\nt,w,a\nu,w,b\nv,w,a\n", "Task,Truth\nv,c\nnobody,z\nt,a\nt,a\n", {}, &report);
  EXPECT_EQ(joined(data.answers.class_names()), "a,b,c") << "z belongs to a task that nobody answered";
  EXPECT_EQ(data.gold, (std::vector<ClassId>{ClassId{0}, kNoClass, ClassId{2}}));
  EXPECT_EQ(report.gold_rows, 4U);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].code, "gold_without_answers");
  EXPECT_NE(report.warnings[0].message.find("1 of 3 gold tasks, for example 'nobody'"), std::string::npos)
      << report.warnings[0].message;
  validate(data);
}

TEST(ReadDataset, GoldColumns) {
  const std::string answers = "page,worker,verdict\nt,w,a\n";
  const ReadOptions options{.task_column = "page", .label_column = "verdict"};
  EXPECT_EQ(read_with_gold(answers, "page,gt\nt,a\n", options).gold[0], ClassId{0});
  EXPECT_EQ(read_with_gold(answers, "task,verdict\nt,a\n", options).gold[0], ClassId{0});
  ReadOptions own = options;
  own.gold_task_column = "p";
  own.gold_label_column = "v";
  EXPECT_EQ(read_with_gold(answers, "task,label,p,v\nx,x,t,a\n", own).gold[0], ClassId{0});
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
std::string zstd_packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(ReadDataset, EveryFormatGivesTheSameAnnotations) {
  std::string csv = "task,worker,label\n", tsv = "task\tworker\tlabel\n", json, wide = "task";
  for (int w = 0; w < 7; ++w) wide += fmt::format(",w{}", w);
  wide += '\n';
  for (int t = 0; t < 300; ++t) {
    wide += fmt::format("t{}", t);
    for (int w = 0; w < 7; ++w) {
      const int label = (t * 7 + w * 3) % 5;
      const bool answered = t == 0 || (t + w) % 3 != 0;
      wide += answered ? fmt::format(",{}", label) : ",";
      if (!answered) continue;
      csv += fmt::format("t{},w{},{}\n", t, w, label);
      tsv += fmt::format("t{}\tw{}\t{}\n", t, w, label);
      json += fmt::format(
          "{{\"label\": {}, \"extra\": [1, {{\"task\": 2}}], \"worker\": \"w{}\", \"task\": \"t{}\"}}\n", label, w, t);
    }
    wide += '\n';
  }
  const auto expected = read(csv).answers.content_hash();
  EXPECT_EQ(read(tsv, {}, nullptr, "a.tsv").answers.content_hash(), expected);
  EXPECT_EQ(read(tsv, {}, nullptr, "a").answers.content_hash(), expected) << "tabs are seen in the header";
  EXPECT_EQ(read(json, {}, nullptr, "a.jsonl").answers.content_hash(), expected);
  EXPECT_EQ(read(json, {}, nullptr, "a").answers.content_hash(), expected) << "the brace is seen";
  EXPECT_EQ(read(json, {.format = TableFormat::jsonl}, nullptr, "a.csv").answers.content_hash(), expected);
  EXPECT_EQ(read(wide, {.layout = TableLayout::wide}).answers.content_hash(), expected);
  EXPECT_EQ(read(gzipped(csv), {}, nullptr, "a.csv.gz").answers.content_hash(), expected);
  EXPECT_EQ(read(zstd_packed(csv), {}, nullptr, "a.csv.zst").answers.content_hash(), expected);
  EXPECT_EQ(read(gzipped(json), {}, nullptr, "a.jsonl.gz").answers.content_hash(), expected);
  EXPECT_EQ(read(gzipped(csv), {}, nullptr, "a.csv").answers.content_hash(), expected) << "recognised by its bytes";
  EXPECT_EQ(read(csv, {}, nullptr, "a.csv.gz").answers.content_hash(), expected) << "plain in spite of its name";
  // Several members, cut in the middle of a row, an empty one, and padding.
  const auto cut = csv.size() / 2 + 3;
  const std::string first = csv.substr(0, cut), second = csv.substr(cut);
  EXPECT_EQ(read(gzipped(first) + gzipped("") + gzipped(second) + std::string(512, '\0')).answers.content_hash(),
            expected);
  EXPECT_EQ(read(zstd_packed(first) + zstd_packed("") + zstd_packed(second)).answers.content_hash(), expected);
}

TEST(ReadDataset, TruncatedPackedDataAreRefusedWhereverTheyEnd) {
  const std::string csv = "task,worker,label\nt1,w1,b\nt2,w1,a\n";
  for (const std::string& packed : {gzipped(csv), zstd_packed(csv)}) {
    for (std::size_t size = 4; size < packed.size(); ++size) {
      EXPECT_THROW((void)read(packed.substr(0, size)), Error) << size;
    }
  }
  EXPECT_THROW((void)read(gzipped(csv) + "x"), Error);
}

TEST(ReadDataset, WideTablesKnowSilentWorkersAndUnansweredTasks) {
  DataReport report;
  const CategoryData data = read("x,task,w1,w2\n,t1,,b\n,t2,,\na,t3,,a\n", {.layout = TableLayout::wide}, &report);
  EXPECT_EQ(joined(data.answers.task_names()), "t1,t2,t3");
  EXPECT_EQ(joined(data.answers.worker_names()), "w1,w2,x");
  EXPECT_EQ(listed(data.answers), "t1|w2|b\nt3|w2|a\nt3|x|a\n");
  EXPECT_EQ(report.rows, 3U);
  // Without a column that is called like a task, the first one is it.
  EXPECT_EQ(listed(read("page,w1,w2\np,a,b\n", {.layout = TableLayout::wide}).answers), "p|w1|a\np|w2|b\n");
}

TEST(ReadDataset, WideTableWithoutAnyAnswer) {
  const CategoryData data = read("task,w1\nt1,\nt2,\n", {.layout = TableLayout::wide});
  EXPECT_EQ(data.answers.task_count(), 2U);
  EXPECT_EQ(data.answers.answer_count(), 0U);
}

TEST(ReadDataset, WideRepeatsNameTheirLines) {
  DataReport report;
  EXPECT_THROW((void)read("task,w1,w2\nt,a,\nu,,\nt,b,\n",
                          {.layout = TableLayout::wide, .duplicates = DuplicatePolicy::reject}, &report),
               Error);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].line, 4U);
  EXPECT_NE(report.problems[0].message.find("in line 2"), std::string::npos);
}

TEST(ReadDataset, JsonValues) {
  const CategoryData data = read(
      "{\"task\": \"t\\u00e9\\n\", \"worker\": 7, \"label\": true}\r\n"
      "\r\n"
      "  {\"task\": -5, \"worker\": 18446744073709551615, \"label\": false}\n"
      "{\"worker\": false, \"task\": 1.5, \"label\": \"\\\"x\\\"\"}",
      {}, nullptr, "a.jsonl");
  EXPECT_EQ(listed(data.answers),
            "-5|18446744073709551615|false\n"
            "1.5|false|\"x\"\n"
            "t\xC3\xA9\n|7|true\n");
}

TEST(ReadDataset, WideJson) {
  const CategoryData data =
      read("{\"task\": 1, \"ann\": \"a\", \"bob\": null}\n{\"task\": 2, \"eve\": \"b\"}\n{\"task\": 3}\n",
           {.layout = TableLayout::wide}, nullptr, "a.jsonl");
  EXPECT_EQ(listed(data.answers), "1|ann|a\n2|eve|b\n");
  EXPECT_EQ(data.answers.task_count(), 3U);
}

TEST(ReadDataset, ThreadsAndSizesChangeNothing) {
  std::string csv = "task,worker,label\n";
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    csv += fmt::format("{}{},worker {},{}\n", i % 7 == 0 ? "a_longer_name_than_sixteen_" : "t", (state >> 33) % 3000,
                       (state >> 20) % 50, (state >> 50) % 6);
  }
  std::optional<std::uint64_t> expected;
  for (const unsigned threads : {1U, 2U, 5U}) {
    for (const Tuning& tuning : {Tuning{}, Tuning{.window_bytes = 1000, .chunk_bytes = 100},
                                 Tuning{.window_bytes = 50'000, .chunk_bytes = 3000}}) {
      const RunContext context({.threads = threads});
      DataReport report;
      const CategoryData data = ingest::read_dataset({"a.csv", csv}, std::nullopt, {}, tuning, context, &report);
      const auto hash = data.answers.content_hash() + report.duplicates_contradicting;
      if (!expected) expected = hash;
      EXPECT_EQ(hash, *expected);
    }
  }
}

/// Enough rows that a window is numbered in several blocks, and enough names that many find their place in the table
/// taken.
TEST(ReadDataset, ManyNamesAreInOrder) {
  std::string csv = "task,worker,label\n";
  std::vector<bool> met(60'000, false);
  std::uint64_t state = 7;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto task = static_cast<std::size_t>((state >> 33) % met.size());
    csv += fmt::format("{},{},{}\n", task, (state >> 20) % 4000, (state >> 50) % 3);
    met[task] = true;
  }
  std::vector<std::string> order;
  for (std::size_t task = 0; task < met.size(); ++task) {
    if (met[task]) order.push_back(std::to_string(task));
  }
  std::optional<std::uint64_t> expected;
  for (const std::size_t window : {std::size_t{1} << 18, std::size_t{1} << 24}) {
    const RunContext context({.threads = 3});
    const Tuning tuning{.window_bytes = window, .window_per_thread = false};
    const CategoryData data = ingest::read_dataset({"a.csv", csv}, std::nullopt, {}, tuning, context);
    ASSERT_EQ(data.answers.task_count(), order.size());
    for (std::size_t t = 0; t < order.size(); ++t) ASSERT_EQ(data.answers.task_names()[t], order[t]);
    if (!expected) expected = data.answers.content_hash();
    EXPECT_EQ(data.answers.content_hash(), *expected);
  }
}

TEST(ReadDataset, CancelLeavesByItsOwnException) {
  std::atomic<bool> cancel{false};
  int reports = 0;
  const RunContext context({.threads = 1,
                            .on_progress =
                                [&](const Progress& progress) {
                                  EXPECT_EQ(progress.stage, "reading");
                                  EXPECT_LE(progress.done, progress.total);
                                  if (++reports == 2) cancel = true;
                                },
                            .cancel = &cancel});
  std::string csv = "task,worker,label\n";
  for (int i = 0; i < 100; ++i) csv += "t,w,a\n";
  EXPECT_THROW((void)ingest::read_dataset({"a.csv", csv}, std::nullopt, {}, {.window_bytes = 64}, context), Cancelled);
  EXPECT_EQ(reports, 2);
}

class ReadFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("wisecrowd_read_files_{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream((folder_ / name).string(), std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(ReadFiles, FromDiskAndStandardInput) {
  std::string csv = "task,worker,label\n";
  for (int i = 0; i < 200'000; ++i) csv += fmt::format("t{},w{},{}\n", i / 5, i % 13, i % 3);
  const auto expected = read(csv).answers.content_hash();
  const RunContext context({.threads = 2});
  const std::string plain = write("a.csv", csv);
  const std::string packed = write("a.csv.gz", gzipped(csv));
  const std::string zstd = write("a.zst", zstd_packed(csv));
  for (const auto& path : {plain, packed, zstd}) {
    EXPECT_EQ(read_dataset(path, std::nullopt, {}, context).answers.content_hash(), expected) << path;
  }
  const int saved = dup(STDIN_FILENO);
  for (const auto& path : {plain, packed, zstd}) {
    // A file as standard input, then a pipe.
    ASSERT_NE(std::freopen(path.c_str(), "rb", stdin), nullptr);
    EXPECT_EQ(read_dataset("-", std::nullopt, {}, context).answers.content_hash(), expected) << path;
    std::FILE* pipe = popen(fmt::format("cat '{}'", path).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    dup2(fileno(pipe), STDIN_FILENO);
    EXPECT_EQ(read_dataset("-", std::nullopt, {}, context).answers.content_hash(), expected) << path;
    dup2(saved, STDIN_FILENO);
    pclose(pipe);
  }
  close(saved);
}

TEST_F(ReadFiles, MessagesNameStandardInput) {
  const std::string path = write("bad.csv", "task,worker,label\nt,w\n");
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(path.c_str(), "rb", stdin), nullptr);
  const RunContext context;
  try {
    (void)read_dataset("-", std::nullopt, {}, context);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("standard input:2: "), std::string::npos);
  }
  dup2(saved, STDIN_FILENO);
  close(saved);
}

/// The real sets: sizes as their README states them.
TEST(ReadDataset, RealData) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  struct Known {
    const char* name;
    std::size_t tasks, workers, classes, rows, gold, repeats;
  };
  for (const Known& known :
       {Known{"bluebird", 108, 39, 2, 4212, 108, 0}, Known{"dog", 807, 109, 4, 8070, 807, 0},
        Known{"adult", 11'040, 825, 4, 92'721, 333, 2922}, Known{"relevance", 20'232, 766, 4, 98'453, 4460, 1570},
        Known{"weather", 300, 461, 5, 1720, 300, 0}}) {
    const RunContext context({.threads = 2});
    DataReport report;
    const auto folder = std::filesystem::path(*root) / "aggregate" / known.name;
    const CategoryData data =
        read_dataset((folder / "labels.csv").string(), (folder / "gold.csv").string(), {}, context, &report);
    EXPECT_EQ(data.answers.task_count(), known.tasks) << known.name;
    EXPECT_EQ(data.answers.worker_count(), known.workers) << known.name;
    EXPECT_EQ(data.answers.class_count(), known.classes) << known.name;
    EXPECT_EQ(report.rows, known.rows) << known.name;
    EXPECT_EQ(report.gold_rows, known.gold) << known.name;
    EXPECT_EQ(report.duplicates_dropped, known.repeats) << known.name;
  }
}

}  // namespace
}  // namespace wisecrowd
