#pragma once

#include <string>
#include <vector>

#include "wisecrowd/parameters.hpp"

namespace wisecrowd {

/// What everything that is chosen by name (methods, learners, selectors) says about itself.
struct EntryInfo {
  std::string name;  ///< as on the command line; unique among its like, methods of all kinds of answers together
  std::string title;
  std::string summary;  ///< one sentence
  std::string when_to_use;
  std::string reference;  ///< the paper
  std::vector<ParameterSpec> parameters;
  bool uses_gold = false;   ///< known truth is part of the work
  std::string assumptions;  ///< what must hold for it to be right, one sentence
  std::string cost;         ///< time per iteration and memory, in answers S, tasks N, workers M, classes K
};

}  // namespace wisecrowd
