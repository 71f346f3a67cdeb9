#include "plugins/pytorch/operators/input_texts.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace sonde::torch {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;
using Types = std::vector<std::string>;

std::string textOf(const Shapes& shapes) {
  return std::string(InputText(shapes).view());
}
std::string textOf(const Types& types) {
  return std::string(InputText(types).view());
}

// The same, in a simple and slow way.
std::string slowly(const Shapes& shapes) {
  std::string text;
  for (const auto& sizes : shapes) {
    std::string one;
    for (const std::int64_t size : sizes)
      one += (one.empty() ? "" : ", ") + std::to_string(size);
    text += (text.empty() ? "[" : ", [") + one + "]";
  }
  return "[" + text + "]";
}

TEST(InputText, HasTheShapesInOrder) {
  EXPECT_EQ(textOf(Shapes{{2, 3}, {}, {0}, {1, 16, 1024}}), "[[2, 3], [], [0], [1, 16, 1024]]");
}

TEST(InputText, HasTheTypesInOrder) {
  EXPECT_EQ(textOf(Types{"c10::Half", "", "long int", "Int"}), "[c10::Half, , long int, Int]");
}

TEST(InputText, OfNoInputsIsAnEmptyList) {
  EXPECT_EQ(textOf(Shapes{}), "[]");
  EXPECT_EQ(textOf(Types{}), "[]");
}

TEST(InputText, HasRoomForTheLongestNumbers) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(textOf(Shapes{{kLeast, kLeast}}), "[[-9223372036854775808, -9223372036854775808]]");
}

// Lengths around the limit where a text no longer fits on the stack, and far beyond.
TEST(InputText, OfAnyLengthIsWhole) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::size_t count : {20U, 21U, 22U, 23U, 24U, 25U, 26U, 5000U}) {
    const Shapes one{std::vector<std::int64_t>(count, kLeast)};
    EXPECT_EQ(textOf(one), slowly(one)) << count;
    const Shapes many(count, {7});
    EXPECT_EQ(textOf(many), slowly(many)) << count;
  }
  for (std::size_t count = 120; count < 260; ++count) {
    const Shapes empty(count);
    EXPECT_EQ(textOf(empty), slowly(empty)) << count;
  }
  for (std::size_t length = 500; length < 520; ++length) {
    const std::string name(length, 'x');
    EXPECT_EQ(textOf(Types{name}), "[" + name + "]");
    EXPECT_EQ(textOf(Types{"a", name}), "[a, " + name + "]");
  }
}

}  // namespace
}  // namespace sonde::torch
