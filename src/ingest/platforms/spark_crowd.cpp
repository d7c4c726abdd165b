#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest::spark_crowd {

Platform platform() {
  return {.info = {.title = "spark-crowd", .summary = "example, annotator and value, as CSV"},
          .columns = {"example", "annotator", "value"}};
}

}  // namespace wisecrowd::ingest::spark_crowd
