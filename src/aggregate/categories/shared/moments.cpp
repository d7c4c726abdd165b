#include "aggregate/categories/shared/moments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;
constexpr std::size_t kTriplesPerBlock = 16;

/// Calls visit(partner, own label, partner's label) for everything that a later worker said about a task of `worker`.
template <class Visit>
void visit_partners(const CategoryData& data, std::size_t worker, bool with_gold, Visit&& visit) {
  const CategoryAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  const auto workers = answers.workers();
  const auto labels = answers.labels();
  const WorkerId self{static_cast<std::uint32_t>(worker)};
  const auto tasks = answers.tasks_of(self);
  const auto own = answers.answers_of(self);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t task = index(tasks[i]);
    const std::size_t label = index(labels[own[i]]);
    // Answers of a task are sorted by worker, so the later workers follow.
    for (AnswerIndex b = own[i] + 1; b < offsets[task + 1]; ++b) {
      if (workers[b] != self) visit(index(workers[b]), label, index(labels[b]));
    }
    if (with_gold && data.gold[task] != kNoClass) visit(answers.worker_count(), label, index(data.gold[task]));
  }
}

/// Per thread: how many tasks the worker at hand shares with every other.
struct Tally {
  std::vector<std::uint32_t> common;
  std::vector<std::uint32_t> slot;
  std::vector<std::uint32_t> touched;

  /// Leaves in `touched` the partners with at least `min_common` common tasks, in no order, and their counts in
  /// `common`; all else is zero.
  void run(const CategoryData& data, std::size_t worker, bool with_gold, std::size_t min_common, std::size_t workers) {
    common.resize(workers);
    visit_partners(data, worker, with_gold, [&](std::size_t other, std::size_t, std::size_t) {
      if (common[other]++ == 0) touched.push_back(static_cast<std::uint32_t>(other));
    });
    std::erase_if(touched, [&](std::uint32_t other) {
      const bool thin = common[other] < min_common;
      if (thin) common[other] = 0;
      return thin;
    });
  }
  void clear() {
    for (const std::uint32_t other : touched) common[other] = 0;
    touched.clear();
  }
};

}  // namespace

std::size_t default_min_common(std::size_t classes) noexcept { return std::max<std::size_t>(10, 2 * classes); }

PairMoments::PairMoments(const CategoryData& data, const RunContext& context, const PairOptions& options)
    : workers_(data.answers.worker_count()), classes_(data.answers.class_count()) {
  const std::size_t real_workers = workers_;
  has_gold_worker_ = options.gold_as_worker && data.has_gold();
  if (has_gold_worker_) ++workers_;
  const std::size_t min_common = options.min_common == 0 ? default_min_common(classes_) : options.min_common;
  count_labels(data);

  const Blocks blocks{real_workers, kWorkersPerBlock};
  std::vector<Tally> tallies(context.threads());
  std::vector<std::size_t> first_pair(real_workers + 1, 0);
  if (data.answers.answer_count() > 0) static_cast<void>(data.answers.worker_offsets());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    if (context.cancelled()) return;
    Tally& tally = tallies[thread];
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      tally.run(data, w, has_gold_worker_, min_common, workers_);
      first_pair[w + 1] = tally.touched.size();
      tally.clear();
    }
  });
  for (std::size_t w = 0; w < real_workers; ++w) first_pair[w + 1] += first_pair[w];

  const std::size_t pair_count = first_pair.back();
  const std::size_t cells = options.detail == PairDetail::joint ? classes_ * classes_ : 0;
  const double bytes =
      static_cast<double>(pair_count) * static_cast<double>(sizeof(Pair) + 2 * sizeof(Partner) + 8 * cells);
  if (bytes > static_cast<double>(options.memory_limit) || pair_count >= 0xFFFFFFFFULL) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("{} pairs of workers have {} or more tasks in common; their statistics need {:.1f} GB, more "
                    "than the limit of {:.1f} GB. Raise min_common, or use dawid_skene.",
                    pair_count, min_common, bytes / (1 << 30), static_cast<double>(options.memory_limit) / (1 << 30)));
  }
  if (!context.cancelled()) {
    pairs_.resize(pair_count);
    joint_.resize(pair_count * cells);
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
      Tally& tally = tallies[thread];
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        if (first_pair[w] == first_pair[w + 1]) continue;
        tally.run(data, w, has_gold_worker_, min_common, workers_);
        std::sort(tally.touched.begin(), tally.touched.end());
        tally.slot.resize(workers_);
        for (std::size_t r = 0; r < tally.touched.size(); ++r) {
          const std::uint32_t other = tally.touched[r];
          tally.slot[other] = static_cast<std::uint32_t>(first_pair[w] + r);
          pairs_[first_pair[w] + r] = {static_cast<std::uint32_t>(w), other, static_cast<double>(tally.common[other]),
                                       0};
        }
        std::fill(joint_.data() + first_pair[w] * cells, joint_.data() + first_pair[w + 1] * cells, 0.0);
        visit_partners(data, w, has_gold_worker_, [&](std::size_t other, std::size_t own, std::size_t label) {
          if (tally.common[other] == 0) return;  // unavailable
          const std::size_t pair = tally.slot[other];
          if (own == label) pairs_[pair].agreements += 1;
          if (cells > 0) joint_[pair * cells + own * classes_ + label] += 1;
        });
        tally.clear();
      }
    });
  }
  link_partners();
}

