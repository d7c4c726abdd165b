#pragma once

#include <string>
#include <vector>

#include "ingest/table.hpp"

namespace wisecrowd::ingest {

/// Gold of which no task has answers: what helps to say why.
struct GoldMismatch {
  std::string file;
  std::size_t total = 0;
  std::size_t matched = 0;
  std::vector<std::string> tasks;    ///< some of its tasks
  std::string task_column;           ///< as the header calls it
  std::vector<std::string> columns;  ///< the others, label apart
  bool labels_are_tasks = false;     ///< most of its labels are tasks of the answers
};

/// `gold` is the table as read, `gold_tasks` its tasks, `answered` the tasks of the answers.
[[nodiscard]] GoldMismatch mismatch_of(const Table& gold, const NameTable& gold_tasks, const KeyTable& answered);

/// The likely reason in words, with the remedy.
[[nodiscard]] std::string mismatch_reason(const GoldMismatch& gold, const CategoryAnswerNames& answers);

}  // namespace wisecrowd::ingest
