#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest::cleanlab {

Platform platform() {
  return {
      .info = {.title = "cleanlab", .summary = "task, annotator and label, or a table with one column per annotator"},
      .columns = {"task", "annotator", "label"}};
}

}  // namespace wisecrowd::ingest::cleanlab
