#include "learn/shared/classifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRowsPerCall = 1024;

class TrainedClassifier final : public RowModel {
 public:
  TrainedClassifier(ClassifierParts parts, std::string network_file)
      : parts_(std::move(parts)), network_file_(std::move(network_file)) {
    if (!parts_.head.fits(parts_.network->output_size(), parts_.classes.size())) {
      throw Error(ErrorCode::internal, "the head of the classifier does not fit its network");
    }
  }

  [[nodiscard]] std::size_t class_count() const override { return parts_.classes.size(); }
  [[nodiscard]] const NameTable& class_names() const override { return parts_.classes; }
  [[nodiscard]] const FeatureRecipe& recipe() const override { return parts_.recipe; }

  [[nodiscard]] std::vector<double> predict(const Features& features, const RunContext& context) const override {
    const std::size_t classes = class_count();
    std::vector<double> probabilities(features.rows * classes);
    for_each_row(features, context, [&](const Features&, std::size_t row, std::span<const double> outputs) {
      parts_.head.classify(outputs, std::span(probabilities).subspan(row * classes, classes));
    });
    return probabilities;
  }

  [[nodiscard]] Draws draw(const Features& features, std::size_t draws, const RunContext& context) const override;

  [[nodiscard]] std::span<const float> weights() const override { return parts_.network->parameters(); }
  [[nodiscard]] const OutputHead& head() const override { return parts_.head; }
  [[nodiscard]] std::span<const double> held_out_probabilities() const override {
    return parts_.held_out_probabilities;
  }

  [[nodiscard]] const NameTable& worker_names() const override { return parts_.workers; }
  [[nodiscard]] const std::string& why_no_workers() const override { return parts_.memory.why_none; }
  [[nodiscard]] std::vector<double> posterior(const Features& features, std::span<const RowAnswer> answers,
                                              const RunContext& context) const override;
  [[nodiscard]] std::vector<double> reliability(const Features& features, std::span<const RowWorker> pairs,
                                                const RunContext& context) const override;

  void save(const std::string& folder) const override {
    const std::lock_guard guard(mutex_);
    save_classifier(parts_, network_file_, folder);
  }

  void export_torchscript(const std::string& path) const override {
    if (!parts_.head.is_softmax()) {
      throw Error(ErrorCode::unsupported,
                  "the probabilities of this method are a mixture of several softmaxes, which cannot be exported to "
                  "TorchScript: use wisecrowd predict");
    }
    const std::lock_guard guard(mutex_);
    parts_.network->export_torchscript(path, parts_.scaling);
  }

