#include "learn/instance_dependent/instance_dependent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::instance_dependent {
namespace {

constexpr std::uint32_t kNoAnchor = 0xFFFFFFFF;
/// Where no row is sure enough, so large a share of the surest ones serves.
constexpr double kLeastAnchors = 0.1;

std::vector<double> normal_numbers(std::size_t count, double scale, Rng rng) {
  std::vector<double> values(count);
  for (double& value : values) value = scale * rng.normal();
  return values;
}

}  // namespace

InstanceModel::InstanceModel(const TrainingSet& set, const Options& options, Rng rng)
    : FeatureDependentTables(set, options.tables, options.row_width),
      options_(options),
      // The head starts at 0: until it moves, tables do not depend on the row.
      head_(std::vector<double>(set.class_count * set.class_count * options.row_width, 0.0),
            set.class_count * set.class_count * options.row_width, options.tables.worker_learning_rate,
            options.row_decay),
      mixing_(normal_numbers(options.row_width * options.embedding,
                             1 / std::sqrt(static_cast<double>(std::max<std::size_t>(options.embedding, 1))),
                             rng.fork("mixing")),
              options.row_width * options.embedding, options.tables.worker_learning_rate, options.row_decay),
      embeddings_(normal_numbers(set.worker_count * options.embedding, 0.1, rng.fork("embeddings")), options.embedding,
                  options.tables.worker_learning_rate, options.row_decay),
      hidden_(options.row_width),
      table_(set.class_count * set.class_count),
      at_table_(table_.size()),
      at_hidden_(options.row_width) {}

void InstanceModel::begin_epoch(const Epoch& epoch) {
  FeatureDependentTables::begin_epoch(epoch);
  if (options_.variant == Options::Variant::schedule) {
    rows_move_ = warm() && epoch.number >= options_.tables.warm_up + options_.table_epochs;
    return;
  }
  const std::size_t third = std::max<std::size_t>(epoch.total / 3, 1);
  if (epoch.number != third && epoch.number != 2 * third) return;
  std::vector<double> all(set().task_count() * outputs());
  epoch.predict(all);
  enter(epoch.number == third ? Stage::anchors : Stage::network, all);
}

void InstanceModel::enter(Stage stage, std::span<const double> all_outputs) {
  stage_ = stage;
  rows_move_ = stage == Stage::anchors;
  const std::size_t width = outputs(), tasks = set().task_count();
  if (stage == Stage::anchors) {
    std::vector<double> f(classes()), sureness(tasks);
    std::vector<std::uint32_t> best(tasks), order(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
      classify(all_outputs.subspan(i * width, width), f);
      const auto top = std::max_element(f.begin(), f.end());
      best[i] = static_cast<std::uint32_t>(top - f.begin());
      sureness[i] = *top;
      if (const ClassId gold = set().gold[i]; gold != kNoClass) {
        best[i] = static_cast<std::uint32_t>(index(gold));
        sureness[i] = 1;
      }
    }
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return sureness[a] > sureness[b]; });
    anchor_.assign(tasks, kNoAnchor);
    const auto least = static_cast<std::size_t>(std::ceil(kLeastAnchors * static_cast<double>(tasks)));
    for (std::size_t rank = 0; rank < tasks; ++rank) {
      const std::uint32_t i = order[rank];
      if (rank >= least && sureness[i] <= options_.anchor_confidence) break;
      anchor_[i] = best[i];
    }
  } else if (stage == Stage::network) {
    kept_rows_.resize(tasks * options_.row_width);
    for (std::size_t i = 0; i < tasks; ++i) {
      std::copy_n(all_outputs.begin() + static_cast<std::ptrdiff_t>(i * width + classes()), options_.row_width,
                  kept_rows_.begin() + static_cast<std::ptrdiff_t>(i * options_.row_width));
    }
  }
}

std::size_t InstanceModel::anchor_count() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(anchor_.begin(), anchor_.end(), [](std::uint32_t anchor) { return anchor != kNoAnchor; }));
}

