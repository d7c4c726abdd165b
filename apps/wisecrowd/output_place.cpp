#include "output_place.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "failure.hpp"
#include "screen_text.hpp"

namespace wisecrowd::app {

void require_place_for(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::filesystem::is_directory(path, error)) {
    throw Failure(EX_CANTCREAT,
                  fmt::format("cannot write to '{}': it is a folder; name a file in it", printable(path)));
  }
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw Failure(EX_CANTCREAT, fmt::format("cannot write to '{}': there is no folder '{}'", printable(path),
                                            printable(folder.string())));
  }
}

}  // namespace wisecrowd::app
