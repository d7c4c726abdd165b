#include "wisecrowd/live_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/csv_rows.hpp"
#include "base/json_depth.hpp"
#include "base/output_folder.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

// The file begins with a line of JSON. Long lists of numbers stand behind it as little-endian bytes; in the JSON there
// is their place, [first byte, how many bytes].
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "wisecrowd loop";
constexpr int kVersion = 1;

/// What stands behind the JSON.
class Bytes {
 public:
  template <class Number>
  Json put(const std::vector<Number>& numbers) {
    const Json place = {bytes_.size(), numbers.size() * sizeof(Number)};
    bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
    return place;
  }
  [[nodiscard]] const std::string& all() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Takes such a file apart; every error is about this file.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), text_(read_text_file(path_)) {
    end_ = std::min(text_.find('\n'), text_.size());
  }
  [[nodiscard]] std::string_view head() const { return std::string_view(text_).substr(0, end_); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("'{}' is no loop of this program that can be taken up ({}): name another file, or remove it "
                    "to begin anew",
                    path_, what));
  }
  template <class Number>
  [[nodiscard]] std::vector<Number> numbers(const Json& json) const {
    const auto begin = json.at(0).get<std::uint64_t>(), size = json.at(1).get<std::uint64_t>();
    const std::string_view bytes = std::string_view(text_).substr(std::min(end_ + 1, text_.size()));
    if (begin > bytes.size() || size > bytes.size() - begin || size % sizeof(Number) != 0) {
      refuse("a list of numbers is cut off");
    }
    std::vector<Number> list(size / sizeof(Number));
    if (!list.empty()) std::memcpy(list.data(), bytes.data() + begin, size);
    if constexpr (std::is_floating_point_v<Number>) {
      for (const Number value : list) {
        if (!std::isfinite(value)) refuse("a number is not finite");
      }
    }
    return list;
  }

 private:
  std::string path_, text_;
  std::size_t end_ = 0;  // of the JSON
};

Json settings_json(const LiveSettings& settings) {
  const auto values = [](const Parameters& parameters) {
    Json json = Json::object();
    for (const auto& [name, value] : parameters.all()) {
      json[name] =
          std::holds_alternative<double>(value) ? fmt::format("{:.17g}", std::get<double>(value)) : to_string(value);
    }
    return json;
  };
  return {{"policy", settings.policy},
          {"loop", values(settings.loop)},
          {"model", values(settings.model)},
          {"network",
           {{"kind", settings.network.kind},
            {"hidden", settings.network.hidden},
            {"layers", settings.network.layers},
            {"dropout", settings.network.dropout}}}};
}

LiveSettings settings_from(const Json& json, const Reader& reader) {
  LiveSettings settings;
  settings.policy = json.at("policy").get<std::string>();
  if (!is_live_policy(settings.policy)) reader.refuse("its policy is unknown");
  settings.model = Parameters(learning_method("dalc").parameters);
  for (const auto& [name, value] : json.at("loop").items()) settings.loop.set(name, value.get<std::string>());
  for (const auto& [name, value] : json.at("model").items()) settings.model.set(name, value.get<std::string>());
  const Json& network = json.at("network");
  settings.network.kind = network.at("kind").get<std::string>();
  settings.network.hidden = network.at("hidden").get<std::size_t>();
  settings.network.layers = network.at("layers").get<std::size_t>();
  settings.network.dropout = network.at("dropout").get<double>();
  validate(settings.network);
  return settings;
}

Json recipe_json(const FeatureRecipe& recipe, Bytes& bytes) {
  return {{"kind", static_cast<int>(recipe.kind)},
          {"columns", recipe.columns},
          {"words", bytes.put(recipe.words)},
          {"rarity", bytes.put(recipe.rarity)}};
}

FeatureRecipe recipe_from(const Json& json, const Reader& reader) {
  FeatureRecipe recipe;
  const int kind = json.at("kind").get<int>();
  if (kind < 0 || kind > static_cast<int>(FeatureRecipe::Kind::text))
    reader.refuse("its features are of no known kind");
  recipe.kind = static_cast<FeatureRecipe::Kind>(kind);
  recipe.columns = json.at("columns").get<std::vector<std::string>>();
  recipe.words = reader.numbers<std::uint64_t>(json.at("words"));
  recipe.rarity = reader.numbers<float>(json.at("rarity"));
  if (recipe.words.size() != recipe.rarity.size()) reader.refuse("words and their weights differ in number");
  return recipe;
}

