#include "data/item_graph.hpp"

#include <algorithm>
#include <numeric>

#include "wisecrowd/run_context.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kPairsPerBlock = std::size_t{1} << 14;
constexpr std::uint32_t kUnvisited = 0xFFFFFFFF;

/// Tarjan's algorithm, without recursion: chains of wins may be as long as there are items.
class StrongComponents {
 public:
  StrongComponents(const ItemGraph& graph, const PairWins& wins)
      : graph_(graph),
        wins_(wins),
        number_(graph.items(), kUnvisited),
        low_(graph.items(), 0),
        next_edge_(graph.offsets.begin(), graph.offsets.end() - 1),
        on_stack_(graph.items(), false) {}

  std::size_t count() {
    for (std::uint32_t i = 0; i < graph_.items(); ++i) {
      if (number_[i] == kUnvisited) visit_from(i);
    }
    return components_;
  }

 private:
  void visit_from(std::uint32_t root) {
    enter(root);
    while (!path_.empty()) {
      const std::uint32_t item = path_.back();
      if (next_edge_[item] < graph_.offsets[item + 1]) {
        const std::uint32_t edge = next_edge_[item]++;
        const std::uint32_t to = graph_.other[edge];
        const auto& won = item < to ? wins_.first : wins_.second;
        if (!(won[graph_.pair[edge]] > 0)) continue;
        if (number_[to] == kUnvisited) {
          enter(to);
        } else if (on_stack_[to]) {
          low_[item] = std::min(low_[item], number_[to]);
        }
      } else {
        path_.pop_back();
        if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[item]);
        if (low_[item] == number_[item]) leave(item);
      }
    }
  }
  void enter(std::uint32_t item) {
    number_[item] = low_[item] = visited_++;
    path_.push_back(item);
    stack_.push_back(item);
    on_stack_[item] = true;
  }
  void leave(std::uint32_t root) {
    ++components_;
    for (;;) {
      const std::uint32_t item = stack_.back();
      stack_.pop_back();
      on_stack_[item] = false;
      if (item == root) return;
    }
  }

  const ItemGraph& graph_;
  const PairWins& wins_;
  std::vector<std::uint32_t> number_, low_, next_edge_, path_, stack_;
  std::vector<bool> on_stack_;
  std::uint32_t visited_ = 0;
  std::size_t components_ = 0;
};

}  // namespace

ItemGraph::ItemGraph(std::span<const ItemPair> pairs, std::size_t items) {
  offsets.assign(items + 1, 0);
  for (const ItemPair& pair : pairs) {
    ++offsets[index(pair.first) + 1];
    ++offsets[index(pair.second) + 1];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  other.resize(2 * pairs.size());
  this->pair.resize(2 * pairs.size());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  // Pairs are in the order of their first and then their second item: an item meets lower ones first.
  const auto add = [&](ItemId item, ItemId to, std::size_t p) {
    const std::uint32_t at = next[index(item)]++;
    other[at] = static_cast<std::uint32_t>(to);
    this->pair[at] = static_cast<std::uint32_t>(p);
  };
  for (std::size_t p = 0; p < pairs.size(); ++p) add(pairs[p].second, pairs[p].first, p);
  for (std::size_t p = 0; p < pairs.size(); ++p) add(pairs[p].first, pairs[p].second, p);
}

PairWins count_wins(const ComparisonData& data, const RunContext& context) {
  const ComparisonAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  const auto codes = answers.codes();
  PairWins wins;
  wins.first.resize(answers.task_count());
  wins.second.resize(answers.task_count());
  const Blocks blocks{answers.task_count(), kPairsPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      double first = 0, second = 0;
      const auto add = [&](Outcome outcome) {
        first += outcome == Outcome::left ? 1 : outcome == Outcome::tie ? 0.5 : 0;
        second += outcome == Outcome::right ? 1 : outcome == Outcome::tie ? 0.5 : 0;
      };
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) add(ComparisonAnswers::outcome_of(codes[a]));
      if (const auto known = data.gold_of(TaskId(t))) add(*known);
      wins.first[t] = first;
      wins.second[t] = second;
    }
  });
  return wins;
}

Connectivity connectivity(const ItemGraph& graph, const PairWins& wins) {
  Connectivity found;
  found.component_of.assign(graph.items(), kUnvisited);
  std::vector<std::uint32_t> path;
  for (std::uint32_t i = 0; i < graph.items(); ++i) {
    if (found.component_of[i] != kUnvisited) continue;
    const auto component = static_cast<std::uint32_t>(found.components++);
    found.component_of[i] = component;
    path.push_back(i);
    while (!path.empty()) {
      const std::uint32_t item = path.back();
      path.pop_back();
      for (std::uint32_t e = graph.offsets[item]; e < graph.offsets[item + 1]; ++e) {
        const std::uint32_t pair = graph.pair[e], to = graph.other[e];
        if (!(wins.first[pair] + wins.second[pair] > 0) || found.component_of[to] != kUnvisited) continue;
        found.component_of[to] = component;
        path.push_back(to);
      }
    }
  }
  found.strong = StrongComponents(graph, wins).count();
  return found;
}

}  // namespace wisecrowd::comparisons
