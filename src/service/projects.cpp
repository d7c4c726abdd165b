// The folder of all projects, and how much a client may ask for.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/digest.hpp"
#include "service/service.hpp"
#include "service/words.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostProjects = 1000;
/// Folders that are being made; projects cannot be called so.
constexpr std::string_view kUnfinished = ".unfinished-";

}  // namespace

Projects::Projects(fs::path folder) : folder_(std::move(folder) / "projects") {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw Error(ErrorCode::io, fmt::format("cannot make {}: {}", folder_.string(), error.message()));
  fs::permissions(folder_, fs::perms::owner_all, error);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kUnfinished)) {
      fs::remove_all(entry.path(), error);
    } else if (entry.is_directory() && is_project_name(name)) {
      auto project = std::make_shared<Project>(name, entry.path(), std::nullopt);
      if (project->is_removed()) {
        project->remove_files();
      } else {
        projects_[name] = std::move(project);
      }
    }
  }
}

std::shared_ptr<Project> Projects::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = projects_.find(name);
  return found == projects_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Project>> Projects::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Project>> all;
  for (const auto& [name, project] : projects_) all.push_back(project);
  return all;
}

std::shared_ptr<Project> Projects::make(const std::string& name, const ProjectSettings& settings) {
  if (!is_project_name(name)) {
    throw Refusal(422, "name: use letters, digits, - and _, at most 64, beginning with a letter or digit");
  }
  const std::lock_guard lock(mutex_);
  if (projects_.find(name) != projects_.end()) throw Refusal(409, fmt::format("there is a project '{}' already", name));
  // SQLite tidies by name when its last user leaves, so a new file must not have the name of one that is still open.
  if (const auto leaving = leaving_.find(name); leaving != leaving_.end() && !leaving->second.expired()) {
    throw Refusal(409, fmt::format("the project '{}' is being removed: try again in a moment", name));
  }
  if (projects_.size() >= kMostProjects)
    throw Refusal(409, fmt::format("there are {} projects, and no more can be made", kMostProjects));
  // Made aside, so that a folder with the name of a project is always a whole one.
  const fs::path aside = folder_ / (std::string(kUnfinished) + hex(random_bytes(8)));
  fs::create_directory(aside);
  { const Project made(name, aside, settings); }
  fs::rename(aside, folder_ / name);
  auto project = std::make_shared<Project>(name, folder_ / name, std::nullopt);
  projects_[name] = project;
  return project;
}

void Projects::remove(const std::shared_ptr<Project>& project) {
  const std::lock_guard lock(mutex_);
  const auto found = projects_.find(project->name());
  if (found == projects_.end() || found->second != project) return;
  projects_.erase(found);
  leaving_[project->name()] = project;
  project->remove_files();
}

RateLimit::Bucket& RateLimit::refilled(const std::string& client) {
  constexpr std::size_t kMostClients = 50'000;
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (buckets_.size() > kMostClients) {
    std::erase_if(buckets_,
                  [&](const auto& one) { return one.second.left + (now - one.second.at) * per_second_ >= burst_; });
  }
  const auto [found, is_new] = buckets_.try_emplace(client, Bucket{burst_, now});
  Bucket& bucket = found->second;
  bucket.left = std::min(burst_, bucket.left + (now - bucket.at) * per_second_);
  bucket.at = now;
  return bucket;
}

bool RateLimit::take(const std::string& client) {
  const std::lock_guard lock(mutex_);
  Bucket& bucket = refilled(client);
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

bool RateLimit::has(const std::string& client) {
  const std::lock_guard lock(mutex_);
  return refilled(client).left >= 1;
}

}  // namespace wisecrowd::service
