#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

std::string joined(const NameTable& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += fmt::format("{}{}", i > 0 ? "," : "", names[i]);
  return out;
}

TEST(ReadLabelTable, OurOwnLabels) {
  const RunContext context({.threads = 2});
  const LabelTable table = ingest::read_label_table(
      {"labels.csv", "task,label,probability,p_no,p_yes,p_unsure\nt1,yes,0.75,0.125,0.75,0.125\nt2,no,1,1,0,0\n"}, {},
      {}, context);
  EXPECT_EQ(joined(table.tasks), "t1,t2");
  EXPECT_EQ(joined(table.classes), "no,unsure,yes");
  EXPECT_EQ(table.labels, (std::vector<ClassId>{ClassId{2}, ClassId{0}}));
  EXPECT_EQ(table.probabilities, (std::vector<double>{0.125, 0.125, 0.75, 1, 0, 0}));
  EXPECT_EQ(table.confidence, (std::vector<double>{0.75, 1}));
}

TEST(ReadLabelTable, GoldAndOtherToolsNames) {
  const RunContext context({.threads = 2});
  for (const char* header : {"task,label", "Item,Truth", "task,true_label", "question,gt", "example,gold",
                             "task,agg_label", "task,consensus_label"}) {
    const LabelTable table =
        ingest::read_label_table({"g.csv", fmt::format("{}\nt,a\nu,b\n", header)}, {}, {}, context);
    EXPECT_EQ(joined(table.classes), "a,b") << header;
    EXPECT_TRUE(table.probabilities.empty());
    EXPECT_TRUE(table.confidence.empty());
  }
}

TEST(ReadLabelTable, RepeatedRows) {
  const RunContext context({.threads = 2});
  DataReport report;
  const LabelTable same =
      ingest::read_label_table({"g.csv", "task,label,p_a\nt,a,1\nt,a,0.5\nu,a,0.25\n"}, {}, {}, context, &report);
  EXPECT_EQ(same.labels.size(), 2U);
  EXPECT_EQ(same.probabilities, (std::vector<double>{1, 0.25})) << "the first row counts";
  const LabelTable lenient =
      ingest::read_label_table({"g.csv", "task,label\nt,a\nt,b\nu,b\n"}, {.lenient = true}, {}, context, &report);
  EXPECT_EQ(lenient.labels, (std::vector<ClassId>{ClassId{0}, ClassId{1}}));
  EXPECT_EQ(report.rows_dropped, 1U);
}

TEST(ReadLabelTable, JsonLines) {
  const RunContext context;
  const LabelTable table = ingest::read_label_table(
      {"l.jsonl", "{\"task\":1,\"label\":\"a\",\"probability\":0.1,\"p_a\":0.1}\n"}, {}, {}, context);
  EXPECT_EQ(table.confidence, (std::vector<double>{0.1}));
}

TEST(ReadLabelTable, ABlankLabelIsAnAbstentionWhereItMayBe) {
  const RunContext context;
  const ingest::Input input{"l.csv", "task,label,p_a,p_b\nt,,0.5,0.5\nu,b,0,1\nt,,0.5,0.5\n"};
  EXPECT_THROW(static_cast<void>(ingest::read_label_table(input, {}, {}, context)), Error);
  const LabelTable table = ingest::read_label_table(input, {.blank_labels = true}, {}, context);
  EXPECT_EQ(table.labels, (std::vector<ClassId>{kNoClass, ClassId{1}}));
  EXPECT_EQ(table.probabilities, (std::vector<double>{0.5, 0.5, 0, 1}));
  const ingest::Input json{"l.jsonl",
                           "{\"task\":1,\"label\":null,\"p_a\":0.5}\n{\"task\":2,\"label\":\"a\",\"p_a\":1}\n"};
  EXPECT_EQ(ingest::read_label_table(json, {.blank_labels = true}, {}, context).labels[0], kNoClass);
  const ingest::Input contradiction{"l.csv", "task,label\nt,\nt,b\n"};
  EXPECT_THROW(static_cast<void>(ingest::read_label_table(contradiction, {.blank_labels = true}, {}, context)), Error);
}

}  // namespace
}  // namespace wisecrowd
