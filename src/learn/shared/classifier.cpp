#include "learn/shared/classifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <mutex>
#include <numeric>

#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRowsPerCall = 1024;

class TrainedClassifier final : public Classifier {
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
    if (features.shape != parts_.input_shape || features.is_sparse() != parts_.sparse) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("the features have rows of shape ({}){}, but the model was trained on ({}){}: give it the "
                      "same features",
                      fmt::join(features.shape, ", "), features.is_sparse() ? ", sparse" : "",
                      fmt::join(parts_.input_shape, ", "), parts_.sparse ? ", sparse" : ""));
    }
    require_finite(features);
    const Features changed = parts_.scaling.empty() ? Features{} : scaled(features, parts_.scaling);
    const Features& inputs = parts_.scaling.empty() ? features : changed;
    const std::size_t width = parts_.network->output_size(), classes = class_count();
    std::vector<double> probabilities(features.rows * classes);
    std::vector<std::uint32_t> rows(kRowsPerCall);
    std::vector<float> values(kRowsPerCall * width);
    std::vector<double> outputs(width);
    const std::lock_guard guard(mutex_);  // networks keep their working memory from call to call
    parts_.network->work_with(context.pool());
    for (std::size_t begin = 0; begin < features.rows; begin += kRowsPerCall) {
      if (context.cancelled()) throw Cancelled();
      const std::size_t count = std::min(kRowsPerCall, features.rows - begin);
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
      parts_.network->forward(inputs, std::span<const std::uint32_t>(rows).first(count), Network::Mode::predict,
                              std::span(values).first(count * width));
      require_finite_outputs(std::span<const float>(values).first(count * width), begin);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width, outputs.begin());
        parts_.head.classify(outputs, std::span(probabilities).subspan((begin + i) * classes, classes));
      }
      context.report({.stage = "predicting",
                      .done = static_cast<double>(begin + count),
                      .total = static_cast<double>(features.rows)});
    }
    return probabilities;
  }

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
  std::string network_file;
  ClassifierParts parts = read_classifier(folder, network_file, options, context);
  return std::make_shared<TrainedClassifier>(std::move(parts), std::move(network_file));
}

}  // namespace wisecrowd
