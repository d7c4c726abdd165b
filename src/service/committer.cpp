#include "service/committer.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

namespace wisecrowd::service {
namespace {

/// More than these and clients are told to come again: memory is not a queue.
constexpr std::size_t kMostWaitingEntries = 500'000, kMostWaitingBatches = 20'000;
constexpr std::size_t kMostInOneTransaction = 2000;  // batches

}  // namespace

Committer::Committer(Metrics& metrics, const Log& log, std::function<void(std::shared_ptr<Project>)> committed)
    : metrics_(metrics), log_(log), committed_(std::move(committed)), thread_([this] { work(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  thread_.join();
}

void Committer::submit(std::shared_ptr<Project> project, Batch batch, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_entries_ + batch.entries.size() > kMostWaitingEntries || waiting_.size() >= kMostWaitingBatches) {
      HttpResponse busy = problem(503, "too much is waiting to be written: try again in a second");
      busy.headers.emplace_back("Retry-After", "1");
      throw Refusal(std::move(busy));
    }
    waiting_entries_ += batch.entries.size();
    waiting_.push_back({std::move(project), std::move(batch), std::move(done)});
  }
  more_.notify_one();
}

Receipt Committer::submit_and_wait(const std::shared_ptr<Project>& project, Batch batch) {
  std::promise<Receipt> promise;
  std::future<Receipt> receipt = promise.get_future();
  submit(project, std::move(batch), [&promise](const Receipt& done) { promise.set_value(done); });
  return receipt.get();
}

void Committer::work() {
  for (;;) {
    std::vector<Waiting> group;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      while (!waiting_.empty() && group.size() < kMostInOneTransaction) {
        waiting_entries_ -= waiting_.front().batch.entries.size();
        group.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
    }
    write(std::move(group));
  }
}

void Committer::write(std::vector<Waiting> group) {
  std::map<Project*, std::vector<Waiting*>> by_project;  // requests of a project stay in their order
  for (Waiting& one : group) by_project[one.project.get()].push_back(&one);
  for (auto& [project, members] : by_project) {
    std::vector<const Batch*> batches;
    for (const Waiting* one : members) batches.push_back(&one->batch);
    const auto start = std::chrono::steady_clock::now();
    std::vector<Receipt> receipts(members.size());
    try {
      receipts = project->append(batches);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      metrics_.observe("wisecrowd_commit_seconds", "", seconds);
      metrics_.add("wisecrowd_commits_total", "");
    } catch (const std::exception& error) {
      for (Receipt& receipt : receipts) receipt = {Receipt::Kind::failed, 0, 0, error.what()};
      metrics_.add("wisecrowd_commit_failures_total", "");
      log_.write(LogLevel::warning, "commit_failed", {{"project", project->name()}, {"error", error.what()}});
    }
    double accepted = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (receipts[m].kind == Receipt::Kind::accepted) accepted += static_cast<double>(receipts[m].accepted);
      members[m]->done(receipts[m]);
    }
    metrics_.add("wisecrowd_entries_accepted_total", "", accepted);
    committed_(members.front()->project);
  }
}

}  // namespace wisecrowd::service
