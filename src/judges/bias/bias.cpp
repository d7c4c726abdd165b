#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "base/linear_algebra.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

using judges::Voices;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Effects are log odds; larger ones than a few of these are not expected.
constexpr double kEffectDeviation = 3;
constexpr std::size_t kFewest = 20;  // verdicts, below which nothing is said

/// What may move a verdict towards the first side: how right it is, and the biases that can be told apart.
struct Question {
  std::vector<double> truth;  ///< probability that the first side is right, that the second is, neither
  double length = 0, own = 0;
  struct Verdict {
    bool first;    ///< it named the first side
    double shown;  ///< +1: the first side was shown first; −1: the second was; 0: unknown
  };
  std::vector<Verdict> verdicts;
};

/// Which effects are estimated, in this order.
struct Design {
  std::vector<JudgeBias> effects;
  [[nodiscard]] std::size_t size() const noexcept { return effects.size() + 1; }
  /// The row of a verdict: the truth first, then the effects.
  void row(const Question& question, const Question::Verdict& verdict, double truth, Eigen::VectorXd& x) const {
    x(0) = truth;
    for (std::size_t e = 0; e < effects.size(); ++e) {
      double value = 1;
      if (effects[e] == JudgeBias::position) value = verdict.shown;
      if (effects[e] == JudgeBias::length) value = question.length;
      if (effects[e] == JudgeBias::self_preference) value = question.own;
      x(static_cast<Eigen::Index>(e + 1)) = value;
    }
  }
};

struct Derivatives {
  double value = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;
};

constexpr std::array kTruths{1.0, -1.0, 0.0};

/// ln Σ_z P(z) Π P(verdict | z), with its derivatives: the truth is not known, so it is summed out.
Derivatives look_at_verdicts(const std::vector<Question>& questions, const Design& design, const Eigen::VectorXd& at) {
  const auto n = static_cast<Eigen::Index>(design.size());
  Derivatives d{0, Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n)};
  Eigen::VectorXd x(n);
  std::array<Eigen::VectorXd, 3> score;
  std::array<Eigen::MatrixXd, 3> curvature;
  std::vector<double> log(3);
  for (const Question& question : questions) {
    for (std::size_t z = 0; z < 3; ++z) {
      log[z] = math::log(std::max(question.truth[z], kProbabilityFloor));
      score[z] = Eigen::VectorXd::Zero(n);
      curvature[z] = Eigen::MatrixXd::Zero(n, n);
      for (const auto& verdict : question.verdicts) {
        design.row(question, verdict, kTruths[z], x);
        const double eta = at.dot(x), p = sigmoid(eta);
        log[z] += log_sigmoid(verdict.first ? eta : -eta);
        score[z] += ((verdict.first ? 1.0 : 0.0) - p) * x;
        curvature[z] += p * (1 - p) * x * x.transpose();
      }
    }
    d.value += softmax(log);
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(n);
    for (std::size_t z = 0; z < 3; ++z) {
      mean += log[z] * score[z];
      d.information += log[z] * (curvature[z] - score[z] * score[z].transpose());
    }
    d.information += mean * mean.transpose();
    d.gradient += mean;
  }
  const double pull = 1 / (kEffectDeviation * kEffectDeviation);
  d.value -= pull * at.squaredNorm() / 2;
  d.gradient -= pull * at;
  d.information.diagonal().array() += pull;
  return d;
}

/// The maximum by Newton's method; where the surface bends the wrong way, a step uphill.
Eigen::VectorXd fit_effects(const std::vector<Question>& questions, const Design& design, Eigen::VectorXd at) {
  Derivatives now = look_at_verdicts(questions, design, at);
  for (int step = 0; step < 100; ++step) {
    const auto solved = cholesky_inverse(RowMatrix(now.information));
    Eigen::VectorXd move = solved ? Eigen::VectorXd(solved->inverse * now.gradient)
                                  : Eigen::VectorXd(now.gradient / std::max(1.0, now.gradient.norm()));
    const double longest = move.cwiseAbs().maxCoeff();
    if (longest > 1) move /= longest;
    double scale = 1;
    bool better = false;
    for (int half = 0; half < 30 && !better; ++half, scale /= 2) {
      Derivatives then = look_at_verdicts(questions, design, at + scale * move);
      if (!(then.value >= now.value)) continue;
      at += scale * move;
      now = std::move(then);
      better = true;
    }
    if (!better || longest < 1e-7) break;
  }
  return at;
}

