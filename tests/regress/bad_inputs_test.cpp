// Every way in which a file can be wrong, with the message that the user gets. A message names the file, the line where
// there is one, the value, and what to do.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using namespace std::string_literals;
using ingest::Tuning;

struct BadInput {
  std::string what;
  std::string file;
  std::string text;
  std::string expected;  // a part of the message
  ReadOptions options = {};
  std::string gold = {};  // a gold file, if not empty
  ErrorCode code = ErrorCode::bad_input;
};

const std::string kHeader = "task,worker,label\n";

ReadOptions columns(std::string task, std::string worker, std::string label) {
  ReadOptions options;
  options.task_column = std::move(task);
  options.worker_column = std::move(worker);
  options.label_column = std::move(label);
  return options;
}
ReadOptions wide() { return {.layout = TableLayout::wide}; }
ReadOptions classes(std::vector<std::string> names) { return {.classes = std::move(names)}; }
ReadOptions reject() { return {.duplicates = DuplicatePolicy::reject}; }

std::string many_labels() {
  std::string text = kHeader;
  for (int i = 0; i < 65'536; ++i) text += fmt::format("t{},w,text {}\n", i % 1000, i);
  return text;
}
std::string many_problems() {
  std::string text = kHeader;
  for (int i = 0; i < 30; ++i) text += "t,w\n";
  return text;
}

std::vector<BadInput> bad_inputs() {
  return {
      // The file as a whole.
      {"nothing", "a.csv", "", "a.csv: the file is empty: name one with"},
      {"only line ends", "a.csv", "\n\r\n\r\r\n", "a.csv: the file is empty"},
      {"only a byte order mark", "a.csv", "\xEF\xBB\xBF", "a.csv: the file is empty"},
      {"only a header", "a.csv", kHeader, "a.csv: there is no row after the header"},
      {"only a header, no line end", "a.csv", "task,worker,label", "a.csv: there is no row after the header"},
      {"binary", "a.csv", "\x7F\x45LF\0\0\1\2"s,
       "a.csv:1: the first line '\\x7FELF\\x00\\x00\\x01\\x02' is not UTF-8 text"},
      {"Latin-1 header", "a.csv",
       "t\xE2"
       "che,worker,label\na,b,c\n",
       "a.csv:1: the first line 't\\xE2che,worker,label'"},
      {"UTF-16", "a.csv", "\xFF\xFEt\0a\0"s, "a.csv: this is text in UTF-16: save it as UTF-8"},
      {"zip", "a.xlsx", "PK\x03\x04rest", "a.xlsx: this is a zip archive or a spreadsheet: unpack it, or export"},
      {"xz", "a.csv.xz",
       "\xFD"
       "7zXZ\0\0\0"s,
       "a.csv.xz: this is packed with xz: unpack it"},
      {"bzip2", "a.csv.bz2", "BZh91AY", "this is packed with bzip2: unpack it"},
      {"Parquet", "a.parquet", "PAR1xxxx", "this is a Parquet file: export it as CSV"},
      {"gzip that stops", "a.csv.gz", "\x1F\x8B\x08\0\0"s,
       "a.csv.gz: the gzip data end too early after 0 unpacked bytes"},
      {"damaged gzip", "a.csv.gz", "\x1F\x8B\x08\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF"s,
       "a.csv.gz: the gzip data are damaged"},
      {"zstd that stops", "a.csv.zst", "\x28\xB5\x2F\xFD\x24"s, "a.csv.zst: the zstd data end too early"},
      {"damaged zstd", "a.csv.zst", "\x28\xB5\x2F\xFD\x2C\x01\x09"s, "a.csv.zst: the zstd data are damaged"},
      // Columns.
      {"no header", "a.csv", "t1,w1,yes\nt2,w1,no\n",
       "a.csv: the header names no column for the task and the worker and the label. Found: 't1', 'w1', 'yes'"},
      {"no header: the remedy", "a.csv", "t1,w1,yes\n", "by position (`columns=1,2,3`) if the file has no header"},
      {"no worker", "a.csv", "task,label\nt,a\n",
       "names no column for the worker. Found: 'task', 'label'. Known names: "
       "worker: worker, worker_id, workerid, annotator"},
      {"commas in a TSV", "a.tsv", "task,worker,label\nt,w,a\n",
       "It contains commas or semicolons: name the format csv"},
      {"tabs in a CSV", "a.csv", "task\tworker\tlabel\nt\tw\ta\n", "It contains tabs: name the format tsv"},
      {"JSON in a CSV", "a.csv", "{\"task\": 1}\n", "It looks like JSON: name the format jsonl"},
      {"an unknown column is asked for", "a.csv", kHeader + "t,w,a\n",
       "a.csv: there is no column 'rater' for the worker. Found: 'task', 'worker', 'label'", columns("", "rater", "")},
      {"one column in two roles", "a.csv", kHeader + "t,w,a\n", "column 'task' cannot be both the task and the worker",
       columns("task", "task", "label")},
      {"a position that is not there", "a.csv", "t1,w1,yes\n",
       "a.csv: there is no column 4 for the label: the first row has 3", columns("1", "2", "4"), "",
       ErrorCode::bad_parameter},
      {"a position twice", "a.csv", "t1,w1,yes\n", "need three different columns", columns("1", "1", "2"), "",
       ErrorCode::bad_parameter},
      {"a name twice", "a.csv", "task,worker,label,task\nt,w,a,u\n",
       "columns 1 and 4 are both named 'task': rename one"},
      {"unclosed header", "a.csv", "task,\"worker,label\nt,w,a\n",
       "a.csv:1: a quoted field of the first row is never closed"},
      {"header with text after a quote", "a.csv", "task,\"worker\"x,label\nt,w,a\n",
       "a.csv:1: field 2 of the first row has text after its closing quote"},
      // Rows.
      {"too few fields", "a.csv", kHeader + "t,w,a\nt,w\n",
       "a.csv:3: the row has 2 fields, the header has 3: add what is missing"},
      {"too many fields", "a.csv", kHeader + "t,w,a,b\n",
       "a.csv:2: the row has 4 fields, the header has 3: put fields that contain a comma in quotes"},
      {"too many fields in a TSV", "a.tsv", "task\tworker\tlabel\nt\tw\ta\tb\n",
       "a.tsv:2: the row has 4 fields, the header has 3: put fields that contain a tab in quotes"},
      {"empty task", "a.csv", kHeader + ",w,a\n", "a.csv:2: column 'task': is empty: fill it in or remove the row"},
      {"empty worker", "a.csv", kHeader + "t,,a\n", "a.csv:2: column 'worker': is empty"},
      {"empty label", "a.csv", kHeader + "t,w,\n", "a.csv:2: column 'label': is empty"},
      {"empty quoted label", "a.csv", kHeader + "t,w,\"\"\n", "a.csv:2: column 'label': is empty"},
      {"bad UTF-8", "a.csv", kHeader + "t,w,a\nt,w,caf\xE9\n",
       "a.csv:3: value 't,w,caf\\xE9': byte 8 of the line (0xE9) is not UTF-8: save the file as UTF-8"},
      {"bad UTF-8 in a later line of a field", "a.csv", kHeader + "t,w,\"a\nb\xFF\"\n",
       "a.csv:3: value 't,w,\"a\\nb\\xFF\"': byte 2 of the line (0xFF)"},
      {"NUL", "a.csv", kHeader + "t,w,a\0b\n"s, "a.csv:2: value 't,w,a\\x00b': byte 6 of the line is NUL"},
      {"text after a closing quote", "a.csv", kHeader + "t,w,\"a\"b\n",
       "a.csv:2: column 'label': value 'a': text follows the closing quote: double the quotes"},
      {"unclosed quote", "a.csv", kHeader + "t,w,a\nt,w,\"b\nt,w,c\n",
       "a.csv:3: value 't,w,\"b\\nt,w,c\\n': a quoted field in this row is never closed"},
      {"a very long field", "a.csv", kHeader + "t,w," + std::string(70'000, 'x') + "\n",
       "a.csv:2: column 'label': value 'xxxx"},
      {"lines are counted through CR, CRLF, blanks and quoted line ends", "a.csv",
       "task,worker,label\r\n\r\nt,\"w\n1\r\n2\",a\rt,w,\n", "a.csv:6: column 'label': is empty"},
      {"a label outside the class list", "a.csv", kHeader + "t,w,maybe\n",
       "a.csv:2: column 'label': value 'maybe': is not one of the classes yes, no: correct it or add it to the class "
       "list",
       classes({"yes", "no"})},
      {"a class twice", "a.csv", kHeader + "t,w,a\n", "class 'a' is listed twice", classes({"a", "a"}), "",
       ErrorCode::bad_parameter},
      {"an empty class", "a.csv", kHeader + "t,w,a\n", "the class list has an empty name", classes({"a", ""}), "",
       ErrorCode::bad_parameter},
      {"free text as labels", "a.csv", many_labels(),
       "a.csv: more than 65535 different labels (for example 'text 0', 'text 1', 'text 2'): is this free text or a "
       "real value?"},
      {"many problems: the count", "a.csv", many_problems(),
       "a.csv: 30 problems found\n  a.csv:2: the row has 2 fields"},
      {"many problems: the rest", "a.csv", many_problems(),
       "a.csv:21: the row has 2 fields, the header has 3: add what is missing\n  … and 10 more\n"},
      {"a repeated answer", "a.csv", kHeader + "t,w,a\nu,w,a\nt,w,b\n",
       "a.csv:4: worker 'w' already answered task 't' in line 2: remove one, or choose", reject()},
      // Wide.
      {"wide with one column", "a.csv", "task\nt\n",
       "a wide table has one column per worker beside the task; this one has only 'task'", wide()},
      {"wide with a nameless worker", "a.csv", "task,w1,\nt,a,b\n",
       "a.csv: column 3 has no name: in a wide table the header names the workers", wide()},
      {"wide with a worker twice", "a.csv", "task,w1,w1\nt,a,b\n", "columns 2 and 3 are both named 'w1': rename one",
       wide()},
      {"wide with a short row", "a.csv", "task,w1,w2\nt,a\n", "a.csv:2: the row has 2 fields, the header has 3",
       wide()},
      {"wide without a task", "a.csv", "task,w1,w2\n,a,b\n", "a.csv:2: column 'task': is empty", wide()},
      {"wide with a label outside the class list",
       "a.csv",
       "task,w1,w2\nt,a,b\n",
       "a.csv:2: column 'w2': value 'b': is not one of the classes a",
       {.layout = TableLayout::wide, .classes = {"a"}}},
      // JSON Lines.
      {"a JSON array without the keys", "a.json", "[{\"task\": 1}]",
       "a.json: the first object names no column for the worker and the label"},
      {"an indented JSON object", "a.json", "{\n  \"task\": 1\n}\n", "a.json:1: '{': the line is not valid JSON"},
      {"JSON without the keys", "a.jsonl", "{\"a\": 1}\n",
       "a.jsonl: the first object names no column for the task and the worker and the label. Found: 'a'"},
      {"no JSON object", "a.jsonl", "5\n", "a.jsonl:1: '5': the line is not a JSON object: one {…} per line is wanted"},
      {"broken JSON", "a.jsonl", "{\"task\":1,\"worker\":2,\"label\":3}\n{\"task\":1,\n",
       "a.jsonl:2: value '{\"task\":1,': the line is not valid JSON"},
      {"null label", "a.jsonl", "{\"task\":1,\"worker\":2,\"label\":null}\n",
       "a.jsonl:1: column 'label': value 'null': is null: give a value or remove the row"},
      {"missing key", "a.jsonl", "{\"task\":1,\"worker\":2,\"label\":3}\n{\"task\":1,\"worker\":2}\n",
       "a.jsonl:2: column 'label': is missing: every object needs this key"},
      {"NUL in a JSON name", "a.jsonl",
       "{\"task\":1,\"worker\":2,\"label\":3}\n{\"task\":\"a\\u0000b\",\"worker\":2,\"label\":3}\n",
       "a.jsonl:2: column 'task': value 'a\\x00b': holds a NUL character"},
      {"NUL in a JSON label", "a.jsonl", "{\"task\":1,\"worker\":2,\"label\":\"\\u0000\"}\n",
       "a.jsonl:1: column 'label': value '\\x00': holds a NUL character"},
      {"NUL in the key of a worker", "a.jsonl", "{\"task\":1,\"w\\u0000\":\"a\"}\n",
       "a.jsonl:1: value 'w\\x00': holds a NUL character", wide()},
      {"NUL in the class list", "a.csv", kHeader + "t,w,a\n", "class 'a\\x00b' holds a NUL character",
       classes({"a", "a\0b"s})},
      {"a class that is not UTF-8", "a.csv", kHeader + "t,w,a\n", "class 'caf\\xE9' is not UTF-8",
       classes({"a", "caf\xE9"})},
      {"a list as label", "a.jsonl", "{\"task\":1,\"worker\":2,\"label\":[3]}\n",
       "a.jsonl:1: column 'label': is an array or an object: give one text, number or boolean"},
      {"a key twice", "a.jsonl", "{\"task\":1,\"worker\":2,\"label\":3,\"label\":4}\n",
       "a.jsonl: the key 'label' appears twice in the first object: keep one"},
      {"a key twice later", "a.jsonl",
       "{\"task\":1,\"worker\":2,\"label\":3}\n{\"task\":1,\"worker\":2,\"label\":3,\"label\":4}\n",
       "a.jsonl:2: value '{\"task\":1,\"worker\":2,\"label\":3,\"label\":4}': the key 'label' appears twice"},
      {"bad UTF-8 in JSON", "a.jsonl",
       "{\"task\":1,\"worker\":2,\"label\":3}\n{\"task\":\"\xFF\",\"worker\":2,\"label\":3}\n",
       "byte 10 of the line (0xFF) is not UTF-8"},
      {"a huge number", "a.jsonl",
       "{\"task\":1,\"worker\":2,\"label\":3}\n{\"task\":123456789012345678901234567890,\"worker\":2,\"label\":3}\n",
       "a.jsonl:2: value '{\"task\":123456789012345678901234567890,"},
      // Gold.
      {"gold without a label column",
       "a.csv",
       kHeader + "t,w,a\n",
       "gold.csv: the header names no column for the label. Found: 'task', 'foo'",
       {},
       "task,foo\nt,a\n"},
      {"empty gold", "a.csv", kHeader + "t,w,a\n", "gold.csv: the file is empty", {}, "\n"},
      {"contradictory gold",
       "a.csv",
       kHeader + "t,w,a\n",
       "gold.csv:4: column 'label': value 'b': contradicts line 2, which says 'a' for the same task: keep one of them",
       {},
       "task,label\nt,a\nt,a\nt,b\n"},
      {"gold outside the class list", "a.csv", kHeader + "t,w,a\n",
       "gold.csv:2: column 'label': value 'b': is not one of the classes a", classes({"a"}), "task,label\nt,b\n"},
      {"an empty gold label",
       "a.csv",
       kHeader + "t,w,a\n",
       "gold.csv:2: column 'truth': is empty",
       {},
       "task,truth\nt,\n"},
  };
}

void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.what; }

class BadInputs : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputs, SaysWhatIsWrong) {
  const BadInput& bad = GetParam();
  const RunContext context({.threads = 2});
  std::optional<ingest::Input> gold;
  if (!bad.gold.empty()) gold = ingest::Input{"gold.csv", bad.gold};
  for (const Tuning& tuning : {Tuning{}, Tuning{.window_bytes = 64, .chunk_bytes = 16}}) {
    DataReport report;
    try {
      (void)ingest::read_dataset({bad.file, bad.text}, gold, bad.options, tuning, context, &report);
      FAIL() << "was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(bad.expected), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), bad.code);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, BadInputs, testing::ValuesIn(bad_inputs()), [](const auto& param) {
  std::string name;
  for (const char c : param.param.what) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  return name;
});

struct BadLabels {
  std::string text;
  std::string expected;
};

TEST(BadInputs, LabelTables) {
  const std::vector<BadLabels> table = {
      {"task,label,probability\nt,a,1.5\n", "l.csv:2: column 'probability': value '1.5': is not a probability"},
      {"task,label,probability\nt,a,nan\n", "value 'nan': is not a probability"},
      {"task,label,p_a\nt,a,x\n", "l.csv:2: column 'p_a': value 'x': is not a probability"},
      {"task,label,p_a,p_a\nt,a,1,1\n", "l.csv: there are two columns 'p_a'"},
      {"task,label,probability,probability\nt,a,1,1\n", "l.csv: there are two columns 'probability': rename one"},
      {"task,label,p_a\nt,a,\n", "l.csv:2: column 'p_a': is empty"},
      {"id;label\n", "Found: 'id', 'label'"},
  };
  const RunContext context;
  for (const auto& bad : table) {
    try {
      (void)ingest::read_label_table({"l.csv", bad.text}, {}, {}, context);
      ADD_FAILURE() << "was accepted: " << bad.text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(bad.expected), std::string::npos) << error.what();
    }
  }
}

