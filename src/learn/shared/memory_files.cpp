#include "learn/shared/memory_files.hpp"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/json_depth.hpp"
#include "base/output_folder.hpp"
#include "learn/shared/model_files.hpp"
#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostNameBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostWorkers = std::uint64_t{1} << 31;
constexpr std::size_t kLongestReason = 1000;

constexpr auto kBasisNames = enum_names<RowSkill::Basis>({{RowSkill::Basis::none, "none"},
                                                          {RowSkill::Basis::columns, "columns"},
                                                          {RowSkill::Basis::projection, "projection"},
                                                          {RowSkill::Basis::regions, "regions"}});

/// Every array of real numbers, by name, in the order of the file. A memory that may change gives arrays that may.
template <class Memory>
auto numbers_of(Memory& m) {
  return std::array{std::pair{"bias", &m.bias},
                    std::pair{"tables", &m.tables},
                    std::pair{"log_weights", &m.log_weights},
                    std::pair{"common", &m.common},
                    std::pair{"gates", &m.gates},
                    std::pair{"row_head", &m.row_head},
                    std::pair{"mixing", &m.mixing},
                    std::pair{"embeddings", &m.embeddings},
                    std::pair{"skill_weights", &m.skill.weights},
                    std::pair{"skill_projection", &m.skill.projection},
                    std::pair{"region_log_weight", &m.skill.regions.log_weight},
                    std::pair{"region_mean", &m.skill.regions.mean},
                    std::pair{"region_variance", &m.skill.regions.variance}};
}

template <class Memory>
auto places_of(Memory& m) {
  return std::array{std::pair{"skill_offsets", &m.skill.offsets}, std::pair{"skill_columns", &m.skill.columns},
                    std::pair{"region_signs", &m.skill.regions.signs}};
}

template <class Number, class Arrays>
Json save_arrays(const Arrays& arrays, const std::string& path) {
  Json sizes = Json::object();
  std::vector<Number> all;
  for (const auto& [name, array] : arrays) {
    if (!array->empty()) sizes[name] = array->size();
    all.insert(all.end(), array->begin(), array->end());
  }
  if (!all.empty()) write_model_numbers<Number>(path, all);
  return sizes;
}

template <class Number, class Arrays>
void read_arrays(const Json& sizes, const Arrays& arrays, const std::string& path) {
  std::uint64_t total = 0;
  std::size_t known = 0;
  std::vector<std::uint64_t> counts;
  for (const auto& [name, array] : arrays) {
    std::uint64_t count = 0;
    if (sizes.contains(name)) {
      const Json& value = sizes.at(name);
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostNumbers / arrays.size()) {
        refuse_model(path, fmt::format("model.json gives no size for '{}' that could be: the folder is damaged", name));
      }
      count = value.get<std::uint64_t>();
      ++known;
    }
    counts.push_back(count);
    total += count;
  }
  if (known != sizes.size()) refuse_model(path, "model.json speaks of numbers that are not known: it is damaged");
  if (total == 0) return;
  const std::vector<Number> all = read_model_numbers<Number>(path, total);
  auto at = all.begin();
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const auto end = at + static_cast<std::ptrdiff_t>(counts[n]);
    arrays[n].second->assign(at, end);
    at = end;
  }
}

NameTable read_names(const std::string& path, std::uint64_t count) {
  const std::string text = read_model_bytes(path, kMostNameBytes);
  if (nests_too_deep(text)) refuse_model(path, "its lists are nested too deeply: it is damaged");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array() || json.size() != count) {
    refuse_model(path, fmt::format("it is no list of the {} workers that model.json speaks of: copy the whole folder "
                                   "again",
                                   count));
  }
  const auto names = json.get<std::vector<std::string>>();
  std::unordered_set<std::string_view> known;
  for (const std::string& name : names) {
    require_name(name, path + ": worker");
    if (!known.insert(name).second) {
      refuse_model(path, fmt::format("worker '{}' is there twice: it is damaged", printable(name.substr(0, 60))));
    }
  }
  return NameTable(names);
}

}  // namespace

Json save_memory(const AnswerMemory& memory, const NameTable& workers, const std::string& folder) {
  if (memory.empty()) return {{"why_none", memory.why_none}};
  Json names = Json::array();
  for (std::size_t j = 0; j < workers.size(); ++j) names.push_back(std::string(workers[j]));
  write_model_bytes(folder + "/workers.json", json_text(names));
  return {{"workers", workers.size()},
          {"answer_power", memory.answer_power},
          {"ceiling", memory.ceiling},
          {"basis", std::string(name_in(kBasisNames, memory.skill.basis))},
          {"width", memory.skill.width},
          {"numbers", save_arrays<double>(numbers_of(memory), folder + "/answers.npy")},
          {"places", save_arrays<std::uint64_t>(places_of(memory), folder + "/answer_places.npy")}};
}

void read_memory(const Json& json, const std::string& folder, AnswerMemory& memory, NameTable& workers) {
  if (json.is_null()) {
    memory.why_none =
        "this model was saved before models kept what they know of workers: train it again with this program";
    return;
  }
  if (json.contains("why_none")) {
    memory.why_none = printable(json.at("why_none").get<std::string>().substr(0, kLongestReason));
    if (memory.why_none.empty()) refuse_model(folder + "/model.json", "'why_none' is empty: the file is damaged");
    return;
  }
  const auto whole = [&](const char* key, std::uint64_t most) {
    const Json& value = json.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
      refuse_model(folder + "/model.json",
                   fmt::format("'{}' of the answer model is no whole number up to {}: the file is damaged", key, most));
    }
    return value.get<std::uint64_t>();
  };
  memory.why_none.clear();
  const std::uint64_t count = whole("workers", kMostWorkers);
  memory.answer_power = json.at("answer_power").get<double>();
  memory.ceiling = json.at("ceiling").get<double>();
  memory.skill.width = whole("width", kMostNumbers);
  const auto basis = json.at("basis").get<std::string>();
  const auto found = find_in(kBasisNames, basis);
  if (!found)
    refuse_model(folder + "/model.json", "the basis of the workers' skills is not known: the file is damaged");
  memory.skill.basis = *found;
  workers = read_names(folder + "/workers.json", count);
  read_arrays<double>(json.at("numbers"), numbers_of(memory), folder + "/answers.npy");
  read_arrays<std::uint64_t>(json.at("places"), places_of(memory), folder + "/answer_places.npy");
}

}  // namespace wisecrowd
