#include "service/argilla.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace wisecrowd::service {
namespace {

using nlohmann::json;

TEST(Argilla, ResponsesBecomeAnswersOrTakeThemBack) {
  json payload =
      json::parse(R"({"type":"response.created","version":1,"timestamp":"2026-11-17T01:00:00Z","data":{"id":"r1",
    "values":{"quality":{"value":3},"topic":{"value":"owl"}},"status":"submitted",
    "record":{"id":"rec-1","external_id":"7","fields":{},"metadata":{},"dataset":{"id":"ds-1"}},"user":{"id":"u1","username":"anna"}}})");
  const ArgillaEvent made = argilla_event(payload, "topic");
  EXPECT_TRUE(made.is_response());
  EXPECT_EQ(made.record, "rec-1");
  EXPECT_EQ(made.dataset, "ds-1");
  EXPECT_EQ(made.worker, "anna");
  EXPECT_EQ(made.label, "owl");
  EXPECT_EQ(argilla_event(payload, "quality").label, "3");
  EXPECT_EQ(argilla_event(payload, "other").label, "");
  payload["data"]["status"] = "draft";
  EXPECT_EQ(argilla_event(payload, "topic").label, "");
  payload["data"]["status"] = "submitted";
  payload["type"] = "response.deleted";
  EXPECT_EQ(argilla_event(payload, "topic").label, "");
  EXPECT_TRUE(argilla_event(payload, "topic").is_response());
  payload["type"] = "record.created";
  EXPECT_FALSE(argilla_event(payload, "topic").is_response());
  for (const char* odd : {"3", "[]", "{}", R"({"type":"response.created"})", R"({"type":"response.created","data":[]})",
                          R"({"type":"response.created","data":{"record":3,"user":[],"values":7}})"}) {
    EXPECT_FALSE(argilla_event(json::parse(odd), "q").is_response()) << odd;
  }
}

}  // namespace
}  // namespace wisecrowd::service
