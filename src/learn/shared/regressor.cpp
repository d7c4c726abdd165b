#include "learn/shared/regressor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json_depth.hpp"
#include "base/output_folder.hpp"
#include "learn/shared/model_files.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsAtOnce = 1024;
constexpr std::uint64_t kMostScaleBytes = std::uint64_t{1} << 26;

class TrainedRegressor final : public Regressor {
 public:
  TrainedRegressor(RegressorParts parts, std::string network_file)
      : parts_(std::move(parts)), network_file_(std::move(network_file)) {}

  [[nodiscard]] const NameTable& dimension_names() const override { return parts_.network.classes; }
  [[nodiscard]] const FeatureRecipe& recipe() const override { return parts_.network.recipe; }
  [[nodiscard]] const std::vector<double>& deviation() const override { return parts_.deviation; }

  [[nodiscard]] std::vector<double> predict(const Features& features, const RunContext& context) const override {
    const ClassifierParts& network = parts_.network;
    if (features.shape != network.input_shape || features.is_sparse() != network.sparse) {
      throw Error(
          ErrorCode::bad_input,
          fmt::format("the features have rows of shape ({}){}, but the model was trained on ({}){}: give it the "
                      "same features",
                      fmt::join(features.shape, ", "), features.is_sparse() ? ", sparse" : "",
                      fmt::join(network.input_shape, ", "), network.sparse ? ", sparse" : ""));
    }
    require_finite(features);
    const Features inputs = scaled(features, network.scaling);
    const std::size_t width = parts_.factor.size();
    std::vector<double> numbers(features.rows * width);
    std::vector<std::uint32_t> rows(kRowsAtOnce);
    std::vector<float> outputs(kRowsAtOnce * width);
    const std::lock_guard guard(mutex_);  // networks keep their working memory from call to call
    network.network->work_with(context.pool());
    for (std::size_t begin = 0; begin < features.rows; begin += kRowsAtOnce) {
      if (context.cancelled()) throw Cancelled();
      const std::size_t count = std::min(kRowsAtOnce, features.rows - begin);
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
      network.network->forward(inputs, std::span<const std::uint32_t>(rows).first(count), Network::Mode::predict,
                               std::span(outputs).first(count * width));
      for (std::size_t i = 0; i < count * width; ++i) {
        const double number = parts_.offset[i % width] + parts_.factor[i % width] * static_cast<double>(outputs[i]);
        if (!std::isfinite(number)) refuse_number(number, begin + i / width);
        numbers[begin * width + i] = number;
      }
      context.report({.stage = "predicting",
                      .done = static_cast<double>(begin + count),
                      .total = static_cast<double>(features.rows)});
    }
    return numbers;
  }

  void save(const std::string& folder) const override {
    const std::lock_guard guard(mutex_);
    save_classifier(parts_.network, network_file_, folder);
    const Json json = {{"factor", parts_.factor}, {"offset", parts_.offset}, {"deviation", parts_.deviation}};
    write_model_bytes(folder + "/" + kNumberScale, json_text(json));
  }

 private:
  [[noreturn]] void refuse_number(double number, std::size_t row) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("the model gives {} for row {} (counted from 0) of the features: {}", number, row,
                            network_file_.empty() ? "its features are far outside of what the model was trained on, or "
                                                    "the model is damaged"
                                                  : "its TorchScript network must give finite numbers"));
  }

  mutable RegressorParts parts_;  // a network computes in place
  std::string network_file_;
  mutable std::mutex mutex_;
};

/// Reads numbers.json into parts whose network is read.
void read_scale(const std::string& path, RegressorParts& parts) {
  const std::string text = read_model_bytes(path, kMostScaleBytes);
  const Json json = nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  const std::size_t dimensions = parts.network.classes.size();
  const auto numbers = [&](const char* key, bool may_be_empty, double least) {
    std::vector<double> values;
    bool good = json.is_object() && json.contains(key) && json[key].is_array();
    for (std::size_t i = 0; good && i < json[key].size(); ++i) {
      good = json[key][i].is_number();
      if (good) values.push_back(json[key][i].get<double>());
      good = good && std::isfinite(values.back()) && values.back() >= least;
    }
    good = good && (values.size() == dimensions || (values.empty() && may_be_empty));
    if (!good) {
      refuse_model(path, fmt::format("'{}' must hold a finite number for each of {} dimensions: the file is damaged",
                                     key, dimensions));
    }
    return values;
  };
  constexpr double kAny = std::numeric_limits<double>::lowest();
  parts.factor = numbers("factor", false, kAny);
  parts.offset = numbers("offset", false, kAny);
  parts.deviation = numbers("deviation", true, 0);
  if (parts.network.network->output_size() != dimensions) {
    refuse_model(path, fmt::format("{} outputs do not fit {} dimensions: the file is damaged",
                                   parts.network.network->output_size(), dimensions));
  }
}

}  // namespace

std::shared_ptr<const Regressor> make_regressor(RegressorParts parts) {
  std::string network_file;
  if (!is_native_network(parts.network.spec.kind)) {
    std::ifstream file(parts.network.spec.kind, std::ios::binary);
    network_file.assign(std::istreambuf_iterator<char>(file), {});
  }
  return std::make_shared<TrainedRegressor>(std::move(parts), std::move(network_file));
}

TrainedModel load_model(const std::string& folder, const RunContext& context, const LoadOptions& options) {
  TrainedModel model;
  const std::string scale = model_folder(folder) + "/" + kNumberScale;
  std::error_code unknown;
  if (!std::filesystem::exists(scale, unknown)) {
    model.classifier = load_classifier(folder, context, options);
    return model;
  }
  RegressorParts parts;
  std::string network_file;
  parts.network = read_classifier(folder, network_file, options, context);
  read_scale(scale, parts);
  model.regressor = std::make_shared<TrainedRegressor>(std::move(parts), std::move(network_file));
  return model;
}

}  // namespace wisecrowd
