#include "wisecrowd/read_sequences.hpp"

#include <gtest/gtest.h>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

struct Texts {
  std::string answers, gold, tokens;
};

SequenceData read(const Texts& texts, const ReadOptions& options = {}, DataReport* report = nullptr,
                  const SequenceFiles& files = {}) {
  ingest::SequenceInputs inputs{{"answers.csv", texts.answers}, {}, {}};
  if (!texts.gold.empty()) inputs.gold = ingest::Input{"gold.csv", texts.gold};
  if (!texts.tokens.empty()) inputs.tokens = ingest::Input{"tokens.csv", texts.tokens};
  return ingest::read_sequences(inputs, files, options, {}, RunContext(), report);
}

std::string refusal(const Texts& texts, const ReadOptions& options = {}, const SequenceFiles& files = {}) {
  try {
    (void)read(texts, options, nullptr, files);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::string kHeader = "doc,position,worker,tag\n";

TEST(ReadSequences, LongTable) {
  const SequenceData data = read({kHeader + "d2,0,b,O\nd1,1,a,I-PER\nd1,0,a,B-PER\nd1,1,b,O\nd2,0,a,B-LOC\n",
                                  "doc,position,label\nd1,0,B-PER\nd9,0,O\n", ""});
  const SequenceAnswers& answers = data.answers;
  ASSERT_EQ(answers.answer_count(), 4U);
  EXPECT_EQ(answers.type_names()[0], "LOC");
  EXPECT_EQ(answers.length(TaskId{0}), 2U);
  EXPECT_EQ(answers.length(TaskId{1}), 1U);
  EXPECT_EQ(std::vector<TagId>(answers.tags(0).begin(), answers.tags(0).end()),
            (std::vector<TagId>{begin_tag(1), inside_tag(1)}));
  EXPECT_EQ(answers.first(1), 1U);  // b saw the second token of d1 alone
  EXPECT_EQ(answers.tag_answer_count(), 5U);
  EXPECT_EQ(data.gold, (std::vector<TagId>{begin_tag(1), kNoTag, kNoTag}));
}

TEST(ReadSequences, GapsOfAWorkerAreKept) {
  const SequenceData data = read({kHeader + "d,0,a,O\nd,2,a,B-x\nd,0,b,O\nd,1,b,O\nd,2,b,O\n", "", ""});
  EXPECT_EQ(std::vector<TagId>(data.answers.tags(0).begin(), data.answers.tags(0).end()),
            (std::vector<TagId>{kOutside, kNoTag, begin_tag(0)}));
}

TEST(ReadSequences, PositionsMayBeginWithOne) {
  const SequenceData data =
      read({kHeader + "d,1,a,O\nd,2,a,B-x\n", "", "doc,position,token\nd,1,to\nd,2,\"New, York\"\nd,3,.\n"});
  EXPECT_EQ(data.first_position, 1U);
  EXPECT_EQ(data.answers.length(TaskId{0}), 3U);  // the file of tokens knows one more
  EXPECT_EQ(data.tokens[1], "New, York");
}

TEST(ReadSequences, OrderOfRowsDoesNotMatter) {
  const SequenceData one = read({kHeader + "d1,0,a,O\nd1,1,a,B-x\nd10,0,b,B-y\nd2,0,b,O\n", "", ""});
  const SequenceData two = read({kHeader + "d2,0,b,O\nd1,1,a,B-x\nd10,0,b,B-y\nd1,0,a,O\n", "", ""});
  EXPECT_EQ(one.answers.content_hash(), two.answers.content_hash());
  EXPECT_EQ(one.answers.task_names()[1], "d2");
}

TEST(ReadSequences, SaysWhatIsWrong) {
  EXPECT_NE(refusal({kHeader + "d,0,a,O\nd,1,a,PER\n", "", ""})
                .find("answers.csv:3: column 'tag': value 'PER': is no tag of the BIO scheme: tags are O (outside of "
                      "every span), B-type "
                      "(a span of that type begins) and I-type (it goes on), as in B-PER"),
            std::string::npos);
  for (const char* tag : {"B", "B-", "b-PER", "X-PER", "0"}) {
    EXPECT_NE(refusal({kHeader + "d,0,a," + tag + "\n", "", ""}).find("BIO scheme"), std::string::npos) << tag;
  }
  for (const char* position : {"-1", "1.5", "one", "99999999999", "16777216", "1e3"}) {
    EXPECT_NE(refusal({kHeader + "d," + position + ",a,O\n", "", ""}).find("is not the position of a token"),
              std::string::npos)
        << position;
  }
  EXPECT_NE(refusal({kHeader + "d,0,a,O\nd,1,a,O\nd,1,a,B-x\n", "", ""})
                .find("answers.csv:4: column 'position': value '1': the same worker tagged this token in line 3 as "
                      "'O', here as 'B-x': "
                      "keep one of the two"),
            std::string::npos);
  const std::string gap = refusal({kHeader + "d,0,a,O\nd,1,a,O\nd,5,a,B-x\n", "", ""});
  EXPECT_NE(
      gap.find("answers.csv:4: column 'position': value '5': document 'd' has this token, but none at position 2"),
      std::string::npos)
      << gap;
  EXPECT_NE(gap.find("`tokens`"), std::string::npos);
  EXPECT_NE(refusal({kHeader + "d,0,a,O\n", "doc,position,tag\nd,0,O\nd,0,B-x\n", ""})
                .find("gold.csv:3: column 'position': value '0': contradicts line 2"),
            std::string::npos);
  EXPECT_NE(refusal({"doc,worker,tag\nd,a,O\n", "", ""}).find("names no column for the position"), std::string::npos);
  EXPECT_NE(refusal({kHeader, "", ""}).find("no row after the header"), std::string::npos);
  EXPECT_NE(refusal({kHeader + "d,0,,O\n", "", ""}).find("column 'worker': is empty"), std::string::npos);
}

TEST(ReadSequences, HugePositionsCostNoMemory) {
  std::string rows = kHeader;
  for (int d = 0; d < 1000; ++d) rows += "d" + std::to_string(d) + ",16777215,a,O\n";
  EXPECT_NE(refusal({rows, "", ""}).find("none at position"), std::string::npos);
}

TEST(ReadSequences, LenientDropsBadRows) {
  ReadOptions options;
  options.lenient = true;
  DataReport report;
  const SequenceData data =
      read({kHeader + "d,0,a,O\nd,0,a,B-x\nd,1,a,nonsense\nd,1,a,B-x\n", "", ""}, options, &report);
  EXPECT_EQ(report.rows_dropped, 2U);
  EXPECT_EQ(std::vector<TagId>(data.answers.tags(0).begin(), data.answers.tags(0).end()),
            (std::vector<TagId>{kOutside, begin_tag(0)}));
}

TEST(ReadSequences, RefusesWhatIsForOtherKinds) {
  ReadOptions options;
  options.classes = {"O"};
  EXPECT_NE(refusal({kHeader + "d,0,a,O\n", "", ""}, options).find("leave the class list out"), std::string::npos);
  options = {};
  options.layout = TableLayout::wide;
  EXPECT_NE(refusal({kHeader + "d,0,a,O\n", "", ""}, options).find("leave the wide layout out"), std::string::npos);
  options = {};
  options.duplicates = DuplicatePolicy::repeat;
  EXPECT_NE(refusal({kHeader + "d,0,a,O\n", "", ""}, options).find("tags a token once"), std::string::npos);
}

TEST(ReadSequences, ColumnsByName) {
  ReadOptions options;
  options.task_column = "text";
  options.label_column = "said";
  SequenceFiles files;
  files.position_column = "n";
  const SequenceData data =
      read({"n,text,said,worker\n0,d,B-x,a\n", "", "doc,position,token\nd,0,x\n"}, options, nullptr, files);
  EXPECT_EQ(data.answers.tags(0)[0], begin_tag(0));
}

ReadOptions wide() {
  ReadOptions options;
  options.layout = TableLayout::wide;
  return options;
}

TEST(ReadSequences, WideTableIsTheLongOne) {
  const std::string tall = kHeader + "d,0,a,O\nd,1,a,B-x\nd,0,b,B-x\ne,0,b,O\n";
  const std::string table = "position,doc,token,a,b\n0,d,to,O,B-x\n1,d,York,B-x,\n2,d,.,,\n0,e,yes,,O\n";
  const SequenceData data = read({table, "", ""}, wide());
  const SequenceData other = read({tall, "", "doc,position,token\nd,0,to\nd,1,York\nd,2,.\ne,0,yes\n"});
  EXPECT_EQ(data.answers.content_hash(), other.answers.content_hash());
  EXPECT_EQ(data.answers.length(TaskId{0}), 3U);  // nobody tagged the last token
  EXPECT_EQ(data.tokens[1], "York");
  ReadOptions json = wide();
  json.format = TableFormat::jsonl;
  const SequenceData lines = read({R"({"doc":"d","position":0,"token":"to","a":"O","b":"B-x"}
{"doc":"d","position":1,"token":"York","a":"B-x","b":null}
{"doc":"d","position":2,"token":"."}
{"doc":"e","position":0,"token":"yes","b":"O"})",
                                   "", ""},
                                  json);
  EXPECT_EQ(lines.answers.content_hash(), other.answers.content_hash());
  EXPECT_EQ(lines.tokens[3], "yes");
}

TEST(ReadSequences, WideTablesSayWhatIsWrong) {
  const auto says = [](const std::string& text) { return refusal({text, "", ""}, wide()); };
  EXPECT_NE(says("doc,position,a,b\nd,0,O,B-x\nd,1,X,O\n")
                .find("answers.csv:3: column 'a': value 'X': is no tag of the BIO scheme"),
            std::string::npos);
  EXPECT_NE(says("doc,position,a\nd,0,O\nd,0,O\n").find("answers.csv:3: column 'position': value '0': the same worker"),
            std::string::npos);
  EXPECT_NE(says("doc,position,a\nd,first,O\n").find("value 'first': is not the position of a token"),
            std::string::npos);
  EXPECT_NE(says("doc,token,a\nd,x,O\n").find("`format=conll`"), std::string::npos);
  EXPECT_NE(says("doc,position,token\nd,0,x\n").find("one column per worker"), std::string::npos);
  EXPECT_NE(says("doc,position,a,a\nd,0,O,O\n").find("both named 'a'"), std::string::npos);
  EXPECT_NE(says("doc,position,a\nd,0,O\nd,2,O\n").find("but none at position 1"), std::string::npos);
}

TEST(ReadSequences, WorkersMergedAndLeftOut) {
  ReadOptions options;
  options.exclude_workers = {"c"};
  options.merge_workers = {{"b", "a"}};
  const SequenceData data = read({kHeader + "d,0,a,O\nd,0,c,O\nd,1,b,B-x\nd,1,c,O\n", "", ""}, options);
  EXPECT_EQ(data.answers.worker_count(), 1U);
  EXPECT_EQ(data.answers.answer_count(), 1U);
  EXPECT_EQ(data.answers.tags(0).size(), 2U);
  EXPECT_NE(refusal({kHeader + "d,0,a,O\nd,0,b,O\n", "", ""}, options).find("the same worker tagged this token"),
            std::string::npos);
}

}  // namespace
}  // namespace wisecrowd
