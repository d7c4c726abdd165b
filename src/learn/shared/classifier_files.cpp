#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>

#include "base/json_depth.hpp"
#include "base/output_folder.hpp"
#include "learn/shared/classifier.hpp"
#include "learn/shared/cnn_plan.hpp"
#include "learn/shared/memory_files.hpp"
#include "learn/shared/model_files.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "wisecrowd model";
constexpr int kVersion = 1;
constexpr const char* kTorchScript = "torchscript";
/// Names of a million classes or columns fit.
constexpr std::uint64_t kMostJsonBytes = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostScriptBytes = std::uint64_t{1} << 36;
/// Columns are numbered by 32 bits.
constexpr std::uint64_t kMostColumns = 0xFFFFFFFF;
constexpr std::uint64_t kMostOutputs = std::uint64_t{1} << 24;

const char* recipe_name(FeatureRecipe::Kind kind) {
  switch (kind) {
    case FeatureRecipe::Kind::array: return "npy";
    case FeatureRecipe::Kind::columns: return "columns";
    case FeatureRecipe::Kind::text: return "text";
  }
  return "";
}

/// Weights, matrices and biases one after the other.
std::vector<double> flat(const OutputHead& head) {
  std::vector<double> numbers = head.weights;
  numbers.insert(numbers.end(), head.matrices.begin(), head.matrices.end());
  numbers.insert(numbers.end(), head.biases.begin(), head.biases.end());
  return numbers;
}

/// Reads one model folder. Every size is bounded before it is used in a sum or a product, and compared with the files
/// before memory is asked for.
class ModelReader {
 public:
  explicit ModelReader(std::string folder) : folder_(std::move(folder)), path_(file("model.json")) { open(); }

  ClassifierParts read(std::string& network_file, const LoadOptions& options, const RunContext& context) const {
    try {
      ClassifierParts parts;
      read_spec(parts.spec);
      const bool script = parts.spec.kind == kTorchScript;
      if (script && !options.trust) refuse_script();
      read_input(parts);
      read_classes(parts.classes);
      read_scaling(parts);
      read_recipe(parts);
      const Json& network = json_.at("network");
      const std::size_t outputs = size(network, "outputs", 1, kMostOutputs);
      const std::size_t weight_count = size(network, "parameters", 1, kMostNumbers);
      if (!fits(parts, outputs, weight_count)) refuse("its sizes do not fit the weights: the file is damaged");
      read_head(parts.head);
      if (!parts.head.fits(outputs, parts.classes.size())) {
        refuse(fmt::format("{} outputs do not fit {} classes: the file is damaged", outputs, parts.classes.size()));
      }
      read_memory(json_.contains("answers") ? json_.at("answers") : Json(), folder_, parts.memory, parts.workers);
      if (!parts.memory.fits(parts.workers.size(), parts.classes.size(), outputs, like(parts).columns())) {
        refuse("what it knows of the workers does not fit its classes and sizes: the file is damaged");
      }
      const auto weights = read_model_numbers<float>(file("weights.npy"), weight_count);
      if (script) {
        parts.spec.kind = file("network.pt");
        network_file = read_model_bytes(parts.spec.kind, kMostScriptBytes);
      }
      make(parts, outputs, weights, context);
      return parts;
    } catch (const nlohmann::json::exception& error) {
      refuse(fmt::format("an entry is missing or of the wrong kind ({}): the file is damaged", error.what()));
    }
  }

 private:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  [[noreturn]] void refuse(const std::string& what) const { refuse_model(path_, what); }