void InstanceModel::forward(std::span<const double> further, WorkerId worker, std::span<double> hidden,
                            std::span<double> out) const {
  const auto own = logits().of(worker);
  std::copy(own.begin(), own.end(), out.begin());
  if (!further.empty()) {
    const auto v = mixing_.of(0);
    const auto e = embeddings_.of(worker);
    const auto head = head_.of(0);
    for (std::size_t h = 0; h < hidden.size(); ++h) {
      double sum = further[h];
      for (std::size_t d = 0; d < e.size(); ++d) sum += v[h * e.size() + d] * e[d];
      hidden[h] = math::tanh(sum);
    }
    for (std::size_t cell = 0; cell < out.size(); ++cell) {
      for (std::size_t h = 0; h < hidden.size(); ++h) out[cell] += head[cell * hidden.size() + h] * hidden[h];
    }
  }
  for (std::size_t k = 0; k < classes(); ++k) softmax(out.subspan(k * classes(), classes()));
}

void InstanceModel::backward(const Term& term, std::span<double> at_table) {
  for (std::size_t k = 0; k < classes(); ++k) {
    softmax_backward(std::span(table_).subspan(k * classes(), classes()), at_table.subspan(k * classes(), classes()));
  }
  const auto at_logits = table_gradient(term.worker);
  for (std::size_t cell = 0; cell < at_table.size(); ++cell) at_logits[cell] += at_table[cell];
  if (!rows_move_) return;
  const std::size_t width = hidden_.size();
  const auto head = head_.of(0);
  const auto at_head = head_.gradient(0);
  std::fill(at_hidden_.begin(), at_hidden_.end(), 0.0);
  for (std::size_t cell = 0; cell < at_table.size(); ++cell) {
    for (std::size_t h = 0; h < width; ++h) {
      at_head[cell * width + h] += at_table[cell] * hidden_[h];
      at_hidden_[h] += at_table[cell] * head[cell * width + h];
    }
  }
  const auto v = mixing_.of(0);
  const auto at_v = mixing_.gradient(0);
  const auto e = embeddings_.of(term.worker);
  const auto at_e = embeddings_.gradient(term.worker);
  for (std::size_t h = 0; h < width; ++h) {
    const double slope = at_hidden_[h] * (1 - hidden_[h] * hidden_[h]);
    term.at_further[h] += slope;
    for (std::size_t d = 0; d < e.size(); ++d) {
      at_v[h * e.size() + d] += slope * e[d];
      at_e[d] += slope * v[h * e.size() + d];
    }
  }
}

double InstanceModel::answer_loss(const Term& term) {
  const double trace_weight = options_.trace_strength / static_cast<double>(classes());
  std::fill(at_table_.begin(), at_table_.end(), 0.0);
  if (stage_ == Stage::anchors) {
    // The truth is taken as known: a supervised fit of the tables.
    const std::uint32_t truth = anchor_[term.task];
    if (truth == kNoAnchor) return 0;
    forward(term.further, term.worker, hidden_, table_);
    const std::size_t cell = truth * classes() + index(term.label);
    const double p = std::max(table_[cell], kProbabilityFloor);
    at_table_[cell] = -term.weight / p;
    backward(term, at_table_);
    return -math::log(p);
  }
  const bool fixed = stage_ == Stage::network;
  double drift = 0;
  if (fixed) {
    // Tables stay what they were; the network's further outputs are only kept in place while it learns the classes.
    const auto kept = std::span<const double>(kept_rows_).subspan(term.task * hidden_.size(), hidden_.size());
    forward(kept, term.worker, hidden_, table_);
    for (std::size_t h = 0; h < hidden_.size(); ++h) {
      const double difference = term.further[h] - kept[h];
      drift += difference * difference / 2;
      term.at_further[h] += term.weight * difference;
    }
  } else {
    forward(term.further, term.worker, hidden_, table_);
  }
  double s = kProbabilityFloor, trace = 0;
  for (std::size_t k = 0; k < classes(); ++k) {
    s += term.f[k] * table_[k * classes() + index(term.label)];
    trace += table_[k * classes() + k];
  }
  for (std::size_t k = 0; k < classes(); ++k) {
    term.at_f[k] -= term.weight / s * table_[k * classes() + index(term.label)];
    at_table_[k * classes() + index(term.label)] -= term.weight / s * term.f[k];
    at_table_[k * classes() + k] += term.weight * trace_weight;
  }
  if (tables_move() && !fixed) backward(term, at_table_);
  return -math::log(s) + trace_weight * trace + drift;
}

