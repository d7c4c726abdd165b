#include "wisecrowd/answer_graph.hpp"

#include <algorithm>
#include <thread>

#include "data/build.hpp"

namespace wisecrowd {

NameTable::NameTable(std::span<const std::string> names) {
  offsets_.reserve(names.size() + 1);
  for (const auto& name : names) {
    characters_ += name;
    offsets_.push_back(characters_.size());
  }
}

NameTable::NameTable(std::string characters, std::vector<std::uint64_t> offsets)
    : characters_(std::move(characters)), offsets_(std::move(offsets)) {}

AnswerGraph::AnswerGraph() {
  static const auto empty = [] {
    auto storage = std::make_shared<Storage>();
    storage->task_offsets.assign(1, 0);
    return storage;
  }();
  graph_ = empty;
}
AnswerGraph::AnswerGraph(std::shared_ptr<const Storage> storage) : graph_(std::move(storage)) {}

std::size_t AnswerGraph::task_count() const noexcept { return graph_->task_names.size(); }
std::size_t AnswerGraph::worker_count() const noexcept { return graph_->worker_names.size(); }
std::size_t AnswerGraph::answer_count() const noexcept { return graph_->workers.size(); }
const NameTable& AnswerGraph::task_names() const noexcept { return graph_->task_names; }
const NameTable& AnswerGraph::worker_names() const noexcept { return graph_->worker_names; }
std::span<const AnswerIndex> AnswerGraph::task_offsets() const noexcept { return graph_->task_offsets; }
std::span<const WorkerId> AnswerGraph::workers() const noexcept { return graph_->workers; }
bool AnswerGraph::has_repeats() const noexcept { return graph_->has_repeats; }

std::span<const WorkerId> AnswerGraph::workers_of(TaskId task) const noexcept {
  const auto begin = graph_->task_offsets[index(task)];
  return workers().subspan(begin, graph_->task_offsets[index(task) + 1] - begin);
}

namespace {

/// Each thread takes a range of workers, reads all answers and writes only its own: no synchronisation, and the result
/// does not depend on the number of ranges.
void build_by_worker(const AnswerGraph::Storage& s) {
  const std::size_t workers = s.worker_names.size();
  const std::size_t tasks = s.task_names.size();
  s.worker_offsets.assign(workers + 1, 0);
  for (const WorkerId w : s.workers) ++s.worker_offsets[index(w) + 1];
  for (std::size_t w = 0; w < workers; ++w) s.worker_offsets[w + 1] += s.worker_offsets[w];
  s.worker_tasks.resize(s.workers.size());
  s.worker_answers.resize(s.workers.size());
  HugeVector<AnswerIndex> cursor(s.worker_offsets.begin(), s.worker_offsets.end() - 1);
  const std::size_t parts = s.workers.size() < 1'000'000 ? 1 : std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  ThreadPool pool(static_cast<unsigned>(parts));
  pool.for_each_block(parts, [&](std::size_t part, unsigned) {
    const auto bound = [&](std::size_t p) {
      const auto at = std::lower_bound(s.worker_offsets.begin(), s.worker_offsets.end(), s.workers.size() * p / parts);
      return p == parts ? workers : static_cast<std::size_t>(at - s.worker_offsets.begin());
    };
    const auto first = static_cast<std::uint32_t>(bound(part));
    const auto span = static_cast<std::uint32_t>(bound(part + 1)) - first;
    for (std::size_t t = 0; t < tasks; ++t) {
      for (AnswerIndex a = s.task_offsets[t]; a < s.task_offsets[t + 1]; ++a) {
        const auto w = static_cast<std::uint32_t>(s.workers[a]);
        if (w - first >= span) continue;
        const AnswerIndex to = cursor[w]++;
        s.worker_tasks[to] = TaskId{static_cast<std::uint32_t>(t)};
        s.worker_answers[to] = a;
      }
    }
  });
}

}  // namespace

std::span<const AnswerIndex> AnswerGraph::worker_offsets() const {
  std::call_once(graph_->by_worker_once, [this] { build_by_worker(*graph_); });
  return graph_->worker_offsets;
}
std::span<const TaskId> AnswerGraph::tasks_of(WorkerId worker) const {
  const auto offsets = worker_offsets();
  return std::span(graph_->worker_tasks)
      .subspan(offsets[index(worker)], offsets[index(worker) + 1] - offsets[index(worker)]);
}
std::span<const AnswerIndex> AnswerGraph::answers_of(WorkerId worker) const {
  const auto offsets = worker_offsets();
  return std::span(graph_->worker_answers)
      .subspan(offsets[index(worker)], offsets[index(worker) + 1] - offsets[index(worker)]);
}

}  // namespace wisecrowd
