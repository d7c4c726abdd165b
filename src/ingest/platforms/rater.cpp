#include "ingest/platforms/platform.hpp"

namespace wisecrowd::ingest::rater {

Platform platform() {
  return {.info = {.title = "rater (R)", .summary = "item, rater and rating, as CSV"},
          .columns = {"item", "rater", "rating"}};
}

}  // namespace wisecrowd::ingest::rater
