#include "store/curve_pictures.hpp"

#include <nlohmann/json.hpp>

#include "wisecrowd/error.hpp"

namespace wisecrowd::store {

void write_curve_pictures(const Replay& replay, const std::string& title, OutputFolder& folder, WrittenReplay& written,
                          nlohmann::ordered_json& summary) {
  const auto write = [&](const std::string& name, std::string_view text) {
    OutputFile file = folder.create(name);
    file.append(text);
    file.finish();
    written.files.push_back(name);
  };
  write("curves.svg", replay_svg(replay, title));
  std::string png;
  try {
    png = replay_png(replay, title);
  } catch (const Error& error) {  // hours of replaying are not lost for want of a picture
    written.no_png = error.what();
    summary["no_png"] = written.no_png;
  }
  if (!png.empty()) write("curves.png", png);
}

}  // namespace wisecrowd::store