/// What is longer, or of one family, may truly be better: the odds of the truth may depend on both. They are found by
/// EM over what people say.
void balance_truth(std::vector<Question>& questions) {
  const std::vector<Question> before = questions;
  Eigen::VectorXd odds = Eigen::VectorXd::Zero(2);
  for (int round = 0; round < 50; ++round) {
    Eigen::VectorXd gradient = -odds;
    Eigen::MatrixXd information = Eigen::MatrixXd::Identity(2, 2);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      Eigen::VectorXd x(2);
      x << questions[i].length, questions[i].own;
      const double shift = odds.dot(x);
      questions[i].truth = {before[i].truth[0] * math::exp(shift / 2), before[i].truth[1] * math::exp(-shift / 2),
                            before[i].truth[2]};
      normalise(questions[i].truth);
      const double weight = questions[i].truth[0] + questions[i].truth[1], p = sigmoid(shift);
      gradient += (questions[i].truth[0] - weight * p) * x;
      information += weight * p * (1 - p) * x * x.transpose();
    }
    const Eigen::VectorXd move = cholesky_solve(information, gradient);
    odds = (odds + move).cwiseMax(-5).cwiseMin(5);
    if (move.cwiseAbs().maxCoeff() < 1e-7) break;
  }
}

struct Effects {
  Eigen::VectorXd value, half_width;
};

/// With intervals by leaving a twentieth of the questions out in turn, so that what is not known of the truth counts.
Effects effects_of(const std::vector<Question>& questions, const Design& design) {
  constexpr std::size_t kParts = 20;
  const auto n = static_cast<Eigen::Index>(design.size());
  Eigen::VectorXd start = Eigen::VectorXd::Zero(n);
  start(0) = 1;
  std::vector<Question> all = questions;
  balance_truth(all);
  const Eigen::VectorXd value = fit_effects(all, design, start);
  std::vector<Eigen::VectorXd> without;
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(n), square = Eigen::VectorXd::Zero(n);
  for (std::size_t part = 0; part < kParts; ++part) {
    std::vector<Question> rest;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      if (i % kParts != part) rest.push_back(questions[i]);
    }
    balance_truth(rest);
    without.push_back(fit_effects(rest, design, value));
    mean += without.back() / kParts;
  }
  for (const Eigen::VectorXd& one : without) square += (one - mean).cwiseAbs2();
  const Eigen::VectorXd deviation = (square * (kParts - 1.0) / kParts).cwiseSqrt();
  return {value, student_quantile(kParts - 1) * deviation};
}

/// Collects what one judge was asked, with the truth as people see it.
class BiasQuestions {
 public:
  BiasQuestions(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge, ClassId positive)
      : data_(data), fit_(fit), voices_(data), judge_(judge), positive_(index(positive)) {
    const JudgeInfo& info = data.judges[index(judge)];
    own_family_ = info.family;
    const auto& of_judge = voices_.of_worker(index(judge));
    for (const std::uint32_t v : of_judge) anybody_ = anybody_ || seen_by_people(voices_[v].task);
    for (const std::uint32_t v : of_judge) {
      if (seen_by_people(voices_[v].task) || !anybody_) add(v);
    }
  }
  [[nodiscard]] const std::vector<Question>& all() const noexcept { return questions_; }
  [[nodiscard]] std::size_t verdicts() const {
    std::size_t count = 0;
    for (const Question& question : questions_) count += question.verdicts.size();
    return count;
  }
  [[nodiscard]] Design design() const {
    Design design;
    std::size_t first = 0, second = 0, lengths = 0, own = 0;
    for (const Question& question : questions_) {
      for (const auto& verdict : question.verdicts) {
        first += verdict.shown > 0 ? 1 : 0;
        second += verdict.shown < 0 ? 1 : 0;
        lengths += question.length != 0 ? 1 : 0;
        own += question.own != 0 ? 1 : 0;
      }
    }
    if (data_.kind != JudgedKind::comparisons) design.effects.push_back(JudgeBias::lean);
    if (first >= kFewest / 2 && second >= kFewest / 2) design.effects.push_back(JudgeBias::position);
    if (lengths >= kFewest) design.effects.push_back(JudgeBias::length);
    if (own >= kFewest / 2 && own < verdicts()) design.effects.push_back(JudgeBias::self_preference);
    return design;
  }

