#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/output_folder.hpp"
#include "learn/shared/classifier.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "wisecrowd model";
constexpr int kVersion = 1;
constexpr const char* kTorchScript = "torchscript";

const char* recipe_name(FeatureRecipe::Kind kind) {
  switch (kind) {
    case FeatureRecipe::Kind::array: return "npy";
    case FeatureRecipe::Kind::columns: return "columns";
    case FeatureRecipe::Kind::text: return "text";
  }
  return "";
}

template <class Number>
constexpr const char* npy_type() {
  if constexpr (std::is_same_v<Number, float>) return "<f4";
  if constexpr (std::is_same_v<Number, double>) return "<f8";
  return "<u8";
}

/// The beginning of an .npy file with so many numbers in a row. It is the same bytes for the same number, so reading
/// back is a comparison.
template <class Number>
std::string npy_header(std::size_t count) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", npy_type<Number>(), count);
  constexpr std::size_t kBefore = 10, kAlign = 64;
  text.append(kAlign - 1 - (kBefore + text.size()) % kAlign, ' ');
  text += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(text.size() & 0xFF);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

void write_bytes(const std::string& folder, const std::string& name, std::string_view bytes) {
  const std::string path = folder + "/" + name;
  OutputFile file(path, path);
  file.append(bytes);
  file.finish();
}

template <class Number>
void write_numbers(const std::string& folder, const std::string& name, std::span<const Number> numbers) {
  const std::string path = folder + "/" + name;
  OutputFile file(path, path);
  file.append(npy_header<Number>(numbers.size()));
  file.append({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  file.finish();
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", path, what));
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io, fmt::format("{}: cannot be opened: the model is not complete", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Number>
std::vector<Number> read_numbers(const std::string& folder, const std::string& name, std::size_t count) {
  const std::string path = folder + "/" + name;
  const std::string bytes = read_bytes(path);
  const std::string head = npy_header<Number>(count);
  if (!bytes.starts_with(head)) {
    refuse(path,
           fmt::format("this is not the array of {} numbers that model.json speaks of: copy the whole folder again",
                       count));
  }
  if (bytes.size() != head.size() + count * sizeof(Number)) {
    refuse(path, fmt::format("the file has {} bytes instead of {}: it was cut off, copy it again", bytes.size(),
                             head.size() + count * sizeof(Number)));
  }
  std::vector<Number> numbers(count);
  std::memcpy(numbers.data(), bytes.data() + head.size(), count * sizeof(Number));
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::all_of(numbers.begin(), numbers.end(), [](Number x) { return std::isfinite(x); })) {
      refuse(path, "it holds a number that is not finite: the file is damaged");
    }
  }
  return numbers;
}

/// Weights, matrices and biases one after the other.
std::vector<double> flat(const OutputHead& head) {
  std::vector<double> numbers = head.weights;
  numbers.insert(numbers.end(), head.matrices.begin(), head.matrices.end());
  numbers.insert(numbers.end(), head.biases.begin(), head.biases.end());
  return numbers;
}

OutputHead read_head(const Json& json, const std::string& folder) {
  OutputHead head;
  const auto weights = json.at("weights").get<std::size_t>(), matrices = json.at("matrices").get<std::size_t>(),
             biases = json.at("biases").get<std::size_t>();
  if (weights == 0) return head;
  const auto numbers = read_numbers<double>(folder, "head.npy", weights + matrices + biases);
  auto at = numbers.begin();
  const auto take = [&](std::size_t count) {
    const auto begin = at;
    at += static_cast<std::ptrdiff_t>(count);
    return std::vector<double>(begin, at);
  };
  head.weights = take(weights);
  head.matrices = take(matrices);
  head.biases = take(biases);
  return head;
}

FeatureRecipe read_recipe(const Json& json, const std::string& folder) {
  FeatureRecipe recipe;
  const auto kind = json.at("kind").get<std::string>();
  if (kind == recipe_name(FeatureRecipe::Kind::columns)) {
    recipe.kind = FeatureRecipe::Kind::columns;
    recipe.columns = json.at("columns").get<std::vector<std::string>>();
  } else if (kind == recipe_name(FeatureRecipe::Kind::text)) {
    recipe.kind = FeatureRecipe::Kind::text;
    const auto words = json.at("words").get<std::size_t>();
    recipe.words = read_numbers<std::uint64_t>(folder, "words.npy", words);
    recipe.rarity = read_numbers<float>(folder, "rarity.npy", words);
    if (!std::is_sorted(recipe.words.begin(), recipe.words.end())) {
      refuse(folder + "/words.npy", "its numbers are out of order: the file is damaged");
    }
  } else if (kind != recipe_name(FeatureRecipe::Kind::array)) {
    refuse(folder + "/model.json", fmt::format("features of the kind '{}' are not known", kind));
  }
  return recipe;
}

/// A damaged file must not make us ask for more memory than its weights would fill.
bool fits(const NetworkSpec& spec, std::size_t columns, std::size_t outputs, std::size_t weights) {
  if (spec.kind != "linear" && spec.kind != "mlp") return true;
  double expected = 0;
  auto from = static_cast<double>(columns);
  const std::size_t layers = spec.kind == "mlp" ? spec.layers : 0;
  for (std::size_t layer = 0; layer <= layers && expected <= static_cast<double>(weights); ++layer) {
    const auto to = static_cast<double>(layer == layers ? outputs : spec.hidden);
    expected += (from + 1) * to;
    from = to;
  }
  return expected == static_cast<double>(weights);
}

/// The folder itself, or the model in a folder of results.
std::string model_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const std::string& place : {folder, folder + (folder.ends_with('/') ? "model" : "/model")}) {
    if (fs::is_regular_file(place + "/model.json", error)) return place;
  }
  throw Error(
      ErrorCode::io,
      fmt::format("{}: {}: name the folder that 'wisecrowd learn --out' wrote, or the model folder in it", folder,
                  fs::is_directory(folder, error) ? "there is no model.json in it"
                  : fs::exists(folder, error)     ? "it is a file, not a folder"
                                                  : "there is no such folder"));
}

}  // namespace

