// libwisecrowd_png.so: a picture drawn by cairo (base/png_entry.hpp).
#include <cairo-ft.h>
#include <cairo.h>
#include <fontconfig/fontconfig.h>

#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "base/png_entry.hpp"
#include "base/utf8.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::picture {
namespace {

/// Owns what a C library handed out; `Free` gives it back.
template <auto Free>
struct GiveBack {
  template <class T>
  void operator()(T* held) const {
    Free(held);
  }
};
template <class T, auto Free>
using Held = std::unique_ptr<T, GiveBack<Free>>;

using Surface = Held<cairo_surface_t, cairo_surface_destroy>;
using Pen = Held<cairo_t, cairo_destroy>;
using FontOptions = Held<cairo_font_options_t, cairo_font_options_destroy>;
using Face = Held<cairo_font_face_t, cairo_font_face_destroy>;
using Pattern = Held<FcPattern, FcPatternDestroy>;
using Characters = Held<FcCharSet, FcCharSetDestroy>;

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  throw Error(ErrorCode::unsupported,
              std::string("the PNG cannot be drawn: cairo says: ") + cairo_status_to_string(status));
}

/// The same letters for everybody who has the same font: nothing of a screen's settings.
FontOptions font_options() {
  FontOptions options(cairo_font_options_create());
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  return options;
}

/// The sans-serif font that has most of the characters of the text. cairo by itself would take one font for all texts,
/// which shows boxes for scripts that it does not have.
Face face_for(const std::string& text, bool bold, const cairo_font_options_t* options) {
  Pattern wanted(FcPatternCreate());
  Characters characters(FcCharSetCreate());
  if (!wanted || !characters) throw std::bad_alloc();
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character c = first_character(rest);
    FcCharSetAddChar(characters.get(), c.code);
    rest.remove_prefix(c.bytes);
  }
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
  FcPatternAddInteger(wanted.get(), FC_WEIGHT, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_NORMAL);
  FcPatternAddBool(wanted.get(), FC_COLOR, FcFalse);
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, characters.get());
  FcConfigSubstitute(nullptr, wanted.get(), FcMatchPattern);
  cairo_ft_font_options_substitute(options, wanted.get());
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultNoMatch;
  const Pattern found(FcFontMatch(nullptr, wanted.get(), &result));
  if (found) return Face(cairo_ft_font_face_create_for_pattern(found.get()));
  // A machine without any font: cairo has plain letters of its own.
  return Face(cairo_toy_font_face_create("sans-serif", CAIRO_FONT_SLANT_NORMAL,
                                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL));
}

class Drawing {
 public:
  Drawing(const Picture& picture, double scale)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(picture.width * scale)),
                                            static_cast<int>(std::lround(picture.height * scale)))),
        pen_(cairo_create(surface_.get())),
        options_(font_options()) {
    check(cairo_status(pen_.get()));
    cairo_set_source_rgb(pen_.get(), 1, 1, 1);
    cairo_paint(pen_.get());
    cairo_scale(pen_.get(), scale, scale);
    cairo_set_font_options(pen_.get(), options_.get());
  }

  void add(const Layer& layer) {
    cairo_save(pen_.get());
    if (layer.clip) {
      cairo_rectangle(pen_.get(), layer.clip->x, layer.clip->y, layer.clip->width, layer.clip->height);
      cairo_clip(pen_.get());
    }
    for (const Mark& mark : layer.marks) {
      std::visit([this](const auto& kind) { add(kind); }, mark);
    }
    cairo_restore(pen_.get());
  }

  [[nodiscard]] std::string png() const {
    check(cairo_status(pen_.get()));
    std::string bytes;
    check(cairo_surface_write_to_png_stream(
        surface_.get(),
        [](void* to, const unsigned char* data, unsigned int size) noexcept {
          try {
            static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
            return CAIRO_STATUS_SUCCESS;
          } catch (const std::bad_alloc&) {
            return CAIRO_STATUS_NO_MEMORY;
          }
        },
        &bytes));
    return bytes;
  }

 private:
  void dip(Colour colour, double opacity = 1) {
    const auto part = [colour](unsigned shift) { return (colour >> shift & 0xFFU) / 255.0; };
    cairo_set_source_rgba(pen_.get(), part(16), part(8), part(0), opacity);
  }

  void follow(const std::vector<Point>& points) {
    for (const Point& point : points) cairo_line_to(pen_.get(), point.x, point.y);
  }

  void add(const Line& line) {
    follow(line.points);
    if (line.points.size() == 1) cairo_rel_line_to(pen_.get(), 0, 0);  // a dot, when ends are round
    dip(line.colour);
    cairo_set_line_width(pen_.get(), line.width);
    cairo_set_dash(pen_.get(), line.dashes.data(), static_cast<int>(line.dashes.size()), 0);
    cairo_set_line_join(pen_.get(), line.round ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
    cairo_set_line_cap(pen_.get(), line.round ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    cairo_stroke(pen_.get());
  }

  void add(const Area& area) {
    follow(area.points);
    dip(area.colour, area.opacity);
    cairo_fill(pen_.get());
  }

  void add(const Text& text) {
    cairo_set_font_face(pen_.get(), face_of(text));
    cairo_set_font_size(pen_.get(), text.size);
    cairo_text_extents_t extents{};
    cairo_text_extents(pen_.get(), text.text.c_str(), &extents);
    const double before = text.anchor == Anchor::start ? 0 : text.anchor == Anchor::middle ? 0.5 : 1;
    dip(text.colour);
    cairo_move_to(pen_.get(), text.at.x - before * extents.x_advance, text.at.y);
    cairo_show_text(pen_.get(), text.text.c_str());
    cairo_new_path(pen_.get());
  }

  /// Texts in plain letters share a font, so that it is looked for once.
  cairo_font_face_t* face_of(const Text& text) {
    bool plain = true;
    for (const char c : text.text) plain = plain && static_cast<unsigned char>(c) < 0x80;
    Face& face = faces_[{plain ? std::string("0") : text.text, text.bold}];
    if (!face) face = face_for(plain ? "0" : text.text, text.bold, options_.get());
    return face.get();
  }

  Surface surface_;
  Pen pen_;
  FontOptions options_;
  std::map<std::pair<std::string, bool>, Face> faces_;
};

std::string draw(const Picture& picture, double scale) {
  Drawing drawing(picture, scale);
  for (const Layer& layer : picture.layers) drawing.add(layer);
  return drawing.png();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PngPlugin* wisecrowd_png_plugin() {
  static const PngPlugin plugin{WISECROWD_VERSION, kPngInterface, draw};
  return &plugin;
}

}  // namespace wisecrowd::picture
