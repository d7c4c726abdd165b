#include "wisecrowd/read_judges.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

JudgeData read_judge_text(const std::string& answers, JudgeInputs more = {}, const JudgeReadOptions& options = {},
                          DataReport* report = nullptr) {
  more.answers = {"answers.csv", answers};
  return read_judges(more, options, RunContext(), report);
}

std::string refusal(const std::string& answers, const JudgeInputs& more = {}, const JudgeReadOptions& options = {}) {
  try {
    (void)read_judge_text(answers, more, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadJudges, CategoriesWithKindsAndFamilies) {
  JudgeInputs more;
  more.workers = JudgeTable{"workers.csv", "worker,kind,family,version,price\nm2,llm,g,2,0.5\nother,human,,,\n"};
  more.gold = JudgeTable{"gold.csv", "task,truth\nt2,no\n"};
  DataReport report;
  const JudgeData data = read_judge_text(
      "task,worker,label,kind,family\nt10,ann,yes,human,\nt2,m1,no,machine,g\nt2,m2,yes,,\n", more, {}, &report);
  EXPECT_EQ(data.kind, JudgedKind::categories);
  EXPECT_EQ(data.tasks[0], "t2");
  EXPECT_EQ(data.classes[0], "no");
  ASSERT_EQ(data.workers.size(), 3U);
  EXPECT_FALSE(data.is_machine(WorkerId{0}));
  EXPECT_TRUE(data.is_machine(WorkerId{1}));
  EXPECT_EQ(data.judges[1].family, "g");
  EXPECT_EQ(data.judges[2].version, "2");
  EXPECT_EQ(data.judges[2].price, 0.5);
  EXPECT_EQ(data.gold[0], ClassId{0});
  EXPECT_EQ(data.gold[1], kNoClass);
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].code, "workers_without_answers");
}

TEST(ReadJudges, ArenasAndMtBench) {
  const JudgeData data = read_judge_text(
      R"({"question_id": 81, "model_a": "zed", "model_b": "alpha", "winner": "model_a", "judge": "author_1", "turn": 1}
{"question_id": 81, "model_a": "alpha", "model_b": "zed", "winner": "tie", "judge": ["gpt-4", "pair-v2"], "turn": 1}
{"question_id": 81, "model_a": "alpha", "model_b": "zed", "winner": "model_b", "judge": ["gpt-4", "pair-v2"], "turn": 2}
)");
  EXPECT_EQ(data.kind, JudgedKind::comparisons);
  ASSERT_EQ(data.tasks.size(), 2U);
  EXPECT_EQ(data.asked[0], "81 turn 1");
  EXPECT_EQ(data.items[0], "alpha");
  EXPECT_FALSE(data.is_machine(WorkerId{0}));
  EXPECT_EQ(data.workers[1], "gpt-4/pair-v2");
  EXPECT_TRUE(data.is_machine(WorkerId{1}));
  EXPECT_EQ(data.answers[0].said, ClassId{1});  // zed won, which is the second by name
  EXPECT_TRUE(data.answers[0].swapped);
  EXPECT_EQ(data.answers[1].said, ClassId{2});
  EXPECT_FALSE(data.answers[1].swapped);
}

TEST(ReadJudges, LogarithmsInBothOrders) {
  const JudgeData data = read_judge_text(
      "question,judge,kind,left,right,logprob_a,logprob_b,logprob_a_swapped,logprob_b_swapped\n"
      "q,m,machine,b,a,-0.5,-1.5,-2,-1\n");
  ASSERT_EQ(data.answers.size(), 2U);
  EXPECT_TRUE(data.answers[0].swapped);
  EXPECT_FALSE(data.answers[1].swapped);
  ASSERT_EQ(data.class_count(), 3U);  // asked twice, so its verdicts may contradict one another
  EXPECT_EQ(data.answers[0].said, ClassId{1});
  EXPECT_EQ(data.answers[1].said, ClassId{0});
  EXPECT_NEAR(data.log_probabilities[1] - data.log_probabilities[0], 1, 1e-9);
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) sum += std::exp(data.log_probabilities[k]);
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(ReadJudges, PreferencesHaveNoSides) {
  const JudgeData data = read_judge_text(
      R"({"prompt": "p", "chosen": [{"role": "assistant", "content": "good"}], "rejected": [{"role": "assistant", "content": "bad"}], "judge": "m", "kind": "machine"}
)");
  EXPECT_FALSE(data.sides_known);
  EXPECT_EQ(data.items[0], "bad");
  EXPECT_EQ(data.answers[0].said, ClassId{1});
  EXPECT_EQ(data.asked[0], "p");
}

