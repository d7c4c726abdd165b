#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/events.hpp"
#include "service/journal.hpp"
#include "service/leases.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd::service {

struct Study;

/// If something that is known of a worker is below a value, over so many answers or more, then …
struct Rule {
  enum class What { gold_accuracy, accuracy, median_seconds, agreement } what = What::gold_accuracy;
  double below = 0.6;
  std::uint64_t answers = 20;
  bool pause = true;  ///< … pause it; else warn
};

/// What people decided about a project. It stands in the journal as one JSON object.
struct ProjectSettings {
  std::string title;
  std::vector<std::string> classes;  ///< given: others are refused; empty: whatever comes
  GoldUse gold_use = GoldUse::inference;
  double sure = 0.95;         ///< a label with this probability needs no more answers
  double price = 1;           ///< of one answer
  std::string link_template;  ///< where people see a task: https://host/tasks/{task}
  std::vector<Rule> rules;    ///< looked at after every study
  double created = 0;         ///< seconds since 1970
};
[[nodiscard]] nlohmann::ordered_json to_json(const ProjectSettings& settings);
/// Takes what is there over; throws Refusal 422 that names the field. `creating`: classes and gold_use may be set.
void read_settings(const nlohmann::json& body, bool creating, ProjectSettings& settings);

/// What people decided about a worker.
struct WorkerSettings {
  bool paused = false;
  bool machine = false;  ///< a model, not a person
  double cost = 1;       ///< of one answer, in prices of the project
  std::string note;      ///< why it is paused
};

/// A crowd that answers keep coming to: the journal of what was told, and the state that follows it.
///
/// Any thread may use it. Appending is for the committer, absorbing and refitting for the background.
class Project {
 public:
  /// In a folder that is there; `settings` are those of a new one.
  Project(std::string name, std::filesystem::path folder, const std::optional<ProjectSettings>& settings);
  ~Project();
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] ProjectSettings settings() const;
  [[nodiscard]] std::map<std::string, WorkerSettings> worker_settings() const;
  [[nodiscard]] EventBus& events() const noexcept { return *events_; }
  /// Tasks that are handed out; an answer gives one back.
  [[nodiscard]] Leases& leases() noexcept { return leases_; }
  /// What a batch of settings changes in memory, once it is on the disk.
  void took_over(const ProjectSettings& settings);
  void took_over(const std::string& worker, const WorkerSettings& settings);

  /// Labels that would be new to a project of whatever classes; throws Refusal when they are too many, or not among
  /// those that were given. Rows that name them are added to `errors`.
  void check_labels(Rows& rows) const;

  // For the committer.
  std::vector<Receipt> append(const std::vector<const Batch*>& batches);

  // For the background.
  /// Takes what the journal has and the state has not, at most so much at a time. Returns how many entries; nothing if
  /// a refit is under way.
  [[nodiscard]] std::optional<std::size_t> absorb(const RunContext& context);
  [[nodiscard]] bool refit_is_due() const;
  void refit(const RunContext& context, bool insist);
  void ask_for_refit() noexcept { refit_wanted_ = true; }
  void tidy();
  void keep_study(std::shared_ptr<const Study> study);
  [[nodiscard]] std::shared_ptr<const Study> study() const;

  [[nodiscard]] std::int64_t committed() const noexcept { return committed_; }
  [[nodiscard]] std::int64_t absorbed() const noexcept { return absorbed_; }
  [[nodiscard]] std::int64_t refitted_at() const noexcept { return refitted_at_; }
  /// What fits to all answers changed is known of those at this position and later.
  [[nodiscard]] std::int64_t revisions_known_from() const noexcept { return revisions_from_; }
  /// Waits until the state knows of a position; false when that takes too long.
  [[nodiscard]] bool wait_for(std::int64_t position, double seconds) const;
  /// What absorbing failed with, if it does not go on.
  [[nodiscard]] std::string trouble() const;
  void set_trouble(const std::string& message);
  /// True the first time.
  [[nodiscard]] bool warn_once(const std::string& worker);

  /// Calls `use` with the state as it is, or with the journal; others may do so at the same time.
  template <class Use>
  auto with_state(const Use& use) const {
    Lent<CrowdState> lent(idle_states_, [this] { return open_state(); });
    return use(static_cast<const CrowdState&>(*lent.item));
  }
  template <class Use>
  auto with_journal(const Use& use) const {
    Lent<Journal> lent(idle_journals_, [this] { return std::make_unique<Journal>(Journal::open(journal_path())); });
    return use(static_cast<const Journal&>(*lent.item));
  }
  [[nodiscard]] std::string state_path() const { return (folder_ / "crowd.state").string(); }

  /// Whether the journal says so.
  [[nodiscard]] bool is_removed() const;
  /// The files go when the last user of the project is gone.
  void remove_files() noexcept { removed_ = true; }

 private:
  /// Open files that nobody uses at the moment.
  template <class Item>
  struct Idle {
    std::mutex mutex;
    std::vector<std::unique_ptr<Item>> items;
  };
  template <class Item>
  struct Lent {
    template <class Make>
    Lent(Idle<Item>& from, const Make& make) : idle(from) {
      {
        const std::lock_guard lock(idle.mutex);
        if (!idle.items.empty()) {
          item = std::move(idle.items.back());
          idle.items.pop_back();
        }
      }
      if (!item) item = make();
    }
    ~Lent() {
      const std::lock_guard lock(idle.mutex);
      if (idle.items.size() < 4) idle.items.push_back(std::move(item));
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Idle<Item>& idle;
    std::unique_ptr<Item> item;
  };

  [[nodiscard]] std::string journal_path() const { return (folder_ / "journal.db").string(); }
  [[nodiscard]] std::unique_ptr<CrowdState> open_state() const;
  void open_or_make_state();
  void recover_revisions(bool state_is_new);
  void tell(const Absorbed& absorbed);

  std::string name_;
  std::filesystem::path folder_;
  Leases leases_;
  std::shared_ptr<EventBus> events_ = std::make_shared<EventBus>();
  mutable std::mutex mutex_;
  mutable std::condition_variable moved_;
  ProjectSettings settings_;
  std::map<std::string, WorkerSettings> workers_;
  std::set<std::string, std::less<>> classes_;  // that the state knows
  std::string trouble_;
  std::set<std::string> warned_;
  std::shared_ptr<const Study> study_;
  std::atomic<std::int64_t> committed_{0}, absorbed_{0}, refitted_at_{0}, revisions_from_{0};
  std::atomic<bool> refit_wanted_{false}, removed_{false};

  std::optional<Journal> appending_;  // of the committer
  std::mutex writing_;                // the next two
  std::optional<CrowdState> state_;
  std::optional<Journal> following_;
  mutable Idle<CrowdState> idle_states_;
  mutable Idle<Journal> idle_journals_;
};

/// The setting of the journal of a project that is to be removed.
inline constexpr const char* kRemovedSetting = "removed";

}  // namespace wisecrowd::service
