#pragma once

#include <optional>
#include <span>
#include <vector>

#include "state/state_file.hpp"

namespace wisecrowd {

/// One change of a state: only the tasks that new answers belong to, and the workers who ever answered those, are read.
/// absorb.cpp reads and estimates, absorb_write.cpp writes.
namespace absorption {

struct KnownAnswer {
  std::int64_t worker;
  std::int64_t turn;
  std::int64_t label;
};

struct TouchedTask {
  std::int64_t id = 0;
  bool is_new = false;
  ClassId truth = kNoClass;  // if it is known and the fit may see it
  std::int64_t label_before = 0;
  std::vector<double> before;
  std::vector<KnownAnswer> known;
};

struct NewAnswer {
  std::int64_t task;
  std::int64_t worker;
  std::int64_t turn;
  std::int64_t label;
  bool replaces;
};

/// A new answer in the order of its worker.
struct WatchedAnswer {
  std::uint32_t worker;  // slot
  std::uint32_t task;
  std::uint16_t label;
  double time;
};

class Absorption {
 public:
  /// `withdrawn`: given answers, whose tasks and workers are among those of `data`.
  Absorption(const StateFile& file, const CategoryAnswers& data, std::span<const double> times,
             std::span<const KnownTruth> gold, std::span<const AnswerKey> withdrawn, const RunContext& context)
      : file_(file),
        data_(data),
        times_(times),
        gold_(gold),
        withdrawn_(withdrawn),
        context_(context),
        counters_(file.counters()),
        classes_(file.classes()),
        pins_(file.settings().gold_use == GoldUse::inference && (!gold.empty() || file.has_gold())) {}

  Absorbed run();

 private:
  void find_classes();
  std::int64_t class_named(std::string_view name);
  void write_gold();
  void find_tasks();
  bool read_task(std::string_view name, TouchedTask& task);
  void find_workers();
  void load_model();
  void probe();
  void enter_answers();
  void withdraw_answers();
  void estimate();
  void watch();
  void note(std::uint32_t slot, std::uint64_t answer, const DriftFinding& finding);
  void write_tasks();
  void write_answers();
  void write_workers();
  [[nodiscard]] std::uint32_t slot_of(std::int64_t worker) const {
    return static_cast<std::uint32_t>(std::lower_bound(workers_.begin(), workers_.end(), worker) - workers_.begin());
  }

  const StateFile& file_;
  const CategoryAnswers& data_;
  std::span<const double> times_;  // empty: in the order of the tasks
  std::span<const KnownTruth> gold_;
  std::span<const AnswerKey> withdrawn_;
  const RunContext& context_;
  StateCounters counters_;
  std::vector<StateClass> classes_;
  bool pins_;  // there may be tasks whose truth is known and that the fit sees
  std::size_t classes_before_ = 0;
  std::vector<std::int64_t> class_of_;   // per class of the data
  std::vector<TouchedTask> tasks_;       // per task of the data, then those whose truth becomes known
  std::vector<std::int64_t> worker_of_;  // per worker of the data
  std::int64_t first_new_worker_ = 0;
  std::vector<std::int64_t> workers_;  // ids of all that are needed, sorted
  std::vector<DriftWatch> watches_;    // of the same
  std::vector<NewAnswer> entered_;
  std::vector<std::pair<std::int64_t, std::int64_t>> removed_;  // task, worker
  std::vector<WatchedAnswer> watched_;
  std::optional<IncrementalCrowd> model_;
  std::optional<Statement> find_task_, find_answers_, find_truth_;
  Absorbed absorbed_;
};

}  // namespace absorption
}  // namespace wisecrowd