 private:
  /// Features as the network takes them: `changed` holds them where they must be scaled.
  const Features& inputs_of(const Features& features, Features& changed) const {
    if (features.shape != parts_.input_shape || features.is_sparse() != parts_.sparse) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("the features have rows of shape ({}){}, but the model was trained on ({}){}: give it the "
                      "same features",
                      fmt::join(features.shape, ", "), features.is_sparse() ? ", sparse" : "",
                      fmt::join(parts_.input_shape, ", "), parts_.sparse ? ", sparse" : ""));
    }
    require_finite(features);
    if (parts_.scaling.empty()) return features;
    changed = scaled(features, parts_.scaling);
    return changed;
  }

  /// work(begin, count, forward) for blocks of rows; forward(mode) gives count × width numbers.
  template <class Work>
  void for_each_block(const Features& inputs, const RunContext& context, const Work& work) const {
    const std::size_t width = parts_.network->output_size();
    std::vector<std::uint32_t> rows(kRowsPerCall);
    std::vector<float> values(kRowsPerCall * width);
    parts_.network->work_with(context.pool());
    for (std::size_t begin = 0; begin < inputs.rows; begin += kRowsPerCall) {
      if (context.cancelled()) throw Cancelled();
      const std::size_t count = std::min(kRowsPerCall, inputs.rows - begin);
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
      work(begin, count, [&](Network::Mode mode) {
        const auto outputs = std::span(values).first(count * width);
        parts_.network->forward(inputs, std::span<const std::uint32_t>(rows).first(count), mode, outputs);
        require_finite_outputs(outputs, begin);
        return std::span<const float>(outputs);
      });
      context.report({.stage = "predicting",
                      .done = static_cast<double>(begin + count),
                      .total = static_cast<double>(inputs.rows)});
    }
  }

  /// each(scaled features, row, outputs) for every row, without dropout.
  template <class Each>
  void for_each_row(const Features& features, const RunContext& context, const Each& each) const {
    Features changed;
    const Features& inputs = inputs_of(features, changed);
    const std::size_t width = parts_.network->output_size();
    std::vector<double> outputs(width);
    const std::lock_guard guard(mutex_);  // networks keep their working memory from call to call
    for_each_block(inputs, context, [&](std::size_t begin, std::size_t count, const auto& forward) {
      const std::span<const float> values = forward(Network::Mode::predict);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width, outputs.begin());
        each(inputs, begin + i, outputs);
      }
    });
  }

  /// The places of what belongs to each row, offsets first; checks that rows and workers are there.
  template <class Item>
  [[nodiscard]] std::pair<std::vector<std::size_t>, std::vector<std::size_t>> by_row(const Features& features,
                                                                                     std::span<const Item> items) const;

  void require_finite_outputs(std::span<const float> values, std::size_t first_row) const {
    const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    if (bad == values.end()) return;
    const std::size_t width = parts_.network->output_size();
    throw Error(ErrorCode::bad_input,
                fmt::format("the model gives {} for row {} (counted from 0) of the features: {}", *bad,
                            first_row + static_cast<std::size_t>(bad - values.begin()) / width,
                            network_file_.empty() ? "its features are far outside of what the model was trained on, or "
                                                    "the model is damaged"
                                                  : "its TorchScript network must give finite numbers"));
  }

  mutable ClassifierParts parts_;  // a network computes in place
  std::string network_file_;
  mutable std::mutex mutex_;
};

Draws TrainedClassifier::draw(const Features& features, std::size_t draws, const RunContext& context) const {
  if (draws == 0) throw Error(ErrorCode::bad_parameter, "there must be at least one draw");
  Features changed;
  const Features& inputs = inputs_of(features, changed);
  const std::size_t width = parts_.network->output_size(), classes = class_count();
  const double share = 1 / static_cast<double>(draws);
  Draws result;
  result.probabilities.assign(features.rows * classes, 0.0);
  result.entropy.assign(features.rows, 0.0);
  result.mutual_information.assign(features.rows, 0.0);
  result.identical = draws > 1 && features.rows > 0;
  std::vector<double> outputs(width), p(classes);
  std::vector<float> first;
  const std::lock_guard guard(mutex_);
  parts_.network->reseed(context.rng("draws").next());
  for_each_block(inputs, context, [&](std::size_t begin, std::size_t count, const auto& forward) {
    for (std::size_t d = 0; d < draws; ++d) {
      const std::span<const float> values = forward(Network::Mode::sample);
      if (d == 0) first.assign(values.begin(), values.end());
      result.identical = result.identical && std::equal(values.begin(), values.end(), first.begin());
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width, outputs.begin());
        parts_.head.classify(outputs, p);
        result.mutual_information[begin + i] -= share * entropy(p);
        for (std::size_t k = 0; k < classes; ++k) result.probabilities[(begin + i) * classes + k] += share * p[k];
      }
    }
  });
  for (std::size_t row = 0; row < features.rows; ++row) {
    result.entropy[row] = entropy(std::span<const double>(result.probabilities).subspan(row * classes, classes));
    // Rounding may leave a little less than nothing.
    result.mutual_information[row] = std::max(0.0, result.entropy[row] + result.mutual_information[row]);
  }
  return result;
}

