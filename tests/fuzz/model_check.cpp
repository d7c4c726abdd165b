#include "fuzz/model_check.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "learn/shared/model_files.hpp"
#include "wisecrowd/answered_rows.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::fuzz {
namespace {

namespace fs = std::filesystem;

/// A folder of this process, in memory where the system has such a place.
class Folder {
 public:
  Folder() {
    const fs::path base = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string pattern = (base / "wisecrowd-model-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for models");
    path_ = pattern;
    fs::create_directory(path_ / "again");
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void clear() const {
    for (const char* name : {"model.json", "weights.npy", "buffers.npy", "words.npy", "rarity.npy", "head.npy",
                             "answers.npy", "answer_places.npy", "workers.json"}) {
      fs::remove(path(name));
      fs::remove(path(std::string("again/") + name));
    }
  }

 private:
  fs::path path_;
};

/// An array as model.json speaks of it, so that small changes of the JSON are not all refused for the size of a file.
template <class Number>
std::string array(const nlohmann::json& count, double first, double step) {
  constexpr std::uint64_t kMost = 5000;
  if (!count.is_number_unsigned() || count.get<std::uint64_t>() > kMost) return {};
  std::string bytes = model_array_header<Number>(count.get<std::uint64_t>());
  for (std::uint64_t i = 0; i < count.get<std::uint64_t>(); ++i) {
    const auto number = static_cast<Number>(first + step * static_cast<double>(i));
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

/// Whatever the JSON does not have is null.
const nlohmann::json& entry(const nlohmann::json& json, const char* group, const char* name) {
  static const nlohmann::json kNone;
  if (!json.is_object() || !json.contains(group) || !json[group].is_object() || !json[group].contains(name))
    return kNone;
  return json[group][name];
}

void write_arrays(const Folder& folder, const nlohmann::json& json) {
  folder.write("weights.npy", array<float>(entry(json, "network", "parameters"), -1, 0.01));
  folder.write("buffers.npy", array<float>(entry(json, "network", "buffers"), 1, 0));
  folder.write("words.npy", array<std::uint64_t>(entry(json, "features", "words"), 1, 7));
  folder.write("rarity.npy", array<float>(entry(json, "features", "words"), 1, 0.1));
  std::uint64_t sum = 0;
  for (const char* name : {"weights", "matrices", "biases"}) {
    const nlohmann::json& count = entry(json, "head", name);
    if (count.is_number_unsigned()) sum += count.get<std::uint64_t>();  // may wrap: that is what an attacker wants
  }
  folder.write("head.npy", array<double>(sum, 1, -1));
  const auto total = [&](const char* group) {
    std::uint64_t all = 0;
    const nlohmann::json& counts = entry(json, "answers", group);
    if (!counts.is_object()) return all;
    for (const nlohmann::json& count : counts) all += count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
    return all;
  };
  folder.write("answers.npy", array<double>(total("numbers"), 0.5, 0));
  folder.write("answer_places.npy", array<std::uint64_t>(total("places"), 0, 1));
  const nlohmann::json& workers = entry(json, "answers", "workers");
  nlohmann::json names = nlohmann::json::array();
  if (workers.is_number_unsigned() && workers.get<std::uint64_t>() < 100) {
    for (std::uint64_t j = 0; j < workers.get<std::uint64_t>(); ++j) names.push_back(fmt::format("w{}", j));
  }
  folder.write("workers.json", names.dump());
}

/// What the model says with an answer by every worker to every row, and how far it trusts them.
std::vector<double> with_answers(const Classifier& model, const Features& rows, const RunContext& context) {
  if (!why_no_workers(model).empty()) return {};
  std::vector<RowAnswer> answers;
  std::vector<RowWorker> pairs;
  for (std::uint32_t row = 0; row < rows.rows; ++row) {
    for (std::size_t j = 0; j < known_workers(model).size(); ++j) {
      answers.push_back({row, WorkerId(j), ClassId((row + j) % model.class_count())});
      pairs.push_back({row, WorkerId(j)});
    }
  }
  std::vector<double> said = posterior(model, rows, answers, context);
  const std::vector<double> trusted = reliability(model, rows, pairs, context);
  said.insert(said.end(), trusted.begin(), trusted.end());
  return said;
}

/// Rows as the model wants them, made of its own saved JSON.
Features rows_for(const nlohmann::json& json) {
  Features features;
  features.rows = 3;
  features.shape = json["input"]["shape"].get<std::vector<std::size_t>>();
  if (json["input"]["sparse"].get<bool>()) {
    features.offsets = {0, 1, 1, 2};
    features.indices = {0, static_cast<std::uint32_t>(features.columns() - 1)};
    features.values = {1, -2};
  } else {
    features.dense.assign(3 * features.columns(), 0.5F);
  }
  return features;
}

}  // namespace

void check_model(std::string_view bytes) {
  static const Folder folder;
  static const RunContext context({.threads = 1});
  folder.clear();
  // model.json, then perhaps a line "--NAME" and what stands in that file.
  const auto cut = bytes.find("\n--");
  const std::string_view text = bytes.substr(0, cut);
  folder.write("model.json", text);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  write_arrays(folder, json);
  if (cut != std::string_view::npos) {
    const std::string_view rest = bytes.substr(cut + 3);
    const auto line = rest.find('\n');
    for (const char* name : {"weights.npy", "buffers.npy", "words.npy", "rarity.npy", "head.npy", "answers.npy",
                             "answer_places.npy", "workers.json"}) {
      if (line != std::string_view::npos && rest.substr(0, line) == name) folder.write(name, rest.substr(line + 1));
    }
  }
  std::shared_ptr<const Classifier> model;
  std::vector<double> probabilities, answered;
  try {
    model = load_classifier(folder.path(""), context);
    if (entry(json, "network", "kind") == "cnn") return;  // loads libtorch: not here
    probabilities = model->predict(rows_for(json), context);
    answered = with_answers(*model, rows_for(json), context);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw std::logic_error(error.what());
    return;
  }
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (std::size_t k = 0; k < model->class_count(); ++k) sum += probabilities[r * model->class_count() + k];
    if (!(std::abs(sum - 1) < 1e-5)) throw std::logic_error(fmt::format("probabilities of a row sum to {}", sum));
  }
  model->save(folder.path("again"));
  const auto again = load_classifier(folder.path("again"), context);
  if (again->predict(rows_for(json), context) != probabilities ||
      with_answers(*again, rows_for(json), context) != answered) {
    throw std::logic_error("the model says something else when it was saved and read again");
  }
}

}  // namespace wisecrowd::fuzz