PairMoments::PairMoments(std::size_t workers, std::size_t classes, std::vector<Pair> pairs, std::vector<double> joint,
                         std::vector<double> label_counts)
    : workers_(workers),
      classes_(classes),
      pairs_(pairs.begin(), pairs.end()),
      joint_(joint.begin(), joint.end()),
      label_counts_(std::move(label_counts)) {
  link_partners();
}

void PairMoments::count_labels(const CategoryData& data) {
  label_counts_.assign(workers_ * classes_, 0.0);
  const auto workers = data.answers.workers();
  const auto labels = data.answers.labels();
  for (std::size_t a = 0; a < workers.size(); ++a) label_counts_[index(workers[a]) * classes_ + index(labels[a])] += 1;
  if (!has_gold_worker_) return;
  const auto offsets = data.answers.task_offsets();
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] == kNoClass || offsets[t] == offsets[t + 1]) continue;
    label_counts_[(workers_ - 1) * classes_ + index(data.gold[t])] += 1;
  }
}

void PairMoments::link_partners() {
  offsets_.assign(workers_ + 1, 0);
  for (const Pair& pair : pairs_) {
    ++offsets_[pair.first + 1];
    ++offsets_[pair.second + 1];
  }
  for (std::size_t w = 0; w < workers_; ++w) offsets_[w + 1] += offsets_[w];
  partners_.resize(2 * pairs_.size());
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  // Pairs come sorted: a worker first meets its lower partners, then its higher ones, both ascending.
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    partners_[next[pair.first]++] = {pair.second, static_cast<std::uint32_t>(p)};
    partners_[next[pair.second]++] = {pair.first, static_cast<std::uint32_t>(p)};
  }
}

void PairMoments::joint_shares(std::size_t worker, const Partner& partner, std::span<double> out) const {
  const auto cells = joint(partner.pair);
  const double scale = 1 / pairs_[partner.pair].common;
  const bool is_first = pairs_[partner.pair].first == worker;
  for (std::size_t l = 0; l < classes_; ++l) {
    for (std::size_t m = 0; m < classes_; ++m) {
      out[l * classes_ + m] = scale * (is_first ? cells[l * classes_ + m] : cells[m * classes_ + l]);
    }
  }
}

double PairMoments::answers(std::size_t worker) const noexcept {
  double sum = 0;
  for (const double count : label_counts(worker)) sum += count;
  return sum;
}