void save_classifier(ClassifierParts& parts, const std::string& network_file, const std::string& folder) {
  const auto parameters = parts.network->parameters();
  const auto buffers = parts.network->buffers();
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

  write_numbers<float>(folder, "weights.npy", parameters);
  if (!buffers.empty()) write_numbers<float>(folder, "buffers.npy", buffers);
  if (parts.recipe.kind == FeatureRecipe::Kind::text) {
    write_numbers<std::uint64_t>(folder, "words.npy", parts.recipe.words);
    write_numbers<float>(folder, "rarity.npy", parts.recipe.rarity);
  }
  if (!parts.head.is_softmax()) write_numbers<double>(folder, "head.npy", flat(parts.head));
  if (!network_file.empty()) write_bytes(folder, "network.pt", network_file);
  write_bytes(folder, "model.json", json_text(json));
}

ClassifierParts read_classifier(const std::string& given, std::string& network_file, const RunContext& context) {
  const std::string folder = model_folder(given);
  const std::string path = folder + "/model.json";
  const Json json = Json::parse(read_bytes(path), nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    refuse(path, "this is no model of wisecrowd, or it is damaged");
  }
  if (json.value("version", Json()) != kVersion) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: version {} of the format is not known; this program reads version {}: use the program "
                            "that wrote the model, or train it again",
                            path, json.value("version", Json()).dump(), kVersion));
  }
  try {
    ClassifierParts parts;
    const Json& network = json.at("network");
    parts.spec.kind = network.at("kind").get<std::string>();
    parts.spec.hidden = network.at("hidden").get<std::size_t>();
    parts.spec.layers = network.at("layers").get<std::size_t>();
    parts.spec.dropout = network.at("dropout").get<double>();
    parts.input_shape = json.at("input").at("shape").get<std::vector<std::size_t>>();
    parts.sparse = json.at("input").at("sparse").get<bool>();
    parts.classes = NameTable(json.at("classes").get<std::vector<std::string>>());
    parts.scaling.shift = json.at("scaling").at("shift").get<std::vector<float>>();
    parts.scaling.factor = json.at("scaling").at("factor").get<std::vector<float>>();
    parts.recipe = read_recipe(json.at("features"), folder);
    parts.head = read_head(json.at("head"), folder);
    const auto outputs = network.at("outputs").get<std::size_t>();
    const auto weights = read_numbers<float>(folder, "weights.npy", network.at("parameters").get<std::size_t>());
    if (parts.spec.kind == kTorchScript) {
      parts.spec.kind = folder + "/network.pt";
      network_file = read_bytes(parts.spec.kind);
    }
    Features like;
    like.shape = parts.input_shape;
    if (parts.sparse) like.offsets = {0};
    const std::size_t columns = like.columns();
    if (columns == 0 || parts.scaling.shift.size() > columns ||
        parts.scaling.shift.size() != parts.scaling.factor.size() ||
        !fits(parts.spec, columns, outputs, weights.size())) {
      refuse(path, "its sizes do not fit the weights: the file is damaged");
    }
    parts.network = make_network(parts.spec, like, outputs, 0, context);
    const auto parameters = parts.network->parameters();
    if (parameters.size() != weights.size()) {
      refuse(path, fmt::format("the network has {} weights, but weights.npy holds {}: the file is damaged",
                               parameters.size(), weights.size()));
    }
    std::copy(weights.begin(), weights.end(), parameters.begin());
    const auto buffers = network.at("buffers").get<std::size_t>();
    if (buffers > 0) parts.network->set_buffers(read_numbers<float>(folder, "buffers.npy", buffers));
    parts.head.require_fit(outputs, parts.classes.size());
    return parts;
  } catch (const nlohmann::json::exception& error) {
    refuse(path, fmt::format("an entry is missing or of the wrong kind ({}): the file is damaged", error.what()));
  }
}

}  // namespace wisecrowd