template <class Item>
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> TrainedClassifier::by_row(
    const Features& features, std::span<const Item> items) const {
  if (!parts_.memory.empty()) {
    std::vector<std::size_t> offsets(features.rows + 1, 0), order(items.size());
    for (const Item& item : items) {
      if (item.row >= features.rows || index(item.worker) >= parts_.workers.size()) {
        throw Error(ErrorCode::bad_input, "an answer has a row or a worker that is not there");
      }
      ++offsets[item.row + 1];
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::size_t> place(offsets.begin(), offsets.end() - 1);
    for (std::size_t n = 0; n < items.size(); ++n) order[place[items[n].row]++] = n;
    return {std::move(offsets), std::move(order)};
  }
  throw Error(ErrorCode::unsupported, "the model knows nothing of workers: " + parts_.memory.why_none);
}

std::vector<double> TrainedClassifier::posterior(const Features& features, std::span<const RowAnswer> answers,
                                                 const RunContext& context) const {
  const auto [offsets, order] = by_row(features, answers);
  const std::size_t classes = class_count();
  std::vector<double> probabilities(features.rows * classes);
  std::vector<WorkerId> workers;
  std::vector<ClassId> labels;
  std::optional<RememberedRow> remembered;
  for_each_row(features, context, [&](const Features& inputs, std::size_t row, std::span<const double> outputs) {
    if (!remembered) remembered.emplace(parts_.memory, parts_.head, classes, inputs);
    workers.clear();
    labels.clear();
    for (std::size_t n = offsets[row]; n < offsets[row + 1]; ++n) {
      const RowAnswer& answer = answers[order[n]];
      if (index(answer.label) >= classes) throw Error(ErrorCode::bad_input, "an answer has a class that is not there");
      workers.push_back(answer.worker);
      labels.push_back(answer.label);
    }
    remembered->move_to(static_cast<std::uint32_t>(row), outputs);
    remembered->posterior(workers, labels, std::span(probabilities).subspan(row * classes, classes));
  });
  return probabilities;
}

std::vector<double> TrainedClassifier::reliability(const Features& features, std::span<const RowWorker> pairs,
                                                   const RunContext& context) const {
  const auto [offsets, order] = by_row(features, pairs);
  std::vector<double> reliabilities(pairs.size());
  std::optional<RememberedRow> remembered;
  for_each_row(features, context, [&](const Features& inputs, std::size_t row, std::span<const double> outputs) {
    if (offsets[row] == offsets[row + 1]) return;
    if (!remembered) remembered.emplace(parts_.memory, parts_.head, class_count(), inputs);
    remembered->move_to(static_cast<std::uint32_t>(row), outputs);
    for (std::size_t n = offsets[row]; n < offsets[row + 1]; ++n) {
      reliabilities[order[n]] = remembered->reliability(pairs[order[n]].worker);
    }
  });
  return reliabilities;
}

}  // namespace

std::shared_ptr<const Classifier> make_classifier(ClassifierParts parts) {
  std::string network_file;
  if (!is_native_network(parts.spec.kind)) {
    std::ifstream file(parts.spec.kind, std::ios::binary);
    network_file.assign(std::istreambuf_iterator<char>(file), {});
  }
  return std::make_shared<TrainedClassifier>(std::move(parts), std::move(network_file));
}

std::shared_ptr<const Classifier> load_classifier(const std::string& folder, const RunContext& context,
                                                  const LoadOptions& options) {
  std::error_code unknown;
  if (std::filesystem::exists(model_folder(folder) + "/" + kNumberScale, unknown)) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: this model predicts numbers, not classes", folder));
  }
  std::string network_file;
  ClassifierParts parts = read_classifier(folder, network_file, options, context);
  return std::make_shared<TrainedClassifier>(std::move(parts), std::move(network_file));
}

}  // namespace wisecrowd
