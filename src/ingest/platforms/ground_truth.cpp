#include <fmt/core.h>

#include "ingest/platforms/json_reading.hpp"

namespace wisecrowd::ingest::ground_truth {
namespace {

class ObjectReader {
 public:
  explicit ObjectReader(Collected& into) : into_(into) {}

  void read(const JsonObject& object, std::uint64_t row) {
    const auto id = text_at(object, "datasetObjectId");
    const auto annotations = array_at(object, "annotations");
    if (!id || !annotations) {
      return into_.problem({.row = row}, "", "", "an object needs datasetObjectId and a list of annotations");
    }
    std::uint32_t part = 0;
    for (const JsonElement element : *annotations) {
      const Place place{row, "annotations", part++};
      const auto annotation = as_object(element);
      const auto worker = annotation ? text_at(*annotation, "workerId") : std::nullopt;
      const auto data = annotation ? object_at(*annotation, "annotationData") : std::nullopt;
      if (!worker || !data) {
        into_.problem(place, "", "", "an annotation needs workerId and annotationData");
        continue;
      }
      const std::uint32_t submission = into_.submit(*id, *worker, place);
      say_content(submission, *data);
      remember_text(object, submission);
    }
  }

 private:
  /// The content is an object, or a text that holds one.
  void say_content(std::uint32_t submission, const JsonObject& data) {
    const std::string inside = "/annotationData/content";
    const Place place = into_.submissions[submission].place;
    const auto content = member(data, "content");
    if (!content) return into_.problem(place, inside, "", "there is no content");
    if (const auto form = as_object(*content)) return say_form(submission, *form, inside, into_);
    const auto text = scalar_text(*content).value_or("");
    JsonObject form;
    if (parser_.parse(text.data(), text.size(), true).get(form) != simdjson::SUCCESS) {
      return into_.problem(place, inside, text, "is no JSON object: what a form sends is wanted here");
    }
    say_form(submission, form, inside, into_);
  }

  void remember_text(const JsonObject& object, std::uint32_t submission) {
    const auto data = object_at(object, "dataObject");
    const auto text = data ? text_at(*data, "content") : std::nullopt;
    if (text) into_.documents.emplace(into_.submissions[submission].task, into_.texts.intern(*text));
  }

  Collected& into_;
  simdjson::dom::parser parser_;
};

bool recognises(const FileHead& head) { return head.is_json && head.has("datasetObjectId") && head.has("annotations"); }

void read(const PlatformFile& file, Collected& into) {
  ObjectReader reader(into);
  read_objects(
      file, [&](const JsonObject& object, std::uint64_t row) { reader.read(object, row); }, into);
}

}  // namespace

Platform platform() {
  return {.info = {.title = "SageMaker Ground Truth", .summary = "what the post-annotation step is given, as JSON"},
          .recognises = recognises,
          .read = read};
}

}  // namespace wisecrowd::ingest::ground_truth