Json session_json(const LiveMemory& memory, Bytes& bytes) {
  const DalcMemory& session = memory.session;
  std::vector<std::uint32_t> task, worker, label;
  for (const CategoryAnswer& answer : session.past) {
    task.push_back(static_cast<std::uint32_t>(index(answer.task)));
    worker.push_back(static_cast<std::uint32_t>(index(answer.worker)));
    label.push_back(static_cast<std::uint32_t>(index(answer.label)));
  }
  return {{"trained", session.trained},
          {"weights", bytes.put(session.weights)},
          {"buffers", bytes.put(session.buffers)},
          {"shift", bytes.put(session.scaling.shift)},
          {"factor", bytes.put(session.scaling.factor)},
          {"past_task", bytes.put(task)},
          {"past_worker", bytes.put(worker)},
          {"past_label", bytes.put(label)},
          {"past_right", bytes.put(session.past_right)},
          {"shared", bytes.put(session.shared)},
          {"own_offset", bytes.put(session.own_offset)},
          {"own", bytes.put(session.own)},
          {"own_columns", bytes.put(session.own_columns)},
          {"tasks", memory.tasks},
          {"workers", memory.workers}};
}

/// Whatever counts something is within it: the file may come from anywhere.
void read_session(const Json& json, const Reader& reader, LiveMemory& memory) {
  DalcMemory& session = memory.session;
  memory.tasks = json.at("tasks").get<std::vector<std::string>>();
  memory.workers = json.at("workers").get<std::vector<std::string>>();
  session.trained = json.at("trained").get<bool>();
  session.weights = reader.numbers<float>(json.at("weights"));
  session.buffers = reader.numbers<float>(json.at("buffers"));
  session.scaling.shift = reader.numbers<float>(json.at("shift"));
  session.scaling.factor = reader.numbers<float>(json.at("factor"));
  session.past_right = reader.numbers<double>(json.at("past_right"));
  session.shared = reader.numbers<double>(json.at("shared"));
  session.own_offset = reader.numbers<std::uint64_t>(json.at("own_offset"));
  session.own = reader.numbers<double>(json.at("own"));
  session.own_columns = reader.numbers<std::uint32_t>(json.at("own_columns"));
  const auto task = reader.numbers<std::uint32_t>(json.at("past_task"));
  const auto worker = reader.numbers<std::uint32_t>(json.at("past_worker"));
  const auto label = reader.numbers<std::uint32_t>(json.at("past_label"));
  if (task.size() != worker.size() || task.size() != label.size() || task.size() != session.past_right.size()) {
    reader.refuse("answers of the past are cut off");
  }
  for (std::size_t a = 0; a < task.size(); ++a) {
    if (task[a] >= memory.tasks.size() || worker[a] >= memory.workers.size() || label[a] >= memory.classes.size()) {
      reader.refuse("an answer of the past is of nobody");
    }
    session.past.push_back({TaskId(task[a]), WorkerId(worker[a]), ClassId(static_cast<std::uint16_t>(label[a]))});
  }
  const auto& offset = session.own_offset;
  if (offset.size() != memory.workers.size() + 1 || offset.front() != 0 || offset.back() != session.own.size() ||
      !std::is_sorted(offset.begin(), offset.end()) ||
      (!session.own_columns.empty() && session.own_columns.size() != session.own.size())) {
    reader.refuse("reliabilities of workers are cut off");
  }
}

Json questions_json(const std::vector<PendingQuestion>& questions) {
  Json list = Json::array();
  for (const PendingQuestion& q : questions) list.push_back({q.task, q.worker, q.cost, q.asked_at, q.given_up});
  return list;
}

