#include "wisecrowd/crowd_loss.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rng.hpp"
#include "learn/shared/finite.hpp"
#include "learn/shared/learner_entry.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// The data with the train split and the others exchanged.
LearningData exchanged(const LearningData& data) {
  LearningData other = data;
  for (Split& split : other.split) split = split == Split::train ? Split::test : Split::train;
  return other;
}

BatchModel::Epoch told(const CrowdLoss::Epoch& epoch) {
  return {.number = epoch.number, .total = epoch.total, .predict = epoch.predict, .sample = epoch.sample};
}

/// Whatever leaves the finite numbers does so because steps were too large.
template <class Work>
auto finite(const Work& work) {
  try {
    return work();
  } catch (const NotFinite&) {
    throw Diverged("training diverged, its numbers are no longer finite: lower the learning rate");
  }
}

class ModelLoss final : public CrowdLoss {
 public:
  ModelLoss(const LearningData& data, std::unique_ptr<Learner> learner, const RunContext& context)
      : data_(data),
        learner_(std::move(learner)),
        set_(tasks_to_learn_from(data)),
        hidden_(training_set(exchanged(data))) {
    const auto& trained = dynamic_cast<const GradientLearner&>(*learner_);
    Recipe recipe = trained.recipe(data, NetworkSpec{}, context);
    // Learners that look at the rows themselves want them on one scale.
    inputs_ = scaled(data.features, recipe.training.standardise ? standardise(data.features, set_.row) : Scaling{});
    set_.inputs = hidden_.inputs = &inputs_;
    model_ = recipe.candidates.front().make_model(set_, context.rng("training").fork("model"));
  }

  [[nodiscard]] std::size_t outputs() const override { return model_->outputs(); }
  [[nodiscard]] std::span<const std::uint32_t> rows() const override { return set_.row; }
  [[nodiscard]] std::span<const std::uint32_t> hidden_rows() const override { return hidden_.row; }

  void begin_epoch(const Epoch& epoch) override {
    finite([&] { model_->begin_epoch(told(epoch)); });
  }
  void end_epoch(const Epoch& epoch) override {
    finite([&] { model_->end_epoch(told(epoch)); });
  }
  void end_training(const Epoch& epoch) override {
    finite([&] { model_->end_training(told(epoch)); });
  }

  double loss(std::span<const std::uint32_t> tasks, std::span<const double> outputs,
              std::span<double> gradients) override {
    const std::size_t width = model_->outputs();
    require_rows(outputs, tasks.size());
    for (const std::uint32_t task : tasks) {
      if (task >= set_.task_count()) throw Error(ErrorCode::bad_parameter, fmt::format("there is no task {}", task));
    }
    return finite([&] {
      return model_->loss(tasks, {outputs.data(), tasks.size(), width}, {gradients.data(), tasks.size(), width});
    });
  }
  void step(double pace) override {
    finite([&] { model_->step(pace); });
  }

  [[nodiscard]] std::vector<double> hidden_likelihoods(std::span<const double> outputs) const override {
    require_rows(outputs, hidden_.task_count());
    return model_->answer_likelihoods(hidden_, outputs);
  }

  [[nodiscard]] std::vector<double> classify(std::span<const double> outputs) const override {
    const std::size_t width = model_->outputs(), classes = set_.class_count, rows = outputs.size() / width;
    require_rows(outputs, rows);
    std::vector<double> probabilities(rows * classes);
    for (std::size_t r = 0; r < rows; ++r) {
      model_->classify(outputs.subspan(r * width, width), std::span(probabilities).subspan(r * classes, classes));
    }
    return probabilities;
  }

  [[nodiscard]] Learned conclude(std::span<const double> outputs) const override {
    require_rows(outputs, data_.features.rows);
    Learned learned;
    CategoryFit& crowd = learned.crowd;
    crowd.task_count = data_.crowd.answers.task_count();
    crowd.worker_count = set_.worker_count;
    crowd.class_count = set_.class_count;
    crowd.status = Status::iteration_limit;
    crowd.objective_name = "loss";
    predict_all(*model_, outputs, data_, 1, learned.row_probabilities, crowd.posterior);
    describe_crowd(*model_, outputs, data_, learned);
    return learned;
  }

 private:
  void require_rows(std::span<const double> outputs, std::size_t rows) const {
    if (outputs.size() == rows * model_->outputs()) return;
    throw Error(ErrorCode::bad_parameter, fmt::format("the network must give {} numbers for each of {} rows, but gives "
                                                      "{} in all",
                                                      model_->outputs(), rows, outputs.size()));
  }

  const LearningData& data_;
  std::unique_ptr<Learner> learner_;
  Features inputs_;
  TrainingSet set_, hidden_;
  std::unique_ptr<AnswerModel> model_;
};

bool is_loss(std::string_view method) {
  const auto learner = make_learner(method, Parameters(learning_method(method).parameters));
  return dynamic_cast<const GradientLearner*>(learner.get()) != nullptr;
}

}  // namespace

std::vector<std::string> crowd_losses() {
  std::vector<std::string> names;
  for (const LearnerInfo& info : learning_methods()) {
    if (is_loss(info.name)) names.push_back(info.name);
  }
  return names;
}

std::unique_ptr<CrowdLoss> make_crowd_loss(const LearningData& data, std::string_view method,
                                           const Parameters& parameters, const RunContext& context) {
  const LearnerInfo& info = learning_method(method);
  if (!is_loss(info.name)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} trains networks by itself, so it is no loss: take one of {}, or let it do the training",
                            info.name, fmt::join(crowd_losses(), ", ")));
  }
  require_learnable(info, data);
  return std::make_unique<ModelLoss>(data, make_learner(info.name, parameters), context);
}

}  // namespace wisecrowd
