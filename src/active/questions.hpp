#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/dalc_session.hpp"
#include "wisecrowd/live_loop.hpp"

namespace wisecrowd::dalc_loop {

/// What makes a task worth asking about.
enum class Doubt : std::uint8_t {
  entropy,             ///< of what network and answers say together: tasks that the crowd has settled are left alone
  bald,                ///< the part of it that more data would remove
  predictive_entropy,  ///< of what the network says alone
};

struct QuestionOptions {
  bool chooses_task = true, chooses_worker = true;  ///< else by chance
  Doubt doubt = Doubt::entropy;
  std::size_t draws = 20;     ///< of MC-dropout
  std::size_t diversity = 0;  ///< among so many times as many unsure tasks, those that differ; below 2: the most unsure
};

struct QuestionRequest {
  std::size_t count = 0;                                    ///< at most so many
  double budget = std::numeric_limits<double>::infinity();  ///< and at most this cost together
  std::size_t capacity = 0;             ///< how often a worker is asked in this round at most; 0: any number of times
  std::span<const WorkerOffer> offers;  ///< one per worker; empty: all at cost 1, without limits, and they answer
};

/// Who can be asked about a task, in the order of names; those to whom it was put already are not among them.
using Askable = std::function<void(TaskId task, std::vector<WorkerId>& workers)>;

/// What to ask next: one question per task at most, the most unsure first, to the worker who is most probably right and
/// answers, for its price. The one place where it is decided, for recorded and for living crowds. `open`: tasks that
/// may be asked about, in the order of their rows. `session` may be null where chance alone decides. `stream` names
/// what is random in it.
[[nodiscard]] std::vector<LiveQuestion> next_questions(DalcSession* session, std::vector<TaskId> open,
                                                       const Askable& askable, const QuestionRequest& request,
                                                       const QuestionOptions& options, std::size_t classes,
                                                       const std::string& stream, const RunContext& context);

}  // namespace wisecrowd::dalc_loop
