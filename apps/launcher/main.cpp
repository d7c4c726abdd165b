// The program that is called `wisecrowd` where one installation serves all x86-64 processors: it runs the one of its
// siblings that was compiled for the processor at hand (cmake/cpu_levels.cmake). Each of them is a whole program: were
// loops for several processors in one, the linker could choose the copy of an inline function that was compiled for
// another processor, and the program would die of an illegal instruction where nobody has tried it.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Level {
  std::string_view name;
  bool has;  ///< the processor at hand
};

std::array<Level, 3> levels() {
  __builtin_cpu_init();
  return {{{"v4", __builtin_cpu_supports("x86-64-v4") != 0},
           {"v3", __builtin_cpu_supports("x86-64-v3") != 0},
           {"v2", __builtin_cpu_supports("x86-64-v2") != 0}}};
}

[[noreturn]] void fail(const std::string& message) {
  std::cerr << "wisecrowd: error: " << message << '\n';
  std::exit(2);
}

/// The level that was asked for, if the processor has it; else the best that it has.
std::string_view choose(std::string_view asked, std::string_view by) {
  std::string possible;
  for (const Level& level : levels()) {
    if (!level.has) continue;
    if (asked.empty() || asked == level.name) return level.name;
    possible += (possible.empty() ? "" : ", ") + std::string(level.name);
  }
  if (possible.empty())
    fail("this processor is older than x86-64-v2 (it has no SSE4.2): build wisecrowd on it instead");
  fail(std::string(by) + " asks for a processor level that is not to be had here; choose one of: " + possible);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string_view asked, by = "WISECROWD_CPU";
  if (const char* const told = std::getenv("WISECROWD_CPU"); told != nullptr) asked = told;
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--cpu" || first.starts_with("--cpu=")) {
    const std::size_t words = first == "--cpu" ? 2 : 1;
    by = "--cpu";
    if (words == 2 && argc < 3) fail("--cpu needs a level: v2, v3 or v4");
    asked = words == 2 ? std::string_view(argv[2]) : first.substr(6);
    if (asked.empty()) fail("--cpu needs a level: v2, v3 or v4");
    arguments.erase(arguments.begin() + 1, arguments.begin() + 1 + static_cast<std::ptrdiff_t>(words));
  }
  const std::string_view level = choose(asked, by);
  std::error_code error;
  const auto own = std::filesystem::canonical("/proc/self/exe", error).parent_path();
  const std::string program = (own / WISECROWD_PROGRAM_FOLDER / ("wisecrowd-" + std::string(level))).lexically_normal();
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  fail("there is no program for x86-64-" + std::string(level) + " at " + program + ": install wisecrowd again");
}