 private:
  [[nodiscard]] bool seen_by_people(std::size_t task) const {
    if (data_.gold_of(TaskId(task)) != kNoClass) return true;
    for (std::size_t v = voices_.begin_of(task); v < voices_.end_of(task); ++v) {
      if (data_.judges[voices_[v].worker].kind == WorkerKind::human && WorkerId(voices_[v].worker) != judge_)
        return true;
    }
    return false;
  }
  /// The side of a class: 0 first, 1 second, 2 neither.
  [[nodiscard]] std::size_t side(std::size_t k) const {
    if (data_.kind == JudgedKind::comparisons) return k;
    return k == positive_ ? 0 : 1;
  }
  /// What the others say of the task: people alone if there are any, else everybody of another family.
  [[nodiscard]] std::vector<double> reference(std::size_t task) const {
    const std::size_t classes = fit_.class_count;
    std::vector<double> by_class(classes, 0.0), sides(3, 0.0);
    const ClassId gold = data_.gold_of(TaskId(task));
    if (gold != kNoClass) {
      sides[side(index(gold))] = 1;
      return sides;
    }
    for (std::size_t k = 0; k < classes; ++k) by_class[k] = math::log(fit_.class_prior[k]);
    for (std::size_t v = voices_.begin_of(task); v < voices_.end_of(task); ++v) {
      const JudgeInfo& info = data_.judges[voices_[v].worker];
      if (WorkerId(voices_[v].worker) == judge_) continue;
      if (anybody_ ? info.kind != WorkerKind::human : !own_family_.empty() && info.family == own_family_) continue;
      const auto table = fit_.table(WorkerId(voices_[v].worker));
      for (std::size_t z = 0; z < classes; ++z) {
        double p = 0;
        for (std::size_t k = 0; k < classes; ++k) p += voices_.shares(v)[k] * table[z * classes + k];
        by_class[z] += math::log(std::max(p, kProbabilityFloor));
      }
    }
    softmax(by_class);
    for (std::size_t k = 0; k < classes; ++k) sides[side(k)] += by_class[k];
    return sides;
  }
  [[nodiscard]] double own(std::size_t task) const {
    if (own_family_.empty() || data_.item_family.empty()) return 0;
    if (data_.kind != JudgedKind::comparisons) return data_.item_family[task] == own_family_ ? 1 : 0;
    const ItemPair& pair = data_.pairs[task];
    return (data_.item_family[index(pair.first)] == own_family_ ? 1.0 : 0.0) -
           (data_.item_family[index(pair.second)] == own_family_ ? 1.0 : 0.0);
  }
  void add(std::size_t v) {
    const judges::Voice& voice = voices_[v];
    Question question;
    question.truth = reference(voice.task);
    // Of an undecided truth fewer verdicts are decisive, and only these are looked at.
    if (data_.kind == JudgedKind::comparisons && fit_.class_count == 3) {
      const auto table = fit_.table(judge_);
      for (std::size_t z = 0; z < 3; ++z) question.truth[z] *= 1 - std::min(table[z * 3 + 2], 0.999);
      normalise(question.truth);
    }
    question.own = own(voice.task);
    if (!data_.length.empty() && !std::isnan(data_.length[voice.task])) question.length = data_.length[voice.task];
    for (std::uint32_t a = voice.first; a < voice.first + voice.count; ++a) {
      const JudgeAnswer& answer = data_.answers[a];
      const std::size_t said = side(index(answer.said));
      if (said == 2) continue;
      const bool sides = data_.kind == JudgedKind::comparisons && data_.sides_known;
      question.verdicts.push_back({said == 0, !sides ? 0.0 : answer.swapped ? -1.0 : 1.0});
    }
    if (!question.verdicts.empty()) questions_.push_back(std::move(question));
  }

  const JudgeData& data_;
  const MixedCrowdFit& fit_;
  Voices voices_;
  WorkerId judge_;
  std::size_t positive_;
  std::string own_family_;
  bool anybody_ = false;  ///< people saw some of its tasks, or their truth is known
  std::vector<Question> questions_;
};

BiasEstimate estimate_of(WorkerId judge, JudgeBias bias, double value, double half, std::size_t answers) {
  BiasEstimate found;
  found.worker = judge;
  found.bias = bias;
  found.answers = answers;
  found.effect = {value, value - half, value + half};
  found.share = {kNan, kNan, kNan};
  found.clear = found.effect.low > 0 || found.effect.high < 0;
  return found;
}