TripleMoments::TripleMoments(const CategoryData& data, const RunContext& context, std::span<const Triple> wanted,
                             std::size_t min_common)
    : classes_(data.answers.class_count()) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t cells = classes_ * classes_ * classes_;
  if (min_common == 0) min_common = default_min_common(classes_);
  std::vector<TaskId> gold_tasks;
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] != kNoClass) gold_tasks.push_back(TaskId{static_cast<std::uint32_t>(t)});
  }
  const std::size_t gold_worker = answers.worker_count();
  const auto tasks_of = [&](std::uint32_t worker) -> std::span<const TaskId> {
    return worker == gold_worker ? std::span<const TaskId>(gold_tasks) : answers.tasks_of(WorkerId{worker});
  };
  const auto label_of = [&](std::uint32_t worker, std::size_t position) {
    return worker == gold_worker ? index(data.gold[index(gold_tasks[position])])
                                 : index(answers.labels()[answers.answers_of(WorkerId{worker})[position]]);
  };
  std::vector<Triple> counted(wanted.begin(), wanted.end());
  HugeVector<double> joint(counted.size() * cells);
  if (answers.answer_count() > 0) static_cast<void>(answers.worker_offsets());
  const Blocks blocks{counted.size(), kTriplesPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t r = blocks.begin(block); r < blocks.end(block); ++r) {
      Triple& triple = counted[r];
      double* const table = joint.data() + r * cells;
      std::fill(table, table + cells, 0.0);
      triple.common = 0;
      if (context.cancelled()) continue;
      const auto [a, b, c] = triple.workers;
      const auto ta = tasks_of(a), tb = tasks_of(b), tc = tasks_of(c);
      // Past the repeats of a task, to the last answer.
      const auto last = [](std::span<const TaskId> tasks, std::size_t i) {
        while (i + 1 < tasks.size() && tasks[i + 1] == tasks[i]) ++i;
        return i;
      };
      for (std::size_t i = 0, j = 0, k = 0; i < ta.size() && j < tb.size() && k < tc.size();) {
        const TaskId task = std::max({ta[i], tb[j], tc[k]});
        if (ta[i] < task || tb[j] < task || tc[k] < task) {
          while (i < ta.size() && ta[i] < task) ++i;
          while (j < tb.size() && tb[j] < task) ++j;
          while (k < tc.size() && tc[k] < task) ++k;
          continue;
        }
        i = last(ta, i), j = last(tb, j), k = last(tc, k);
        table[(label_of(a, i) * classes_ + label_of(b, j)) * classes_ + label_of(c, k)] += 1;
        triple.common += 1;
        ++i, ++j, ++k;
      }
    }
  });
  std::size_t kept = 0;
  for (std::size_t r = 0; r < counted.size(); ++r) {
    if (counted[r].common < static_cast<double>(min_common)) continue;
    std::copy_n(joint.data() + r * cells, cells, joint.data() + kept * cells);
    counted[kept++] = counted[r];
  }
  counted.resize(kept);
  joint.resize(kept * cells);
  triples_ = std::move(counted);
  joint_ = std::move(joint);
}

TripleMoments::TripleMoments(std::size_t classes, std::vector<Triple> triples, std::vector<double> joint)
    : classes_(classes), triples_(std::move(triples)), joint_(joint.begin(), joint.end()) {}

std::vector<TripleMoments::Triple> select_triples(const PairMoments& pairs, std::size_t per_worker) {
  // Enough of the thickest partners to choose from; all of them when there are few.
  const std::size_t considered = std::max<std::size_t>(per_worker, 8);
  std::vector<std::vector<PairMoments::Partner>> near(pairs.worker_count());
  const auto common = [&](const PairMoments::Partner& partner) { return pairs.pairs()[partner.pair].common; };
  for (std::size_t w = 0; w < near.size(); ++w) {
    const auto all = pairs.partners(w);
    near[w].assign(all.begin(), all.end());
    std::stable_sort(near[w].begin(), near[w].end(),
                     [&](const auto& a, const auto& b) { return common(a) > common(b); });
    if (near[w].size() > considered) near[w].resize(considered);
  }
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    const auto all = pairs.partners(a);
    const auto at =
        std::lower_bound(all.begin(), all.end(), b, [](const auto& p, std::uint32_t w) { return p.worker < w; });
    return at != all.end() && at->worker == b ? common(*at) : 0.0;
  };
  using Triple = TripleMoments::Triple;
  std::vector<Triple> chosen, own;
  for (std::uint32_t w = 0; w < near.size(); ++w) {
    own.clear();
    for (std::size_t i = 0; i < near[w].size(); ++i) {
      for (std::size_t j = i + 1; j < near[w].size(); ++j) {
        const std::uint32_t a = near[w][i].worker, b = near[w][j].worker;
        const double thinnest = std::min({between(a, b), common(near[w][i]), common(near[w][j])});
        if (thinnest == 0) continue;
        Triple triple{{w, a, b}, thinnest};
        std::sort(std::begin(triple.workers), std::end(triple.workers));
        own.push_back(triple);
      }
    }
    std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.common > b.common; });
    if (own.size() > per_worker) own.resize(per_worker);
    chosen.insert(chosen.end(), own.begin(), own.end());
  }
  const auto key = [](const Triple& t) { return std::tuple(t.workers[0], t.workers[1], t.workers[2]); };
  std::sort(chosen.begin(), chosen.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  chosen.erase(
      std::unique(chosen.begin(), chosen.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
      chosen.end());
  return chosen;
}

}  // namespace wisecrowd
