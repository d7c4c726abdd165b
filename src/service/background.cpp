#include "service/background.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "service/study.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

/// A project that is looked at took its time before; it may take a tenth of one core, no more.
constexpr double kRestFactor = 10;
constexpr double kLeastRest = 0.25;  // seconds

void enqueue(std::deque<std::shared_ptr<Project>>& queue, const std::shared_ptr<Project>& project) {
  if (std::find(queue.begin(), queue.end(), project) == queue.end()) queue.push_back(project);
}

}  // namespace

Background::Background(Metrics& metrics, const Log& log, std::function<void(const std::shared_ptr<Project>&)> studied)
    : metrics_(metrics),
      log_(log),
      studied_(std::move(studied)),
      absorber_([this] { absorb_loop(); }),
      refitter_([this] { refit_loop(); }) {}

Background::~Background() { stop(); }

void Background::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  if (absorber_.joinable()) absorber_.join();
  if (refitter_.joinable()) refitter_.join();
}

void Background::follow(const std::shared_ptr<Project>& project) {
  {
    const std::lock_guard lock(mutex_);
    enqueue(to_absorb_, project);
  }
  more_.notify_all();
}

void Background::refit(const std::shared_ptr<Project>& project) {
  project->ask_for_refit();
  {
    const std::lock_guard lock(mutex_);
    study_again_.erase(project.get());
    enqueue(to_look_at_, project);
  }
  more_.notify_all();
}

void Background::failed(std::string_view what, Project& project, const std::exception& error) {
  metrics_.add("wisecrowd_background_failures_total", fmt::format("kind=\"{}\"", what));
  log_.write(LogLevel::warning, fmt::format("{}_failed", what), {{"project", project.name()}, {"error", error.what()}});
}

/// False when it is time to end.
bool Background::pause(std::unique_lock<std::mutex>& lock, double seconds) {
  more_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ending_.load(); });
  return !ending_;
}

void Background::absorb_loop() {
  const RunContext context(RunOptions{.threads = 1, .cancel = &ending_});
  for (;;) {
    std::shared_ptr<Project> project;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return ending_ || !to_absorb_.empty(); });
      if (ending_) return;
      project = to_absorb_.front();
      to_absorb_.pop_front();
    }
    double rest = 0;
    bool again = false;
    try {
      const std::optional<std::size_t> absorbed = project->absorb(context);
      again = !absorbed || *absorbed > 0;
      if (!absorbed) rest = 0.02;
      if (absorbed) metrics_.add("wisecrowd_entries_absorbed_total", "", static_cast<double>(*absorbed));
    } catch (const Cancelled&) {
      return;
    } catch (const std::exception& error) {
      project->set_trouble(error.what());
      failed("absorb", *project, error);
      again = true;
      rest = 5;
    }
    metrics_.set("wisecrowd_backlog_entries", fmt::format("project=\"{}\"", project->name()),
                 static_cast<double>(project->committed() - project->absorbed()));
    std::unique_lock lock(mutex_);
    if (again) enqueue(to_absorb_, project);
    enqueue(to_look_at_, project);
    more_.notify_all();
    if (rest > 0 && !pause(lock, rest)) return;
  }
}

void Background::refit_one(const std::shared_ptr<Project>& shared) {
  Project& project = *shared;
  const RunContext context(RunOptions{.threads = 1, .cancel = &ending_});
  const auto start = steady_seconds();
  if (project.refit_is_due()) {
    project.refit(context, true);
    metrics_.add("wisecrowd_refits_total", "");
    metrics_.observe("wisecrowd_refit_seconds", "", steady_seconds() - start);
    log_.write(LogLevel::info, "refit",
               {{"project", project.name()}, {"position", project.absorbed()}, {"seconds", steady_seconds() - start}});
  }
  const auto known = project.study();
  if (!known || known->position != project.absorbed() || known->refitted_at != project.refitted_at()) {
    project.keep_study(make_study(project, context));
    project.events().publish("study", {{"position", project.absorbed()}});
    studied_(shared);
  }
  project.tidy();
}

void Background::refit_loop() {
  for (;;) {
    std::shared_ptr<Project> project;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return ending_ || !to_look_at_.empty(); });
      if (ending_) return;
      const double now = steady_seconds();
      double soonest = 1e300;
      for (auto one = to_look_at_.begin(); one != to_look_at_.end() && !project; ++one) {
        const auto rests = study_again_.find(one->get());
        if (rests == study_again_.end() || rests->second <= now) {
          project = *one;
        } else {
          soonest = std::min(soonest, rests->second);
        }
      }
      if (!project) {
        more_.wait_for(lock, std::chrono::duration<double>(soonest - now));
        continue;
      }
      std::erase(to_look_at_, project);
    }
    const double start = steady_seconds();
    try {
      refit_one(project);
    } catch (const Cancelled&) {
      return;
    } catch (const std::exception& error) {
      failed("refit", *project, error);
    }
    const std::lock_guard lock(mutex_);
    const double took = steady_seconds() - start;
    study_again_[project.get()] = steady_seconds() + std::max(kLeastRest, kRestFactor * took);
    if (study_again_.size() > 10'000) study_again_.clear();
  }
}

}  // namespace wisecrowd::service
