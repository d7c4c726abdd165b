#include <fmt/format.h>

#include <algorithm>

#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {

// What each file offers.
#define WISECROWD_PLATFORM(name) \
  namespace name {               \
  Platform platform();           \
  }
#include "ingest/platforms/platforms.def"
#undef WISECROWD_PLATFORM

namespace {

std::vector<Platform> all_platforms() {
  std::vector<Platform> all;
  const auto add = [&](std::string name, Platform platform) {
    std::replace(name.begin(), name.end(), '_', '-');
    platform.info.name = std::move(name);
    platform.info.is_recognised = platform.recognises != nullptr;
    all.push_back(std::move(platform));
  };
#define WISECROWD_PLATFORM(name) add(#name, name::platform());
#include "ingest/platforms/platforms.def"
#undef WISECROWD_PLATFORM
  return all;
}

const std::vector<Platform>& platform_registry() {
  static const std::vector<Platform> all = all_platforms();
  return all;
}

}  // namespace

const Platform& platform_entry(std::string_view name) {
  std::vector<std::string> names;
  for (const Platform& platform : platform_registry()) {
    if (same_name(platform.info.name, name)) return platform;
    names.push_back(platform.info.name);
  }
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no platform '{}': choose {}", printable(name, 60), fmt::join(names, ", ")));
}

const Platform* recognised(const FileHead& head) {
  const Platform* found = nullptr;
  for (const Platform& platform : platform_registry()) {
    if (platform.recognises == nullptr || !platform.recognises(head)) continue;
    if (found != nullptr) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: may be of {} or of {}: say which with `format`, {} or {}", head.name,
                              found->info.title, platform.info.title, found->info.name, platform.info.name));
    }
    found = &platform;
  }
  return found;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

const std::vector<PlatformInfo>& platforms() {
  static const std::vector<PlatformInfo> infos = [] {
    std::vector<PlatformInfo> all;
    for (const auto& platform : ingest::platform_registry()) all.push_back(platform.info);
    return all;
  }();
  return infos;
}

const PlatformInfo& platform_named(std::string_view name) { return ingest::platform_entry(name).info; }

}  // namespace wisecrowd