LiveMemory memory_from(const Json& json, const Reader& reader) {
  if (!json.is_object() || json.value("format", "") != kFormat) reader.refuse("it was not written by wisecrowd");
  if (json.at("version").get<int>() != kVersion) reader.refuse("it is of another version of the program");
  LiveMemory memory;
  memory.began = json.at("began").get<bool>();
  memory.settings = settings_from(json.at("settings"), reader);
  memory.classes = json.at("classes").get<std::vector<std::string>>();
  memory.recipe = recipe_from(json.at("recipe"), reader);
  memory.round = json.at("round").get<std::uint64_t>();
  memory.asked_in_round = json.at("asked_in_round").get<std::uint64_t>();
  memory.answers_seen = json.at("answers_seen").get<std::uint64_t>();
  memory.answered = json.at("answered").get<std::uint64_t>();
  memory.given_up = json.at("given_up").get<std::uint64_t>();
  memory.spent = json.at("spent").get<double>();
  memory.refunded = json.at("refunded").get<double>();
  for (const Json& q : json.at("pending")) {
    memory.pending.push_back({q.at(0).get<std::string>(), q.at(1).get<std::string>(), q.at(2).get<double>(),
                              q.at(3).get<std::int64_t>(), q.at(4).get<bool>()});
  }
  if (memory.began) read_session(json.at("session"), reader, memory);
  return memory;
}

}  // namespace

void write_live_memory(const LiveMemory& memory, const std::string& path) {
  Bytes bytes;
  Json json = {{"format", kFormat},
               {"version", kVersion},
               {"program", WISECROWD_VERSION},
               {"began", memory.began},
               {"settings", settings_json(memory.settings)},
               {"classes", memory.classes},
               {"recipe", recipe_json(memory.recipe, bytes)},
               {"round", memory.round},
               {"asked_in_round", memory.asked_in_round},
               {"answers_seen", memory.answers_seen},
               {"answered", memory.answered},
               {"given_up", memory.given_up},
               {"spent", memory.spent},
               {"refunded", memory.refunded},
               {"pending", questions_json(memory.pending)}};
  if (memory.began) json["session"] = session_json(memory, bytes);
  // Names that are no UTF-8 would be refused or changed: all names of a state are.
  write_file_whole(path, json.dump() + "\n" + bytes.all());
}

LiveMemory read_live_memory(const std::string& path) {
  const Reader reader(path);
  if (nests_too_deep(reader.head())) reader.refuse("its lists are nested too deeply");
  try {
    return memory_from(Json::parse(reader.head()), reader);
  } catch (const Json::exception&) {
    reader.refuse("its contents cannot be understood");
  } catch (const Error& problem) {
    if (problem.code() != ErrorCode::bad_parameter) throw;
    reader.refuse(problem.what());
  }
}

LiveMemory begin_or_resume(const LiveSettings& given, const std::string& path, bool& resumes) {
  std::error_code ignored;
  resumes = std::filesystem::exists(path, ignored);
  if (!resumes) {
    LiveMemory memory;
    memory.settings = given;
    return memory;
  }
  LiveMemory memory = read_live_memory(path);
  const LiveSettings& kept = memory.settings;
  const auto check = [&](std::string_view name, const auto& value, const auto& usual, const auto& was) {
    if (value == usual || value == was) return;
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("the loop in '{}' began with {}={}: leave that as it is, or name another file for a new loop", path,
                    name, was));
  };
  check("policy", given.policy, std::string(), kept.policy);
  for (const auto& [now, then, specs] :
       {std::tuple(&given.loop, &kept.loop, std::span<const ParameterSpec>(live_loop_parameters())),
        std::tuple(&given.model, &kept.model, std::span<const ParameterSpec>(learning_method("dalc").parameters))}) {
    const Parameters usual(specs);
    for (const auto& [name, value] : now->all()) {
      check(name, to_string(value), to_string(usual.all().at(name)), to_string(then->all().at(name)));
    }
  }
  const NetworkSpec usual;
  check("network", given.network.kind, usual.kind, kept.network.kind);
  check("hidden", given.network.hidden, usual.hidden, kept.network.hidden);
  check("layers", given.network.layers, usual.layers, kept.network.layers);
  check("dropout", given.network.dropout, usual.dropout, kept.network.dropout);
  return memory;
}

}  // namespace wisecrowd
