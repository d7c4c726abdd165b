#include "base/registry.hpp"

#include <gtest/gtest.h>

namespace wisecrowd {
namespace {

struct AnimalInfo : EntryInfo {
  int legs = 0;
};
struct Animal {
  virtual ~Animal() = default;
  [[nodiscard]] virtual double speed() const = 0;
};
using AnimalEntry = Entry<AnimalInfo, Animal>;

struct DogOptions {
  double speed = 30;
};
void dog_parameters(ParameterVisitor& v, DogOptions& o) { v.real("speed", o.speed, 0, 100, "in km/h"); }
struct Dog final : Animal {
  explicit Dog(const DogOptions& options) : options_(options) {}
  [[nodiscard]] double speed() const override { return options_.speed; }
  DogOptions options_;
};
AnimalEntry dog() {
  AnimalInfo info;
  info.title = "Dog";
  info.legs = 4;
  return AnimalEntry::of<Dog, dog_parameters>(std::move(info));
}

struct Snail final : Animal {
  [[nodiscard]] double speed() const override { return 0.05; }
};
AnimalEntry snail() { return AnimalEntry::of<Snail>({}); }

const Registry<AnimalEntry>& animals() {
  static const Registry<AnimalEntry> all("animal", {{"snail", &snail}, {"dog", &dog}}, {{"hound", "dog"}});
  return all;
}

TEST(Registry, KeepsTheOrderAndNamesItsRooms) {
  ASSERT_EQ(animals().infos().size(), 2U);
  EXPECT_EQ(animals().infos()[0].name, "snail");
  EXPECT_EQ(animals().infos()[1].name, "dog");
  EXPECT_EQ(animals().info("hound").legs, 4);
  EXPECT_EQ(animals().find("cat"), nullptr);
}

TEST(Registry, MakesFromParameters) {
  Parameters parameters(animals().info("dog").parameters);
  EXPECT_EQ(animals().make("dog", parameters)->speed(), 30);
  parameters.set("speed", "50");
  EXPECT_EQ(animals().make("hound", parameters)->speed(), 50);
  EXPECT_EQ(animals().make("snail", Parameters(animals().info("snail").parameters))->speed(), 0.05);
}

TEST(Registry, RefusesWithTheCandidates) {
  try {
    (void)animals().info("cat");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_parameter);
    EXPECT_STREQ(error.what(), "there is no animal 'cat': choose snail, dog");
  }
}

}  // namespace
}  // namespace wisecrowd