  void open() {
    const std::string text = read_model_bytes(path_, kMostJsonBytes);
    if (nests_too_deep(text))
      refuse("its lists are nested too deeply: this is no model of wisecrowd, or it is damaged");
    json_ = Json::parse(text, nullptr, false);
    if (!json_.is_object() || !json_.contains("format") || json_["format"] != kFormat) {
      refuse("this is no model of wisecrowd, or it is damaged");
    }
    const Json& version = json_["version"];
    if (version == kVersion) return;
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: version {}of the format is not known; this program reads version {}: use the program "
                            "that wrote the model, or train it again",
                            path_, version.is_number() ? version.dump() + " " : "", kVersion));
  }

  [[noreturn]] void refuse_script() const {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("{}: this model brings a network of its own. TorchScript is a program, which can do whatever "
                    "you can do here. If you trust whoever made the folder, say so with "
                    "`trust_model`",
                    file("network.pt")));
  }

  [[nodiscard]] std::size_t size(const Json& json, const char* key, std::uint64_t least, std::uint64_t most) const {
    return bounded(json.at(key), fmt::format("'{}'", key), least, most);
  }
  [[nodiscard]] std::size_t bounded(const Json& value, const std::string& what, std::uint64_t least,
                                    std::uint64_t most) const {
    // Conversions of what is negative or a fraction would wrap.
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most) {
      refuse(fmt::format("{} is {}, but must be a whole number from {} to {}: the file is damaged", what,
                         value.is_number() ? value.dump() : "no number", least, most));
    }
    return value.get<std::size_t>();
  }

  void read_spec(NetworkSpec& spec) const {
    const Json& network = json_.at("network");
    spec.kind = network.at("kind").get<std::string>();
    if (!is_native_network(spec.kind) && spec.kind != kTorchScript) {
      refuse(fmt::format("a network of the kind '{}' is not known: it is linear, mlp, cnn or {}",
                         printable(spec.kind.substr(0, 60)), kTorchScript));
    }
    spec.hidden = size(network, "hidden", 1, kMostHidden);
    spec.layers = size(network, "layers", 1, kMostLayers);
    spec.dropout = network.at("dropout").get<double>();
    if (!(spec.dropout >= 0 && spec.dropout <= kMostDropout)) {
      refuse(fmt::format("'dropout' is {}, but must be from 0 to {}: the file is damaged", spec.dropout, kMostDropout));
    }
  }

  void read_input(ClassifierParts& parts) const {
    const Json& shape = json_.at("input").at("shape");
    if (!shape.is_array() || shape.empty() || shape.size() > 3) {
      refuse("'shape' must be one to three numbers: the file is damaged");
    }
    std::uint64_t columns = 1;
    for (const Json& extent : shape) {
      // What is left for this one keeps the product in bounds.
      parts.input_shape.push_back(bounded(extent, "a number of 'shape'", 1, kMostColumns / columns));
      columns *= parts.input_shape.back();
    }
    parts.sparse = json_.at("input").at("sparse").get<bool>();
    if (parts.sparse && parts.input_shape.size() > 1) refuse("sparse images are not known: the file is damaged");
  }

  void read_classes(NameTable& classes) const {
    const auto names = json_.at("classes").get<std::vector<std::string>>();
    if (names.empty()) refuse("it has no classes: the file is damaged");
    std::unordered_set<std::string_view> known;
    for (const std::string& name : names) {
      require_name(name, path_ + ": class");
      if (!known.insert(name).second) {
        refuse(fmt::format("class '{}' is there twice: the file is damaged", printable(name.substr(0, 60))));
      }
    }
    classes = NameTable(names);
  }

  [[nodiscard]] std::vector<float> floats(const Json& values, const char* what) const {
    std::vector<float> numbers;
    for (const double value : values.get<std::vector<double>>()) {
      if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
        refuse(fmt::format("{} {} is out of range: the file is damaged", what, value));
      }
      numbers.push_back(static_cast<float>(value));
    }
    return numbers;
  }

  void read_scaling(ClassifierParts& parts) const {
    Scaling& scaling = parts.scaling;
    scaling.shift = floats(json_.at("scaling").at("shift"), "the shift");
    scaling.factor = floats(json_.at("scaling").at("factor"), "the factor");
    if (std::find(scaling.factor.begin(), scaling.factor.end(), 0.0F) != scaling.factor.end()) {
      refuse("a factor of the scaling is 0, which would hide a feature: the file is damaged");
    }
    const std::size_t wanted = scale_count(like(parts));
    if (scaling.factor.size() != scaling.shift.size() || (!scaling.empty() && scaling.shift.size() != wanted) ||
        (!scaling.empty() && parts.sparse)) {
      refuse(fmt::format("the scaling has {} shifts and {} factors, but there are {} to scale: the file is damaged",
                         scaling.shift.size(), scaling.factor.size(), parts.sparse ? 0 : wanted));
    }
  }

  void read_recipe(ClassifierParts& parts) const {
    const Json& json = json_.at("features");
    const std::size_t columns = like(parts).columns();
    FeatureRecipe& recipe = parts.recipe;
    const auto kind = json.at("kind").get<std::string>();
    std::size_t found = columns;
    if (kind == recipe_name(FeatureRecipe::Kind::columns)) {
      recipe.kind = FeatureRecipe::Kind::columns;
      recipe.columns = json.at("columns").get<std::vector<std::string>>();
      found = recipe.columns.size();
    } else if (kind == recipe_name(FeatureRecipe::Kind::text)) {
      recipe.kind = FeatureRecipe::Kind::text;
      found = size(json, "words", 1, kMostColumns);
    } else if (kind != recipe_name(FeatureRecipe::Kind::array)) {
      refuse(fmt::format("features of the kind '{}' are not known", printable(kind.substr(0, 60))));
    }
    // A sparse array is what callers of the library have; files make none.
    const bool text = recipe.kind == FeatureRecipe::Kind::text;
    if (found != columns || (text && !parts.sparse) ||
        (recipe.kind == FeatureRecipe::Kind::columns && (parts.sparse || parts.input_shape.size() > 1))) {
      refuse(fmt::format("its {} features of the kind '{}' do not fit an input of {} numbers: the file is damaged",
                         found, kind, columns));
    }
    if (!text) return;
    recipe.words = read_model_numbers<std::uint64_t>(file("words.npy"), columns);
    recipe.rarity = read_model_numbers<float>(file("rarity.npy"), columns);
    const auto& words = recipe.words;
    if (std::adjacent_find(words.begin(), words.end(), std::greater_equal<>()) != words.end()) {
      refuse_model(file("words.npy"), "its numbers are out of order: the file is damaged");
    }
  }

  void read_head(OutputHead& head) const {
    const Json& json = json_.at("head");
    const std::size_t weights = size(json, "weights", 0, kMostNumbers / 4),
                      matrices = size(json, "matrices", 0, kMostNumbers / 4),
                      biases = size(json, "biases", 0, kMostNumbers / 4);
    if (weights == 0) {
      if (matrices + biases > 0) refuse("the head has matrices or biases, but no weights: the file is damaged");
      return;
    }
    const auto numbers = read_model_numbers<double>(file("head.npy"), weights + matrices + biases);
    auto at = numbers.begin();
    const auto take = [&](std::size_t count) {
      const auto begin = at;
      at += static_cast<std::ptrdiff_t>(count);
      return std::vector<double>(begin, at);
    };
    head.weights = take(weights);
    head.matrices = take(matrices);
    head.biases = take(biases);
    const bool negative = *std::min_element(head.weights.begin(), head.weights.end()) < 0;
    if (negative || std::abs(std::accumulate(head.weights.begin(), head.weights.end(), 0.0) - 1) > 1e-6) {
      refuse_model(file("head.npy"), "its weights are no shares that sum to 1: the file is damaged");
    }
  }

  /// Whether the network would have so many weights. A TorchScript module is asked when it is there.
  [[nodiscard]] static bool fits(const ClassifierParts& parts, std::size_t outputs, std::size_t weights) {
    const NetworkSpec& spec = parts.spec;
    if (spec.kind == kTorchScript) return true;
    const auto wanted = static_cast<double>(weights);
    if (spec.kind == "cnn") {
      return parts.input_shape.size() > 1 && cnn_weight_count(parts.input_shape, spec.hidden, outputs) == wanted;
    }
    double expected = 0;
    auto from = static_cast<double>(like(parts).columns());
    const std::size_t layers = spec.kind == "mlp" ? spec.layers : 0;
    for (std::size_t layer = 0; layer <= layers; ++layer) {
      const auto to = static_cast<double>(layer == layers ? outputs : spec.hidden);
      expected += (from + 1) * to;
      from = to;
    }
    return expected == wanted;
  }

  [[nodiscard]] static Features like(const ClassifierParts& parts) {
    Features features;
    features.shape = parts.input_shape;
    if (parts.sparse) features.offsets = {0};
    return features;
  }

  void make(ClassifierParts& parts, std::size_t outputs, const std::vector<float>& weights,
            const RunContext& context) const {
    parts.network = make_network(parts.spec, like(parts), outputs, 0, context);
    const auto parameters = parts.network->parameters();
    if (parameters.size() != weights.size()) {
      refuse(fmt::format("the network has {} weights, but weights.npy holds {}: the file is damaged", parameters.size(),
                         weights.size()));
    }
    std::copy(weights.begin(), weights.end(), parameters.begin());
    const std::size_t buffers = size(json_.at("network"), "buffers", 0, kMostNumbers);
    if (buffers != parts.network->buffers().size()) {
      refuse(fmt::format("the network has a state of {} numbers beside its weights, not of {}: the file is damaged",
                         parts.network->buffers().size(), buffers));
    }
    if (buffers > 0) parts.network->set_buffers(read_model_numbers<float>(file("buffers.npy"), buffers));
  }

  std::string folder_, path_;
  Json json_;
};

}  // namespace

