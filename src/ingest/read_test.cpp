#include "ingest/read.hpp"

#include <gtest/gtest.h>

#include <string>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using ingest::Input;
using ingest::Tuning;

Dataset read(const std::string& text, const ReadOptions& options = {}, DataReport* report = nullptr,
             const std::string& name = "answers.csv") {
  const RunContext context({.threads = 2});
  return ingest::read_dataset({name, text}, std::nullopt, options, Tuning{}, context, report);
}

/// "task worker label" of every answer in task order.
std::string listed(const Annotations& answers) {
  std::string out;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      out += std::string(answers.task_names()[t]) + "|" + std::string(answers.worker_names()[index(workers[i])]) + "|" +
             std::string(answers.class_names()[index(labels[i])]) + "\n";
    }
  }
  return out;
}

TEST(ReadDataset, LongCsv) {
  DataReport report;
  const Dataset data = read("task,worker,label\nt1,w1,b\nt2,w1,a\nt1,w2,a\n", {}, &report);
  EXPECT_EQ(listed(data.answers), "t1|w1|b\nt1|w2|a\nt2|w1|a\n");
  EXPECT_EQ(report.rows, 3U);
  EXPECT_EQ(data.answers.class_names()[0], "a");
}

}  // namespace
}  // namespace wisecrowd
