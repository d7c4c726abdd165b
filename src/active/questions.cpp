#include "active/questions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "active/pool.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::dalc_loop {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Doubted {
  TaskId task;
  double doubt;
};

double doubt_of(const DalcSession::Opinion& opinion, std::size_t task, std::size_t classes, Doubt kind) {
  const auto row = [&](const std::vector<double>& of) {
    return std::span<const double>(of).subspan(task * classes, classes);
  };
  if (kind == Doubt::predictive_entropy) return entropy(row(opinion.mean));
  const double left_open = entropy(row(opinion.posterior));
  if (kind == Doubt::entropy) return left_open;
  // The share that does not know what it is, of what the answers have left open.
  const double total = entropy(row(opinion.mean));
  return left_open * (total > 0 ? std::max(total - opinion.draw_entropy[task], 0.0) / total : 0);
}

/// The most unsure first; of these, if asked for, those that differ.
std::vector<Doubted> unsure_first(const std::vector<TaskId>& tasks, DalcSession& session,
                                  const QuestionOptions& options, std::size_t count, std::size_t classes,
                                  const std::string& stream, const RunContext& context) {
  const DalcSession::Opinion opinion = session.opinion(tasks, options.draws, stream);
  std::vector<Doubted> sorted;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    sorted.push_back({tasks[i], doubt_of(opinion, i, classes, options.doubt)});
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Doubted& a, const Doubted& b) { return a.doubt > b.doubt; });
  if (options.diversity < 2) return sorted;
  const std::size_t top = std::min(sorted.size(), options.diversity * count);
  std::vector<TaskId> unsure;
  for (std::size_t i = 0; i < top; ++i) unsure.push_back(sorted[i].task);
  const std::vector<std::size_t> picked =
      spread_out(session.penultimate(unsure), top, count, context.rng(stream).fork("spread"));
  std::vector<bool> taken(top, false);
  std::vector<Doubted> result;
  for (const std::size_t i : picked) {
    taken[i] = true;
    result.push_back(sorted[i]);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i >= top || !taken[i]) result.push_back(sorted[i]);
  }
  return result;
}

/// What a worker is worth who is right with probability eta: more than guessing, if an answer comes, for its price.
/// Without prices the most reliable one is the best.
double worth(double eta, std::size_t classes, const WorkerOffer& offer) {
  const double above_chance = eta - 1 / static_cast<double>(classes);
  return above_chance <= 0 ? above_chance : above_chance * offer.response / offer.cost;
}

}  // namespace

std::vector<LiveQuestion> next_questions(DalcSession* session, std::vector<TaskId> open, const Askable& askable,
                                         const QuestionRequest& request, const QuestionOptions& options,
                                         std::size_t classes, const std::string& stream, const RunContext& context) {
  Rng rng = context.rng(stream).fork("choice");
  rng.shuffle(std::span(open));  // ties are broken by chance
  std::vector<Doubted> order;
  if (options.chooses_task) {
    order = unsure_first(open, *session, options, request.count, classes, stream, context);
  } else {
    for (const TaskId task : open) order.push_back({task, kNaN});
  }
  const auto offer_of = [&](WorkerId worker) {
    return request.offers.empty() ? WorkerOffer{} : request.offers[index(worker)];
  };
  std::vector<LiveQuestion> questions;
  std::vector<std::uint32_t> asked;  // by worker, in this round
  std::vector<WorkerId> all, candidates;
  double spent = 0;
  for (const auto& [task, doubt] : order) {
    if (questions.size() == request.count || context.cancelled()) break;
    askable(task, all);
    candidates.clear();
    for (const WorkerId worker : all) {
      if (index(worker) >= asked.size()) asked.resize(index(worker) + 1, 0);
      const WorkerOffer offer = offer_of(worker);
      const std::uint32_t times = asked[index(worker)];
      if (!offer.available || offer.response <= 0 || times >= offer.capacity) continue;
      if (request.capacity > 0 && times >= request.capacity) continue;
      if (spent + offer.cost > request.budget * (1 + 1e-12)) continue;
      candidates.push_back(worker);
    }
    if (candidates.empty()) continue;
    std::size_t best = 0;
    double most = -std::numeric_limits<double>::infinity(), eta = kNaN;
    if (options.chooses_worker) {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        const double right = session->reliability(candidates[c], task);
        const double value = worth(right, classes, offer_of(candidates[c]));
        if (value <= most) continue;
        most = value;
        eta = right;
        best = c;
      }
    } else {
      best = static_cast<std::size_t>(rng.below(candidates.size()));
    }
    const WorkerId worker = candidates[best];
    ++asked[index(worker)];
    spent += offer_of(worker).cost;
    questions.push_back({task, worker, doubt, eta, offer_of(worker).cost});
  }
  return questions;
}

}  // namespace wisecrowd::dalc_loop
