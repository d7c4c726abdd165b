#include "ingest/class_column.hpp"

#include <fmt/core.h>

#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {

ClassColumn::ClassColumn(const std::vector<std::string>& given) : given_(!given.empty()) {
  for (const auto& name : given) {
    if (name.empty()) throw Error(ErrorCode::bad_parameter, "the class list has an empty name");
    require_name(name, "the class list: class");
    if (names_.find(name) != Interner::kAbsent) {
      throw Error(ErrorCode::bad_parameter, fmt::format("class '{}' is listed twice", printable(name)));
    }
    names_.intern(name);
  }
  if (names_.size() > kMaxClasses) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} classes are listed; at most {} can be told apart", names_.size(), kMaxClasses));
  }
}

std::uint32_t ClassColumn::add(std::string_view label, const std::string& file) {
  const std::uint32_t code = names_.intern(label);
  if (code >= kMaxClasses) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: more than {} different labels (for example '{}', '{}', '{}'): is this free text or a "
                    "real value? Labels must be classes; check which column is the label",
                    file, kMaxClasses, printable(names_[0], 30), printable(names_[1], 30), printable(names_[2], 30)));
  }
  return code;
}

std::string ClassColumn::listed() const {
  std::vector<std::string> names;
  for (std::uint32_t k = 0; k < names_.size(); ++k) names.emplace_back(names_[k]);
  return shortened_list(names, 12);
}

namespace {

std::vector<std::uint32_t> final_order(const Interner& names, bool given) {
  std::vector<std::string_view> found;
  for (std::uint32_t k = 0; k < names.size(); ++k) found.push_back(names[k]);
  if (!given) return class_order(found);
  std::vector<std::uint32_t> order(found.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
  return order;
}

}  // namespace

std::vector<std::uint16_t> ClassColumn::final_ids() const {
  const auto order = final_order(names_, given_);
  std::vector<std::uint16_t> ids(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ids[order[rank]] = static_cast<std::uint16_t>(rank);
  return ids;
}

NameTable ClassColumn::final_names() const {
  std::vector<std::string> names;
  for (const std::uint32_t code : final_order(names_, given_)) names.emplace_back(names_[code]);
  return NameTable(names);
}

std::uint32_t ChunkClasses::add(std::string_view label, std::uint64_t hash, const ClassColumn& column) {
  // Not remembered: a wrong column could hold millions of different texts.
  if (column.is_given() && column.find(label) == Interner::kAbsent) return kUnknown;
  if ((labels_.size() + 1) * 2 > slots_.size()) {
    std::vector<Slot> larger(slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.code == kEmpty) continue;
      std::size_t at = slot.hash & (larger.size() - 1);
      while (larger[at].code != kEmpty) at = (at + 1) & (larger.size() - 1);
      larger[at] = slot;
    }
    slots_ = std::move(larger);
  }
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].code != kEmpty) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, text_.copy(label), static_cast<std::uint32_t>(labels_.size())};
  labels_.push_back(slots_[at].label);
  return slots_[at].code;
}

void ChunkClasses::merge(ClassColumn& column, const std::string& file) {
  for (std::size_t code = shared_.size(); code < labels_.size(); ++code) {
    const std::uint32_t known = column.find(labels_[code]);
    shared_.push_back(static_cast<std::uint16_t>(known == Interner::kAbsent ? column.add(labels_[code], file) : known));
  }
}

}  // namespace wisecrowd::ingest