void InstanceModel::step(double pace) {
  FeatureDependentTables::step(pace);
  head_.step(pace);
  mixing_.step(pace);
  embeddings_.step(pace);
}

void InstanceModel::table_at(std::span<const double> further, WorkerId worker, std::span<double> out) const {
  std::vector<double> hidden(options_.row_width);
  forward(further, worker, hidden, out);
}

void InstanceModel::remember(AnswerMemory& memory) const {
  memory.tables = logits().all();
  memory.row_head = head_.all();
  memory.mixing = mixing_.all();
  memory.embeddings = embeddings_.all();
}

void InstanceModel::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  FeatureDependentTables::describe(learned, data, outputs_of);
  const CategoryAnswers& answers = data.crowd.answers;
  std::vector<double> row(outputs()), table(classes() * classes());
  learned.crowd.task_score_name = "difficulty";
  learned.crowd.task_score.assign(answers.task_count(), 0.0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    if (workers.empty()) continue;
    const bool has_row = outputs_of(t, row);
    double trace = 0;
    for (const WorkerId worker : workers) {
      table_at(has_row ? std::span<const double>(row).subspan(classes()) : std::span<const double>(), worker, table);
      for (std::size_t k = 0; k < classes(); ++k) trace += table[k * classes() + k];
    }
    learned.crowd.task_score[t] = 1 - trace / static_cast<double>(workers.size() * classes());
  }
  if (options_.variant == Options::Variant::anchors) {
    learned.crowd.learned.emplace_back("anchors", static_cast<double>(anchor_count()));
  }
}

Recipe InstanceDependent::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng rng) { return std::make_unique<InstanceModel>(set, options_, rng); }};
}

namespace {

constexpr auto kVariantNames =
    enum_names<Options::Variant>({{Options::Variant::schedule, "schedule"}, {Options::Variant::anchors, "anchors"}});

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  v.choice("variant", o.variant, kVariantNames,
           "schedule: tables are held, then released, then may depend on the row; anchors: a third of the epochs for "
           "network and plain tables, a third for tables at sure rows, a third for the network with tables fixed");
  v.real("trace_strength", o.trace_strength, 0, 100,
         "how much a small mean trace of the tables counts, as in trace_reg");
  v.integer("table_epochs", o.table_epochs, 0, 1e6, "epochs in which tables are free but do not depend on the row");
  v.integer("row_width", o.row_width, 1, 4096, "numbers of a row that the tables depend on");
  v.integer("embedding", o.embedding, 1, 4096, "numbers per worker that say how");
  v.real("row_decay", o.row_decay, 0, 100, "weight decay of what depends on the row");
  v.real("anchor_confidence", o.anchor_confidence, 0, 1,
         "variant=anchors: how sure the network must be of a row; at least a tenth of the rows, the surest, are taken");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Confusion that depends on the row";
  info.summary = "Worker tables that change with the features, so that hard rows confuse more than easy ones.";
  info.when_to_use = "How often workers err depends on the task in a way that its features show, and answers are many.";
  info.reference =
      "Zhang et al.: Disentangling human error from the ground truth in segmentation of medical images, NeurIPS 2020; "
      "anchors after Guo, Yi, Wang: Label correction of crowdsourced noisy annotations with an instance-dependent "
      "noise "
      "transition model, NeurIPS 2023";
  info.uses_gold = true;
  info.assumptions = "On average workers are better than chance, and how they err varies smoothly with the features.";
  info.cost = "O(S K² row width) per epoch beside the network; memory O(M (K² + embedding))";
  return LearnerEntry::of<InstanceDependent, parameters>(std::move(info));
}

}  // namespace wisecrowd::instance_dependent