std::string model_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const std::string& place : {folder, folder + (folder.ends_with('/') ? "model" : "/model")}) {
    if (fs::is_regular_file(place + "/model.json", error)) return place;
  }
  throw Error(
      ErrorCode::io,
      fmt::format("{}: {}: name the folder that wisecrowd learn wrote with `out`, or the model folder in it", folder,
                  fs::is_directory(folder, error) ? "there is no model.json in it"
                  : fs::exists(folder, error)     ? "it is a file, not a folder"
                                                  : "there is no such folder"));
}

void save_classifier(ClassifierParts& parts, const std::string& network_file, const std::string& folder) {
  const auto parameters = parts.network->parameters();
  const auto buffers = parts.network->buffers();
  if (parts.spec.foreign) {
    throw Error(ErrorCode::unsupported, "the network is the caller's own: save it there; it cannot be saved here");
  }
  if (network_file.empty() && !is_native_network(parts.spec.kind)) {
    throw Error(ErrorCode::io,
                fmt::format("{}: cannot be read any more, and the model cannot be saved without it", parts.spec.kind));
  }
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["network"] = {{"kind", network_file.empty() ? parts.spec.kind : kTorchScript},
                     {"hidden", parts.spec.hidden},
                     {"layers", parts.spec.layers},
                     {"dropout", parts.spec.dropout},
                     {"outputs", parts.network->output_size()},
                     {"parameters", parameters.size()},
                     {"buffers", buffers.size()}};
  json["input"] = {{"shape", parts.input_shape}, {"sparse", parts.sparse}};
  json["classes"] = Json::array();
  for (std::size_t k = 0; k < parts.classes.size(); ++k) json["classes"].push_back(std::string(parts.classes[k]));
  json["scaling"] = {{"shift", parts.scaling.shift}, {"factor", parts.scaling.factor}};
  json["features"] = {{"kind", recipe_name(parts.recipe.kind)}};
  if (parts.recipe.kind == FeatureRecipe::Kind::columns) json["features"]["columns"] = parts.recipe.columns;
  if (parts.recipe.kind == FeatureRecipe::Kind::text) json["features"]["words"] = parts.recipe.words.size();
  json["head"] = {{"weights", parts.head.weights.size()},
                  {"matrices", parts.head.matrices.size()},
                  {"biases", parts.head.biases.size()}};

  json["answers"] = save_memory(parts.memory, parts.workers, folder);

  write_model_numbers<float>(folder + "/weights.npy", parameters);
  if (!buffers.empty()) write_model_numbers<float>(folder + "/buffers.npy", buffers);
  if (parts.recipe.kind == FeatureRecipe::Kind::text) {
    write_model_numbers<std::uint64_t>(folder + "/words.npy", parts.recipe.words);
    write_model_numbers<float>(folder + "/rarity.npy", parts.recipe.rarity);
  }
  if (!parts.head.is_softmax()) write_model_numbers<double>(folder + "/head.npy", flat(parts.head));
  if (!network_file.empty()) write_model_bytes(folder + "/network.pt", network_file);
  write_model_bytes(folder + "/model.json", json_text(json));
}

ClassifierParts read_classifier(const std::string& folder, std::string& network_file, const LoadOptions& options,
                                const RunContext& context) {
  return ModelReader(model_folder(folder)).read(network_file, options, context);
}

}  // namespace wisecrowd
