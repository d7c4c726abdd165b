#include "judges/shared/voices.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::judges {
namespace {

ClassId most_said(std::span<const double> shares, bool comparisons) {
  const auto top = std::max_element(shares.begin(), shares.end());
  const auto others = std::count_if(shares.begin(), shares.end(), [&](double s) { return s > *top - 1e-12; });
  if (comparisons && others > 1 && shares.size() == 3) return ClassId{2};
  return ClassId(top - shares.begin());
}

}  // namespace

Voices::Voices(const JudgeData& data)
    : classes_(data.class_count()), offsets_(data.tasks.size() + 1, 0), of_worker_(data.workers.size()) {
  const auto& answers = data.answers;
  for (std::size_t a = 0; a < answers.size();) {
    std::size_t end = a;
    bool soft = false;
    while (end < answers.size() && answers[end].task == answers[a].task && answers[end].worker == answers[a].worker) {
      soft = soft || answers[end].probabilities != JudgeAnswer::kHard;
      ++end;
    }
    Voice voice{static_cast<std::uint32_t>(index(answers[a].task)),
                static_cast<std::uint32_t>(index(answers[a].worker)),
                static_cast<std::uint32_t>(a),
                static_cast<std::uint32_t>(end - a),
                kNoClass,
                soft};
    std::vector<double> share(classes_, 0.0), logs(classes_, 0.0);
    double counted = 0;
    for (; a < end; ++a) {
      if (!soft) {
        share[index(answers[a].said)] += 1;
      } else if (answers[a].probabilities != JudgeAnswer::kHard) {
        counted += 1;
        for (std::size_t k = 0; k < classes_; ++k) {
          logs[k] += data.log_probabilities[answers[a].probabilities * classes_ + k];
        }
      }
    }
    if (soft) {
      for (double& log : logs) log /= counted;
      share = logs;
      softmax(share);
    } else {
      normalise(share);
    }
    for (std::size_t k = 0; k < classes_; ++k) logs[k] = math::log(std::max(share[k], kProbabilityFloor));
    voice.said = most_said(share, data.kind == JudgedKind::comparisons);
    of_worker_[voice.worker].push_back(static_cast<std::uint32_t>(voices_.size()));
    ++offsets_[voice.task + 1];
    voices_.push_back(voice);
    shares_.insert(shares_.end(), share.begin(), share.end());
    log_shares_.insert(log_shares_.end(), logs.begin(), logs.end());
  }
  for (std::size_t t = 0; t + 1 < offsets_.size(); ++t) offsets_[t + 1] += offsets_[t];
}

}  // namespace wisecrowd::judges
