#include "learn/mbem/mbem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "learn/shared/learner_entry.hpp"
#include "learn/shared/training_run.hpp"

namespace wisecrowd::mbem {
namespace {

std::vector<double> counted_tables(const TrainingSet& set, std::span<const double> labels, const Options& options) {
  return options.pooled_answers > 0 ? pooled_tables_from(set, labels, options.pooled_answers)
                                    : tables_from(set, labels, options.pseudo_count, 0);
}

/// A network trained on the labels of some tasks says what the others are.
void predict_others(const TrainingSet& set, const JudgedLabels& labels, std::span<const std::uint32_t> seen,
                    std::span<const std::uint32_t> others, const Features& inputs, const NetworkSpec& network,
                    const TrainingOptions& options, const std::string& purpose, const RunContext& context,
                    std::vector<ClassId>& predicted) {
  const TrainingSet part = subset(set, seen);
  TrainingRun run(
      part, inputs, network, options,
      [&](const TrainingSet& all, Rng) { return std::make_unique<JudgedLabels>(all, seen, labels); }, purpose, context);
  while (run.epochs_done() < options.epochs && !context.cancelled()) {
    run.epoch();
    if (!run.finite()) throw Diverged("a network that judges the workers: " + run.trouble());
  }
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t i : others) rows.push_back(set.row[i]);
  const std::vector<double> outputs = run.outputs(rows);
  for (std::size_t n = 0; n < others.size(); ++n) {
    const double* const row = outputs.data() + n * set.class_count;
    predicted[others[n]] = ClassId(std::max_element(row, row + set.class_count) - row);
  }
}

}  // namespace

JudgedLabels::JudgedLabels(const TrainingSet& set, const Options& options) : SoftLabelModel(set) {
  tables_ = counted_tables(set, labels_, options);
}

JudgedLabels::JudgedLabels(const TrainingSet& part, std::span<const std::uint32_t> tasks, const JudgedLabels& whole)
    : SoftLabelModel(part) {
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    std::copy_n(whole.labels_.begin() + static_cast<std::ptrdiff_t>(tasks[n] * classes()), classes(),
                labels_.begin() + static_cast<std::ptrdiff_t>(n * classes()));
  }
}

bool JudgedLabels::judge(std::span<const ClassId> predicted, const Options& options) {
  std::vector<double> said(classes(), 0.0), judged(classes(), 0.0);
  double agreed = 0;
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    for (const ClassId label : set().labels_of(i)) {
      said[index(label)] += 1;
      judged[index(predicted[i])] += 1;
      agreed += label == predicted[i] ? 1 : 0;
    }
  }
  const auto answers = static_cast<double>(set().answer_count());
  double chance = 0;
  for (std::size_t k = 0; k < classes(); ++k) chance += said[k] * judged[k] / answers / answers;
  judge_knew_nothing_ = classes() > 1 && agreed <= chance * answers + 2 * std::sqrt(chance * (1 - chance) * answers);
  if (judge_knew_nothing_) return false;

  std::vector<double> hard(labels_.size(), 0.0);
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    const ClassId gold = set().gold[i];
    hard[i * classes() + index(gold == kNoClass ? predicted[i] : gold)] = 1;
  }
  tables_ = counted_tables(set(), hard, options);
  std::fill(class_prior_.begin(), class_prior_.end(), 0.0);
  for (std::size_t cell = 0; cell < hard.size(); ++cell)
    class_prior_[cell % classes()] += options.even_classes ? 1 : hard[cell];
  normalise(class_prior_);
  for (std::size_t i = 0; i < set().task_count(); ++i) {
    // Without the network: it has spoken through the tables.
    posterior({}, {set().workers_of(i), set().labels_of(i)}, std::span(labels_).subspan(i * classes(), classes()));
  }
  pin_gold();
  return true;
}

void JudgedLabels::describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const {
  SoftLabelModel::describe(learned, data, outputs_of);
  if (judge_knew_nothing_) {
    learned.crowd.warnings.push_back({"network_knows_nothing",
                                      "the networks that judge the workers agreed with them no more than by chance, so "
                                      "their judgement was left aside",
                                      "train longer, or with other features.", Severity::serious});
  }
}

Learned Mbem::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  const Candidate judged{
      "labels of judged workers", [&](const TrainingSet& set, Rng rng) {
        auto model = std::make_unique<JudgedLabels>(set, options_);
        const Features inputs =
            scaled(data.features, options_.training.standardise ? standardise(data.features, set.row) : Scaling{});
        std::vector<std::uint32_t> order(set.task_count());
        std::iota(order.begin(), order.end(), 0U);
        rng.shuffle(std::span(order));
        const std::span<const std::uint32_t> all = order;
        const auto first = all.first(order.size() / 2), second = all.subspan(order.size() / 2);
        const bool halves = options_.cross_fit && !first.empty();
        std::vector<ClassId> predicted(set.task_count(), ClassId{0});
        for (std::size_t round = 0; round < options_.rounds && !context.cancelled(); ++round) {
          const auto run = [&](auto seen, auto others, int half) {
            // Named by the size of the set too: the run that chooses the epoch is another one.
            predict_others(set, *model, seen, others, inputs, network, options_.training,
                           fmt::format("judging {} {} {}", set.task_count(), round, half), context, predicted);
          };
          if (halves) {
            run(first, second, 1);
            run(second, first, 2);
          } else {
            run(all, all, 0);
          }
          if (context.cancelled()) break;
          if (!model->judge(predicted, options_)) break;
        }
        return model;
      }};
  // Networks that know less than a few answers together spoil the labels: then the votes are better.
  const Candidate votes{"votes",
                        [&](const TrainingSet& set, Rng) { return std::make_unique<JudgedLabels>(set, options_); },
                        [](const AnswerModel&) { return 0.0; }};
  return train(data, network, options_.training, std::array{judged, votes}, context);
}

namespace {

constexpr auto kClassPriorNames = enum_names<bool>({{true, "uniform"}, {false, "learned"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("rounds", o.rounds, 1, 1000,
            "how often workers are judged anew; each round trains networks on all tasks once");
  v.real("pooled_answers", o.pooled_answers, 0, 1e6,
         "answers of the crowd's mean table that are added to each row of a worker's table");
  v.real("pseudo_count", o.pseudo_count, 1e-6, 1e6,
         "pooled_answers=0: answers added to every cell of a worker's table, as published");
  v.flag("cross_fit", o.cross_fit,
         "judge each half of the tasks by a network trained on the other half; off, a network that "
         "learns its labels by heart takes the workers at their word");
  v.choice("class_prior", o.even_classes, kClassPriorNames,
           "classes in the labels' formula: even, or as the networks predict them (as published; runs "
           "away to one class when most answers are noise)");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "MBEM: model-bootstrapped EM";
  info.summary = "Judges workers by what a network predicts, labels tasks by the judged workers, trains on those.";
  info.when_to_use = "One answer per task, where workers cannot be compared with each other but a network generalises.";
  info.reference = "Khetan, Lipton, Anandkumar: Learning from noisy singly-labeled data, ICLR 2018";
  info.uses_gold = true;
  info.assumptions = "Workers err independently of the features; the network is better than a single worker.";
  info.cost = "the network's, rounds + 1 times; O(S K) beside it; memory O(M K²)";
  return LearnerEntry::of<Mbem, parameters>(std::move(info));
}

}  // namespace wisecrowd::mbem
