#pragma once

#include "base/picture.hpp"

namespace wisecrowd::picture {

// What the program and the plugin libwisecrowd_png.so say to each other (base/plugin.hpp).

/// To be raised whenever something in this file or in picture.hpp changes its layout.
inline constexpr int kPngInterface = 1;

/// What the program may ask of the plugin.
struct PngPlugin {
  const char* version;
  int interface_number;
  std::string (*draw)(const Picture& picture, double scale);
};

/// The one symbol of the plugin, a function without arguments.
inline constexpr const char* kPngEntryName = "wisecrowd_png_plugin";

}  // namespace wisecrowd::picture
