#include "ingest/span_tables.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

SequenceData read(const std::string& spans, const std::string& tokens, const std::string& gold = "",
                  const ReadOptions& options = {}, DataReport* report = nullptr) {
  ingest::SequenceInputs inputs{{"spans.csv", spans}, {}, {}};
  if (!tokens.empty()) inputs.tokens = ingest::Input{"known.csv", tokens};
  if (!gold.empty()) inputs.gold = ingest::Input{"gold.csv", gold};
  const auto tags = ingest::tags_of_spans(std::move(inputs), options, {}, RunContext());
  if (report != nullptr) *report = tags.found;
  return ingest::read_sequences(tags.inputs, {}, tags.options, {}, RunContext());
}

std::string refusal(const std::string& spans, const std::string& tokens, const std::string& gold = "") {
  try {
    (void)read(spans, tokens, gold);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::string kSpans = "doc,worker,start,end,type\n";
const std::string kTokens = "doc,position,token\nd,0,Ada\nd,1,Lovelace\nd,2,of\nd,3,London\n";

std::vector<TagId> tags(const SequenceData& data, AnswerIndex answer) {
  return {data.answers.tags(answer).begin(), data.answers.tags(answer).end()};
}

TEST(SpanTables, SpansOfTokens) {
  const SequenceData data = read(kSpans + "d,b,,,\nd,a,3,4,LOC\nd,a,0,2,PER\n", kTokens);
  ASSERT_EQ(data.answers.answer_count(), 2U);
  EXPECT_EQ(tags(data, 0), (std::vector<TagId>{begin_tag(1), inside_tag(1), kOutside, begin_tag(0)}));
  EXPECT_EQ(tags(data, 1), std::vector<TagId>(4, kOutside));  // b looked and marked nothing
  EXPECT_EQ(data.tokens[1], "Lovelace");
}

TEST(SpanTables, OneBesideTheOtherStayTwo) {
  const SequenceData data = read(kSpans + "d,a,0,1,PER\nd,a,1,2,PER\n", kTokens);
  EXPECT_EQ(tags(data, 0), (std::vector<TagId>{begin_tag(0), begin_tag(0), kOutside, kOutside}));
}

TEST(SpanTables, LastBelongsToASpanAndAnEndDoesNot) {
  const SequenceData one = read(kSpans + "d,a,0,2,PER\n", kTokens);
  const SequenceData two = read("doc,worker,first,last,type\nd,a,0,1,PER\n", kTokens);
  EXPECT_EQ(one.answers.content_hash(), two.answers.content_hash());
}

TEST(SpanTables, NumbersMayBeginWithOne) {
  const SequenceData data =
      read("doc,worker,first,last,type\nd,a,1,1,PER\n", "doc,position,token\nd,1,Ada\nd,2,sleeps\n");
  EXPECT_EQ(data.first_position, 1U);
  EXPECT_EQ(tags(data, 0), (std::vector<TagId>{begin_tag(0), kOutside}));
}

TEST(SpanTables, CharactersOfATextAreTheWordsThatTheyTouch) {
  // "é" is one character of two bytes; the second span begins in the middle of a word.
  const SequenceData data = read(kSpans + "d,a,0,7,PER\nd,a,14,18,LOC\n", "doc,text\nd,\"André C. in London.\"\n");
  EXPECT_EQ(data.answers.length(TaskId{0}), 6U);
  EXPECT_EQ(tags(data, 0),
            (std::vector<TagId>{begin_tag(1), inside_tag(1), kOutside, kOutside, begin_tag(0), kOutside}));
  EXPECT_EQ(data.tokens[4], "London");
}

TEST(SpanTables, LengthsWillDo) {
  const SequenceData data = read(kSpans + "d,a,0,2,PER\n", "doc,length\nd,4\ne,7\n");
  EXPECT_EQ(data.answers.length(TaskId{0}), 4U);
  EXPECT_EQ(data.tokens.size(), 0U);
}

TEST(SpanTables, GoldMayBeSpansToo) {
  const std::string gold = "doc,first,last,type,probability\nd,3,3,LOC,0.9\n";
  const SequenceData spans = read(kSpans + "d,a,0,2,PER\n", kTokens, gold);
  EXPECT_EQ(spans.gold, (std::vector<TagId>{kOutside, kOutside, kOutside, begin_tag(0)}));
  const SequenceData rows = read("doc,position,worker,tag\nd,0,a,O\nd,1,a,O\n", kTokens, gold);
  EXPECT_EQ(rows.gold, spans.gold);
}

TEST(SpanTables, SayWhatIsWrong) {
  const auto says = [](const std::string& rows, const std::string& words, const std::string& tokens = kTokens) {
    const std::string error = refusal(kSpans + rows, tokens);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  says("d,a,0,2,PER\nd,b,0,1,X\nd,a,1,3,LOC\n",
       "spans.csv:4: column 'start': value '1': this span overlaps the one in line 2");
  says("d,a,2,1,PER\n", "spans.csv:2: column 'end': value '1': is not behind the start of the span, 2");
  says("d,a,2,2,PER\n", "call the column last");
  says("d,a,2,5,PER\n", "value '5': is beyond the document 'd', which has 4 tokens");
  says("d,a,-1,5,PER\n", "value '-1': is no place in a document: tokens are counted 0, 1, 2");
  says("d,a,NaN,2,PER\n", "value 'NaN': is no place");
  says("d,a,0,1e309,PER\n", "value '1e309': is no place");
  says("d,a,0,,PER\n", "is no place");
  says("d,a,0,1,\n", "column 'type': is empty: every span has a type");
  says("e,a,0,1,PER\n", "value 'e': is not among the documents whose tokens are known");
  says(",a,0,1,PER\n", "column 'doc': is empty");
  says("d,,0,1,PER\n", "column 'worker': is empty");
  says("d,a,0,1\n", "the row has 4 fields");
  says("d,a,1,2,PER\n", "touches no word of the text", "doc,text\nd,\"a  b\"\n");
  says("d,a,1,9,PER\n", "beyond the document 'd', which has 4 characters", "doc,text\nd,\"a  b\"\n");
  says("d,a,0,1,PER\n", "spans do not say how long documents are: give `tokens`", "");
  says("d,a,0,1,PER\n", "known.csv:3: column 'position': value '2': follows a gap",
       "doc,position,token\nd,0,a\nd,2,b\n");
  says("d,a,0,1,PER\n", "known.csv:3: column 'doc': value 'd': stands there twice", "doc,length\nd,3\nd,4\n");
  says("d,a,0,1,PER\n", "value 'x': is not the number of tokens", "doc,length\nd,x\n");
  says("d,a,0,1,PER\n", "the header must name a document and its tokens", "a,b\nd,x\n");
  says("", "no row after the header");
}

TEST(SpanTables, NamesOfColumnsThatLackOne) {
  EXPECT_NE(refusal("doc,start,end,type\nd,0,1,PER\n", kTokens).find("names no column for the worker"),
            std::string::npos);
  EXPECT_NE(refusal("doc,worker,start,end\nd,a,0,1\n", kTokens).find("names no column for the type"),
            std::string::npos);
  ReadOptions options;
  options.task_column = "text";
  options.worker_column = "who";
  options.value_columns = {"von", "bis"};
  options.label_column = "what";
  const SequenceData data = read("text,who,von,bis,what\nd,a,0,2,PER\n", kTokens, "", options);
  EXPECT_EQ(data.answers.content_hash(), read(kSpans + "d,a,0,2,PER\n", kTokens).answers.content_hash());
}

TEST(SpanTables, LenientLeavesOut) {
  ReadOptions options;
  options.lenient = true;
  DataReport report;
  const SequenceData data = read(kSpans + "d,a,0,2,PER\nd,a,1,3,LOC\nd,a,9,3,LOC\n", kTokens, "", options, &report);
  EXPECT_EQ(report.rows_dropped, 2U);
  EXPECT_EQ(tags(data, 0)[1], inside_tag(0));
}

}  // namespace
}  // namespace wisecrowd
