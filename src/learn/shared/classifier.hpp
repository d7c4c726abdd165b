#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/shared/network.hpp"
#include "learn/shared/output_head.hpp"
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
};

/// A network that was read from a file is kept with the classifier, so that it can be saved when the file is gone.
[[nodiscard]] std::shared_ptr<const Classifier> make_classifier(ClassifierParts parts);

/// The files of a saved classifier: model.json, weights.npy, and, where there is something to put into them,
/// buffers.npy, words.npy, rarity.npy, head.npy and network.pt.
void save_classifier(ClassifierParts& parts, const std::string& network_file, const std::string& folder);
/// `network_file` gets the bytes of network.pt, if there is one.
[[nodiscard]] ClassifierParts read_classifier(const std::string& folder, std::string& network_file,
                                              const LoadOptions& options, const RunContext& context);

}  // namespace wisecrowd
