#include "service/studios.hpp"

#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace wisecrowd::service {
namespace {

constexpr double kTurn = 0.5, kReconcileEvery = 60, kPredictEvery = 60, kRestAfterFailure = 5;  // seconds

}  // namespace

Studios::Studios(Metrics& metrics, const Log& log, Committer& committer,
                 const std::vector<std::shared_ptr<Project>>& projects)
    : metrics_(metrics), log_(log), committer_(committer) {
  for (const auto& project : projects) {
    const auto stored = project->with_journal([](const Journal& journal) { return journal.setting(kStudioSetting); });
    if (!stored || *stored == "null") continue;
    auto kept = std::make_shared<Kept>();
    kept->link = std::make_shared<StudioLink>(project, committer_, studio_settings(nlohmann::json::parse(*stored)));
    links_[project->name()] = kept;
  }
  thread_ = std::thread([this] { work(); });
}

Studios::~Studios() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  thread_.join();
}

std::shared_ptr<StudioLink> Studios::find(const std::string& project) const {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(project);
  return found == links_.end() ? nullptr : found->second->link;
}

std::shared_ptr<StudioLink> Studios::add(const std::shared_ptr<Project>& project, const StudioSettings& settings) {
  auto kept = std::make_shared<Kept>();
  kept->link = std::make_shared<StudioLink>(project, committer_, settings);
  kept->rest_until = steady_seconds() + kRestAfterFailure;  // whoever connects sets it up first
  const std::lock_guard lock(mutex_);
  links_[project->name()] = kept;
  return kept->link;
}

void Studios::remove(const std::string& project) {
  const std::lock_guard lock(mutex_);
  links_.erase(project);
}

void Studios::look_after(Kept& kept) {
  StudioLink& link = *kept.link;
  const double now = steady_seconds();
  if (link.reconcile_wanted.exchange(false) || now >= kept.reconcile_at) {
    kept.reconcile_at = now + kReconcileEvery;
    const Reconciled done = link.reconcile();
    if (done.taken + done.changed + done.gone > 0) {
      log_.write(
          LogLevel::info, "reconciled",
          {{"project", link.project()->name()}, {"taken", done.taken}, {"changed", done.changed}, {"gone", done.gone}});
    }
  }
  const std::int64_t position = link.project()->absorbed();
  if (position != kept.steered && position == link.project()->committed()) {
    kept.steered = position;
    (void)link.steer();
  }
  const bool due = now >= kept.predict_at && position != kept.predicted;
  if (link.predictions_wanted.exchange(false) || due) {
    kept.predict_at = now + kPredictEvery;
    kept.predicted = position;
    link.push_predictions();
  }
}

void Studios::work() {
  for (;;) {
    std::vector<std::shared_ptr<Kept>> all;
    {
      std::unique_lock lock(mutex_);
      more_.wait_for(lock, std::chrono::duration<double>(kTurn), [&] { return ending_; });
      if (ending_) return;
      for (const auto& [name, kept] : links_) all.push_back(kept);
    }
    for (const auto& kept : all) {
      if (steady_seconds() < kept->rest_until) continue;
      try {
        look_after(*kept);
        metrics_.add("wisecrowd_outgoing_calls_total", "outcome=\"ok\"");
      } catch (const std::exception& error) {
        kept->rest_until = steady_seconds() + kRestAfterFailure;
        kept->link->reconcile_wanted = true;
        kept->steered = -1;
        metrics_.add("wisecrowd_outgoing_calls_total", "outcome=\"failed\"");
        log_.write(LogLevel::warning, "label_studio_failed",
                   {{"project", kept->link->project()->name()}, {"error", error.what()}});
      }
    }
  }
}

}  // namespace wisecrowd::service