std::string message_of(const std::string& path, ErrorCode expected, const std::optional<std::string>& gold = {}) {
  const RunContext context;
  try {
    (void)read_dataset(path, gold, {}, context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
    return error.what();
  }
  return "was accepted";
}

class BadFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("wisecrowd_bad_files_{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(BadFiles, Missing) {
  EXPECT_EQ(message_of(path("none.csv"), ErrorCode::io),
            path("none.csv") + ": cannot be opened: No such file or directory: check the path");
}

TEST_F(BadFiles, Directory) {
  EXPECT_EQ(message_of(folder_.string(), ErrorCode::io), folder_.string() + ": is a directory: name a file in it");
}

TEST_F(BadFiles, NoPermission) {
  std::ofstream(path("secret.csv")) << kHeader << "t,w,a\n";
  chmod(path("secret.csv").c_str(), 0);
  // Root may read everything: become somebody else for a moment.
  constexpr uid_t kNobody = 65534;
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  const std::string message = message_of(path("secret.csv"), ErrorCode::io);
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_NE(message.find("Permission denied: check the permissions"), std::string::npos) << message;
}

TEST_F(BadFiles, BothFromStandardInput) {
  EXPECT_NE(message_of("-", ErrorCode::bad_parameter, "-").find("cannot both come from standard input"),
            std::string::npos);
}

TEST_F(BadFiles, OneEndlessLine) {
  // A sparse file: a gigabyte of NUL without a line end. The reader gives up early.
  std::ofstream(path("long.csv")) << kHeader;
  std::filesystem::resize_file(path("long.csv"), std::uintmax_t{1} << 30);
  EXPECT_NE(message_of(path("long.csv"), ErrorCode::bad_input)
                .find("long.csv:2: a row is longer than 67108864 bytes: the file has no line ends, or is no table"),
            std::string::npos);
}

TEST(BadRows, LenientDropsThemAndSaysSo) {
  const std::string text = kHeader + "t,w,a\nt\nu,w,b\n,w,c\nv,w,\xFF\n";
  const RunContext context;
  DataReport report;
  const CategoryData data =
      ingest::read_dataset({"a.csv", text}, std::nullopt, {.lenient = true}, {}, context, &report);
  EXPECT_EQ(data.answers.answer_count(), 2U);
  EXPECT_EQ(data.answers.task_count(), 2U);
  EXPECT_EQ(data.answers.class_count(), 2U) << "a dropped row must not bring in its label";
  EXPECT_EQ(report.rows, 5U);
  EXPECT_EQ(report.rows_dropped, 3U);
  EXPECT_EQ(report.problem_count, 3U);
  ASSERT_EQ(report.problems.size(), 3U);
  EXPECT_EQ(report.problems[1].line, 5U);
  EXPECT_EQ(report.problems[1].column, "task");
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].code, "rows_dropped");
  EXPECT_NE(report.warnings[0].message.find("a.csv: 3 of 5 rows were dropped"), std::string::npos)
      << report.warnings[0].message;
}

TEST(BadRows, LenientWithoutAnyGoodRow) {
  const RunContext context;
  try {
    (void)ingest::read_dataset({"a.csv", kHeader + "t\n"}, std::nullopt, {.lenient = true}, {}, context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.csv: none of its 1 rows can be used. The first problem: a.csv:2: "),
              std::string::npos);
  }
}

TEST(BadRows, StrictListsRepeatsAndOtherProblemsInFileOrder) {
  const std::string text = kHeader + "t,w,a\nt\nt,w,b\n,w,c\n";
  const RunContext context;
  DataReport report;
  EXPECT_THROW((void)ingest::read_dataset({"a.csv", text}, std::nullopt, reject(), {}, context, &report), Error);
  ASSERT_EQ(report.problems.size(), 3U);
  EXPECT_EQ(report.problem_count, 3U);
  EXPECT_EQ(report.problems[0].line, 3U);
  EXPECT_EQ(report.problems[1].line, 4U);
  EXPECT_EQ(report.problems[2].line, 5U);
}

}  // namespace
}  // namespace wisecrowd
