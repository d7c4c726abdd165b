#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/shared/answer_memory.hpp"
#include "learn/shared/network.hpp"
#include "learn/shared/output_head.hpp"
#include "wisecrowd/answered_rows.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {

/// What a trained classifier is made of.
struct ClassifierParts {
  std::unique_ptr<Network> network;
  NetworkSpec spec;
  std::vector<std::size_t> input_shape;  ///< of one row, as read
  bool sparse = false;
  Scaling scaling;
  NameTable classes;
  FeatureRecipe recipe;
  OutputHead head;
  AnswerMemory memory;
  NameTable workers;  ///< whose answers the memory understands
  /// Not saved: class probabilities of the tasks that were hidden to choose the epoch, by the run that did not see
  /// them, in the order of Learned::held_out_per_task.
  std::vector<double> held_out_probabilities;
};

/// What every classifier of this library can do beyond its own prediction (answered_rows.hpp).
class RowModel : public Classifier {
 public:
  [[nodiscard]] virtual const NameTable& worker_names() const = 0;
  [[nodiscard]] virtual const std::string& why_no_workers() const = 0;
  [[nodiscard]] virtual std::vector<double> posterior(const Features& features, std::span<const RowAnswer> answers,
                                                      const RunContext& context) const = 0;
  [[nodiscard]] virtual std::vector<double> reliability(const Features& features, std::span<const RowWorker> pairs,
                                                        const RunContext& context) const = 0;
  /// The numbers of the network and how its outputs become probabilities, for those who make one network of several.
  [[nodiscard]] virtual std::span<const float> weights() const = 0;
  [[nodiscard]] virtual const OutputHead& head() const = 0;
  [[nodiscard]] virtual std::span<const double> held_out_probabilities() const = 0;
  [[nodiscard]] virtual Draws draw(const Features& features, std::size_t draws, const RunContext& context) const = 0;
};

/// A network that was read from a file is kept with the classifier, so that it can be saved when the file is gone.
[[nodiscard]] std::shared_ptr<const Classifier> make_classifier(ClassifierParts parts);

/// The files of a saved classifier: model.json, weights.npy, and, where there is something to put into them,
/// buffers.npy, words.npy, rarity.npy, head.npy, network.pt, answers.npy, answer_places.npy and workers.json.
void save_classifier(ClassifierParts& parts, const std::string& network_file, const std::string& folder);
/// The folder itself, or the model in a folder of results.
[[nodiscard]] std::string model_folder(const std::string& folder);
/// The file that says of a model folder that it predicts numbers (regressor.hpp).
inline constexpr const char* kNumberScale = "numbers.json";
/// `network_file` gets the bytes of network.pt, if there is one.
[[nodiscard]] ClassifierParts read_classifier(const std::string& folder, std::string& network_file,
                                              const LoadOptions& options, const RunContext& context);

}  // namespace wisecrowd