/// Ordered classes: by how many points a score is above what people expect, as a line in what may move it.
std::vector<BiasEstimate> score_biases(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge) {
  const Voices voices(data);
  const std::string& family = data.judges[index(judge)].family;
  std::vector<std::array<double, 3>> rows;
  std::vector<double> above;
  for (const std::uint32_t v : voices.of_worker(index(judge))) {
    const std::size_t task = voices[v].task;
    double people = 0, count = 0;
    const ClassId gold = data.gold_of(TaskId(task));
    for (std::size_t o = voices.begin_of(task); o < voices.end_of(task) && gold == kNoClass; ++o) {
      if (data.judges[voices[o].worker].kind != WorkerKind::human || WorkerId(voices[o].worker) == judge) continue;
      people += static_cast<double>(index(voices[o].said));
      count += 1;
    }
    if (gold != kNoClass) people = static_cast<double>(index(gold)), count = 1;
    if (count == 0) continue;
    const double length = data.length.empty() || std::isnan(data.length[task]) ? 0 : data.length[task];
    const double own = !family.empty() && !data.item_family.empty() && data.item_family[task] == family ? 1 : 0;
    rows.push_back({1, length, own});
    above.push_back(static_cast<double>(index(voices[v].said)) - people / count);
  }
  std::vector<BiasEstimate> found;
  if (rows.size() < kFewest || fit.class_count < 2) return found;
  std::vector<JudgeBias> effects{JudgeBias::lean};
  std::vector<std::size_t> columns{0};
  for (const auto& [column, bias] : {std::pair(std::size_t{1}, JudgeBias::length), {2, JudgeBias::self_preference}}) {
    const auto used = std::count_if(rows.begin(), rows.end(), [c = column](const auto& r) { return r[c] != 0; });
    const bool all = bias == JudgeBias::self_preference && static_cast<std::size_t>(used) == rows.size();
    if (static_cast<std::size_t>(used) < kFewest / 2 || all) continue;
    effects.push_back(bias);
    columns.push_back(column);
  }
  const auto n = static_cast<Eigen::Index>(columns.size());
  Eigen::MatrixXd gram = 1e-9 * Eigen::MatrixXd::Identity(n, n), meat = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n), x(n);
  const auto load = [&](std::size_t i) {
    for (Eigen::Index c = 0; c < n; ++c) x(c) = rows[i][columns[static_cast<std::size_t>(c)]];
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    load(i);
    gram += x * x.transpose();
    right += above[i] * x;
  }
  const Eigen::VectorXd line = cholesky_solve(gram, right);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    load(i);
    const double rest = above[i] - line.dot(x);
    meat += rest * rest * x * x.transpose();
  }
  const Eigen::MatrixXd inverse = inverse_of(gram);
  const double spare = static_cast<double>(rows.size()) / static_cast<double>(rows.size() - columns.size());
  const Eigen::MatrixXd covariance = spare * inverse * meat * inverse;  // whatever the spread at each
  for (std::size_t e = 0; e < effects.size(); ++e) {
    const auto i = static_cast<Eigen::Index>(e);
    found.push_back(estimate_of(judge, effects[e], line(i), kNormal95 * std::sqrt(covariance(i, i)), rows.size()));
  }
  return found;
}

}  // namespace

std::vector<BiasEstimate> judge_biases(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge,
                                       ClassId positive) {
  if (data.kind == JudgedKind::ordered) return score_biases(data, fit, judge);
  if (data.kind == JudgedKind::categories && positive == kNoClass) return {};
  const BiasQuestions questions(data, fit, judge, positive);
  std::vector<BiasEstimate> found;
  const std::size_t verdicts = questions.verdicts();
  const Design design = questions.design();
  if (verdicts < kFewest || design.effects.empty()) return found;
  const Effects effects = effects_of(questions.all(), design);
  for (std::size_t e = 0; e < design.effects.size(); ++e) {
    const auto i = static_cast<Eigen::Index>(e + 1);
    BiasEstimate one = estimate_of(judge, design.effects[e], effects.value(i), effects.half_width(i), verdicts);
    one.share = {sigmoid(one.effect.value), sigmoid(one.effect.low), sigmoid(one.effect.high)};
    found.push_back(one);
  }
  return found;
}

}  // namespace wisecrowd
