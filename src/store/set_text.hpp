#pragma once

#include <span>
#include <string>
#include <vector>

#include "wisecrowd/answer_graph.hpp"

namespace wisecrowd::store {

/// Sets as text that read_sets understands: `a|b`, or JSON lists where some name would not come back as it is. The
/// empty set is `[]`.
class SetText {
 public:
  explicit SetText(const NameTable& classes);
  [[nodiscard]] std::string of(std::span<const ClassId> set) const;

 private:
  bool plain_ = true;
  std::vector<std::string> names_;  ///< as they stand in the text
};

}  // namespace wisecrowd::store
