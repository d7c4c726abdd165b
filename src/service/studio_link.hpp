#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "service/committer.hpp"
#include "service/label_studio.hpp"
#include "service/outgoing.hpp"
#include "service/project.hpp"

namespace wisecrowd::service {

/// How a project is connected with one of Label Studio. It stands in the journal as one JSON object.
struct StudioSettings {
  std::string url, token;    ///< of Label Studio
  std::int64_t project = 0;  ///< its number there
  std::string callback;      ///< the URL of this project's place at our service, as Label Studio reaches it
  std::string secret;        ///< that Label Studio shows us
  StudioQuestion question;
  std::uint64_t version = 1;  ///< of the predictions
  std::uint64_t first = 2;    ///< answers that every task gets
  std::uint64_t most = 8;     ///< and that a doubtful one gets at most
};
[[nodiscard]] nlohmann::ordered_json to_json(const StudioSettings& settings);
[[nodiscard]] StudioSettings studio_settings(const nlohmann::json& stored);
/// wisecrowd-7: readers of exports know by the name that such predictions are no answers.
[[nodiscard]] std::string model_version(const StudioSettings& settings);

/// What a comparison with Label Studio's export changed.
struct Reconciled {
  std::uint64_t tasks = 0, annotations = 0;  ///< that the export has
  std::uint64_t taken = 0, changed = 0, gone = 0;
  std::int64_t position = 0;
};

/// A project's connection with Label Studio: what it calls there, and what it makes of what comes from there.
class StudioLink {
 public:
  StudioLink(std::shared_ptr<Project> project, Committer& committer, StudioSettings settings);

  [[nodiscard]] StudioSettings settings() const;
  [[nodiscard]] bool knows(std::string_view secret) const;
  /// Backend, webhook with its header, overlap, sampling.
  void set_up();
  /// What a webhook tells, as one batch.
  [[nodiscard]] Batch batch_of(const StudioEvent& event) const;
  /// Compares with the export, and takes over what differs: webhooks get lost, and nobody sends them again.
  Reconciled reconcile();
  /// One more answer for the most doubtful tasks, none for sure ones. Returns how many tasks were opened.
  std::size_t steer();
  /// Predictions of all tasks under a new version, because tasks that have one are not asked about again.
  void push_predictions();
  /// Of these tasks, as Label Studio wants them: {"model_version", "score", "result"}.
  [[nodiscard]] nlohmann::ordered_json predictions(const std::vector<std::string>& tasks) const;
  [[nodiscard]] const std::shared_ptr<Project>& project() const noexcept { return project_; }

  std::atomic<bool> reconcile_wanted{true};
  std::atomic<bool> predictions_wanted{false};

 private:
  [[nodiscard]] nlohmann::json call(std::string_view method, const std::string& target,
                                    const nlohmann::ordered_json& body) const;
  void store(const StudioSettings& settings);
  void register_backend(const StudioSettings& settings);
  void give_webhook_its_header(const StudioSettings& settings);

  std::shared_ptr<Project> project_;
  Committer& committer_;
  mutable std::mutex mutex_;
  StudioSettings settings_;
  std::mutex working_;                        // the next one, and one conversation at a time
  std::map<std::string, std::size_t> asked_;  // tasks that wait for one more answer, and how many they had
};

inline constexpr const char* kStudioSetting = "label_studio";

}  // namespace wisecrowd::service