TEST(ReadJudges, LabelStudioPredictionsAreMachines) {
  const JudgeData data = read_judge_text(
      R"([{"id": 1, "data": {"text": "x"}, "annotations": [{"id": 1, "completed_by": 5, "result": [{"from_name": "s", "to_name": "t", "type": "choices", "value": {"choices": ["yes"]}}]}],
 "predictions": [{"id": 9, "model_version": "m1", "result": [{"from_name": "s", "to_name": "t", "type": "choices", "value": {"choices": ["no"]}}]}]}])");
  ASSERT_EQ(data.workers.size(), 2U);
  std::size_t machines = 0;
  for (std::size_t w = 0; w < 2; ++w) machines += data.is_machine(WorkerId(w)) ? 1 : 0;
  EXPECT_EQ(machines, 1U);
}

TEST(ReadJudges, LengthsAreRatiosWhereTheyCanBe) {
  const std::string head = "question,worker,left,right,label,length_a,length_b\n";
  const JudgeData ratio = read_judge_text(head + "q,w,a,b,a,400,100\nr,w,b,a,a,100,100\n");
  EXPECT_TRUE(ratio.length_is_ratio);
  EXPECT_DOUBLE_EQ(ratio.length[0], 2);
  EXPECT_DOUBLE_EQ(ratio.length[1], 0);
  EXPECT_FALSE(read_judge_text(head + "q,w,a,b,a,0,100\nr,w,b,a,a,100,100\n").length_is_ratio);
  JudgeInputs more;
  more.items = JudgeTable{"items.csv", "item,family,length\na,x,8\nb,y,2\n"};
  const JudgeData items = read_judge_text("question,worker,left,right,label\nq,w,a,b,tie\n", more);
  EXPECT_DOUBLE_EQ(items.length[0], 2);
  EXPECT_EQ(items.item_family[1], "y");
}

TEST(ReadJudges, MachinesByNameAndByTable) {
  JudgeReadOptions options;
  options.machines = {"w2"};
  JudgeInputs more;
  more.machine_answers = JudgeTable{"machines.csv", "task,worker,label\nt,w3,b\n"};
  const JudgeData data = read_judge_text("task,worker,label\nt,w1,a\nt,w2,a\n", more, options);
  EXPECT_FALSE(data.is_machine(WorkerId{0}));
  EXPECT_TRUE(data.is_machine(WorkerId{1}));
  EXPECT_TRUE(data.is_machine(WorkerId{2}));
  options.machines = {"nobody"};
  EXPECT_NE(refusal("task,worker,label\nt,w1,a\nt,w2,b\n", {}, options).find("'nobody'"), std::string::npos);
}

TEST(ReadJudges, BadRowsAreNamedByLineValueAndRemedy) {
  const std::string head = "task,worker,label,kind\n";
  EXPECT_NE(refusal(head + "t,w,a,robot\nt,v,b,human\n").find("answers.csv:2: column 'kind': value 'robot'"),
            std::string::npos)
      << refusal(head + "t,w,a,robot\nt,v,b,human\n");
  EXPECT_NE(refusal(head + "t,w,,human\n").find("is empty"), std::string::npos);
  EXPECT_NE(refusal("task,worker,p_a,p_b\nt,w,0.7,0.7\n").find("sum to 1.4"), std::string::npos);
  EXPECT_NE(refusal("task,worker,p_a,p_b\nt,w,1.7,0.7\n").find("0 to 1"), std::string::npos);
  EXPECT_NE(refusal("question,worker,left,right,label\nq,w,a,a,a\n").find("with itself"), std::string::npos);
  EXPECT_NE(refusal("question,worker,left,right,label\nq,w,a,b,c\n").find("neither 'a' nor 'b'"), std::string::npos);
  EXPECT_NE(refusal("x,y\n1,2\n").find("no column names the task"), std::string::npos);
  JudgeReadOptions lenient;
  lenient.lenient = true;
  EXPECT_EQ(read_judge_text(head + "t,w,a,human\nt,v,,human\nu,w,b,human\n", {}, lenient).answers.size(), 2U);
}

TEST(ReadJudges, OrderedScoresAreNumbers) {
  JudgeReadOptions options;
  options.ordered = true;
  const JudgeData data = read_judge_text("task,worker,label\nt,w,10\nt,v,2\n", {}, options);
  EXPECT_EQ(data.kind, JudgedKind::ordered);
  EXPECT_EQ(data.classes[0], "2");
  EXPECT_FALSE(refusal("task,worker,label\nt,w,good\nt,v,bad\n", {}, options).empty());
}

}  // namespace
}  // namespace wisecrowd
