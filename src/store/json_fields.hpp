#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/cleaning.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/evaluate_comparisons.hpp"
#include "wisecrowd/evaluate_numbers.hpp"
#include "wisecrowd/evaluate_sequences.hpp"
#include "wisecrowd/evaluate_sets.hpp"
#include "wisecrowd/evaluate_similarities.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/learn_result.hpp"
#include "wisecrowd/parameters.hpp"

namespace wisecrowd::store {

// A record is described once, as a function template over a Writer or a Reader that names its fields in the order in
// which they are written:
//
//     template <class Io> void fields(Io& io, Thing& thing) {
//       io.field("version", thing.version);
//       io.field_if(!thing.note.empty(), "note", thing.note);  // written when the condition holds, read when it is
//       there io.object("data", [&](Io& data) { data.field("hash", thing.hash); });
//     }

using Json = nlohmann::ordered_json;

/// A fingerprint, sixteen hexadecimal digits.
struct Hash {
  std::uint64_t value = 0;
};

// How values stand in JSON. Numbers that are not finite are null.
void put(Json& json, const std::string& value);
void put(Json& json, bool value);
void put(Json& json, double value);
void put(Json& json, std::uint64_t value);
void put(Json& json, unsigned value);
void put(Json& json, Hash value);
void put(Json& json, Status value);
void put(Json& json, TieRule value);
void put(Json& json, Severity value);
void put(Json& json, const ParameterValue& value);
void put(Json& json, const Estimate& value);
void put(Json& json, const Evaluation& value);
void put(Json& json, const NumberScore& value);
void put(Json& json, const NumberEvaluation& value);
void put(Json& json, const ComparisonEvaluation& value);
void put(Json& json, const SetClassScore& value);
void put(Json& json, const SetEvaluation& value);
void put(Json& json, const SimilarityEvaluation& value);
void put(Json& json, const TypeScore& value);
void put(Json& json, const SequenceEvaluation& value);
void put(Json& json, const Warning& value);
void put(Json& json, const LeftOutWorker& value);
void put(Json& json, const LearnScore& value);  // without the part, which is its name

void get(const Json& json, std::string& value);
void get(const Json& json, bool& value);
void get(const Json& json, double& value);
void get(const Json& json, std::uint64_t& value);
void get(const Json& json, unsigned& value);
void get(const Json& json, Hash& value);
void get(const Json& json, Status& value);
void get(const Json& json, TieRule& value);
void get(const Json& json, Severity& value);
void get(const Json& json, ParameterValue& value);
void get(const Json& json, Estimate& value);
void get(const Json& json, Evaluation& value);
void get(const Json& json, NumberScore& value);
void get(const Json& json, NumberEvaluation& value);
void get(const Json& json, ComparisonEvaluation& value);
void get(const Json& json, SetClassScore& value);
void get(const Json& json, SetEvaluation& value);
void get(const Json& json, SimilarityEvaluation& value);
void get(const Json& json, TypeScore& value);
void get(const Json& json, SequenceEvaluation& value);
void get(const Json& json, Warning& value);
void get(const Json& json, LeftOutWorker& value);
void get(const Json& json, LearnScore& value);

// What templates need of JSON, so that they stand in a header without it.
void make_list(Json& json);
void make_object(Json& json);
[[nodiscard]] Json& new_item(Json& list);
[[nodiscard]] Json& new_entry(Json& object, const std::string& name);
[[nodiscard]] bool has_entry(const Json& object, const char* name);
[[nodiscard]] bool is_null(const Json& json);
void make_null(Json& json);
/// Throws when there is none.
[[nodiscard]] const Json& entry(const Json& object, const char* name);
[[nodiscard]] std::vector<const Json*> items(const Json& list);
[[nodiscard]] std::vector<std::pair<std::string, const Json*>> entries(const Json& object);

template <class Value>
void put(Json& json, const std::vector<Value>& list) {
  make_list(json);
  for (const Value& value : list) put(new_item(json), value);
}
template <class Value>
void get(const Json& json, std::vector<Value>& list) {
  list.clear();
  for (const Json* item : items(json)) get(*item, list.emplace_back());
}
/// Names and values: an object.
template <class Value>
void put(Json& json, const std::vector<std::pair<std::string, Value>>& list) {
  make_object(json);
  for (const auto& [name, value] : list) put(new_entry(json, name), value);
}
template <class Value>
void get(const Json& json, std::vector<std::pair<std::string, Value>>& list) {
  list.clear();
  for (const auto& [name, value] : entries(json)) get(*value, list.emplace_back(name, Value{}).second);
}
/// null for none.
template <class Value>
void put(Json& json, const std::optional<Value>& value) {
  if (value) {
    put(json, *value);
  } else {
    make_null(json);
  }
}
template <class Value>
void get(const Json& json, std::optional<Value>& value) {
  value.reset();
  if (!is_null(json)) get(json, value.emplace());
}

class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(Json& json) : json_(json) { make_object(json); }

  template <class Value>
  void field(const char* name, const Value& value) {
    put(new_entry(json_, name), value);
  }
  template <class Value>
  void field_if(bool wanted, const char* name, const Value& value) {
    if (wanted) field(name, value);
  }
  template <class Describe>
  void object(const char* name, const Describe& describe) {
    Writer inner(new_entry(json_, name));
    describe(inner);
  }
  template <class Describe>
  void object_if(bool wanted, const char* name, const Describe& describe) {
    if (wanted) object(name, describe);
  }

 private:
  Json& json_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(const Json& json) : json_(json) {}

  template <class Value>
  void field(const char* name, Value& value) {
    get(entry(json_, name), value);
  }
  template <class Value>
  void field_if(bool, const char* name, Value& value) {
    if (has(name)) field(name, value);
  }
  template <class Describe>
  void object(const char* name, const Describe& describe) {
    Reader inner(entry(json_, name));
    describe(inner);
  }
  template <class Describe>
  void object_if(bool, const char* name, const Describe& describe) {
    if (has(name)) object(name, describe);
  }
  [[nodiscard]] bool has(const char* name) const { return has_entry(json_, name); }

 private:
  const Json& json_;
};

}  // namespace wisecrowd::store
