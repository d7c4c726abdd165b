#pragma once

#include <string>
#include <string_view>

#include "wisecrowd/version.hpp"

namespace wisecrowd {

// Libraries that are slow to load, or that not every machine has, stay outside the program: plugins of ours hold the
// code that needs them, and are loaded when somebody asks for what they do. Program and plugin are built from the same
// tree by the same compiler, so classes and exceptions may cross; version and interface number refuse any other.

/// One plugin, told by its names.
struct PluginKind {
  const char* what;      ///< as errors call it: "libtorch plugin"
  const char* file;      ///< "libwisecrowd_torch.so"
  const char* variable;  ///< of the environment; names the file outright
  const char* entry;     ///< its one symbol, a function that returns a pointer to what it offers
  const char* remedy;    ///< what to do where there is none: "install libtorch-dev"
};

/// Where the plugin is: where the variable says, beside this program or library, or where it is installed. Empty when
/// there is none. Does not load it.
[[nodiscard]] std::string plugin_path(const PluginKind& kind);

/// The entry of the plugin, which is loaded for good; null if the file has no such symbol. Throws `unsupported` when
/// there is no plugin or it cannot be loaded.
[[nodiscard]] void* plugin_entry(const PluginKind& kind);

/// Throws `unsupported`: what was loaded is not this plugin, or belongs to another version.
[[noreturn]] void refuse_plugin(const PluginKind& kind);

/// What the plugin offers: a struct that begins with `version` and `interface_number`. It lives as long as the process.
template <class Plugin, class... Arguments>
const Plugin& load_plugin(const PluginKind& kind, int interface_number, Arguments... arguments) {
  const auto entry = reinterpret_cast<const Plugin* (*)(Arguments...)>(plugin_entry(kind));
  const Plugin* const plugin = entry == nullptr ? nullptr : entry(arguments...);
  if (plugin == nullptr || plugin->interface_number != interface_number ||
      std::string_view(plugin->version) != WISECROWD_VERSION) {
    refuse_plugin(kind);
  }
  return *plugin;
}

}  // namespace wisecrowd
