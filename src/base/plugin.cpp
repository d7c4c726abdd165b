#include "base/plugin.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

/// The folder of the program, or of the shared library, that this code is in.
fs::path own_folder() {
  Dl_info info{};
  link_map* object = nullptr;
  std::error_code error;
  const bool known = dladdr1(reinterpret_cast<const void*>(&plugin_path), &info, reinterpret_cast<void**>(&object),
                             RTLD_DL_LINKMAP) != 0;
  // The main program has no name here; what it was called by need not be a path.
  const bool in_library = known && object != nullptr && object->l_name != nullptr && *object->l_name != '\0';
  return fs::canonical(in_library ? object->l_name : "/proc/self/exe", error).parent_path();
}

}  // namespace

std::string plugin_path(const PluginKind& kind) {
  std::error_code error;
  if (const char* const told = std::getenv(kind.variable); told != nullptr && *told != '\0') return told;
  const fs::path own = own_folder();
  for (const fs::path& folder : {own, own / WISECROWD_PLUGIN_FOLDER}) {
    if (fs::exists(folder / kind.file, error)) return (folder / kind.file).string();
  }
  return {};
}

void* plugin_entry(const PluginKind& kind) {
  const std::string path = plugin_path(kind);
  if (path.empty()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("this installation has no {} ({}): {}, configure and build again (`./run learn` and "
                            "`./run select` in a checkout do that), or say in {} where the plugin is",
                            kind.what, kind.file, kind.remedy, kind.variable));
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the {} cannot be loaded: {} (plugin: {})", kind.what, dlerror(), path));
  }
  return dlsym(library, kind.entry);
}

void refuse_plugin(const PluginKind& kind) {
  throw Error(ErrorCode::unsupported,
              fmt::format("{}: is not the {} of wisecrowd {}; build or install program and plugin together",
                          plugin_path(kind), kind.what, WISECROWD_VERSION));
}

}  // namespace wisecrowd
