#pragma once

#include <string>

namespace wisecrowd::app {

/// A path and the option or argument that names it.
struct NamedPath {
  std::string name;
  std::string path;
};

/// Refuses, before the work, a file that could not be written, as far as one can tell, and one that should not be: a
/// SQLite database, or, unless `force`, a file that is not empty and that wisecrowd did not write.
void require_place_for(const std::string& path, bool force);

/// Refuses an output that is an input, also through links; a folder that holds one; and a file in a folder that is
/// read, unless it is a report. Standard input ("-") counts as the file behind it.
void refuse_input(const NamedPath& output, const NamedPath& input);

}  // namespace wisecrowd::app
