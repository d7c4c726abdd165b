#include "base/plugin.hpp"
#include "base/png_entry.hpp"

// cairo brings fontconfig, the libraries of X11 and a millisecond of start, half of what the program takes by itself.
// So it is behind a plugin that only a PNG loads, and a program without cairo works all the same.

namespace wisecrowd::picture {
namespace {

constexpr PluginKind kKind{.what = "plugin that draws PNG pictures",
                           .file = "libwisecrowd_png.so",
                           .variable = "WISECROWD_PNG_PLUGIN",
                           .entry = kPngEntryName,
                           .remedy = "use the SVG, or install libcairo2-dev"};

}  // namespace

std::string png_plugin_path() { return plugin_path(kKind); }

std::string png_of(const Picture& picture, double scale) {
  static const PngPlugin& plugin = load_plugin<PngPlugin>(kKind, kPngInterface);
  return plugin.draw(picture, scale);
}

}  // namespace wisecrowd::picture
