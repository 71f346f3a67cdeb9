#include "recorder/options/capture_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace sonde::recorder {
namespace {

using Kind = wire::CaptureRule::Kind;

TEST(Capture, NamesIterations) {
  const auto rule = parseCapture("iterations:5-7");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->kind, Kind::Iterations);
  EXPECT_EQ(rule->first, 5);
  EXPECT_EQ(rule->last, 7);
  EXPECT_EQ(rule->text, "iterations:5-7");
  EXPECT_EQ(parseCapture("iterations:9")->last, 9);
  EXPECT_EQ(parseCapture("iterations:9-")->last, std::numeric_limits<std::int64_t>::max());
}

TEST(Capture, EverySoManyAndByName) {
  EXPECT_EQ(parseCapture("every:20")->every, 20U);
  EXPECT_TRUE(parseCapture("every:1")->isAll());
  EXPECT_FALSE(parseCapture("every:2")->isAll());
  const auto rule = parseCapture("range:a:b c");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->kind, Kind::Range);
  EXPECT_EQ(rule->range, "a:b c");
}

TEST(Capture, SaysWhatToWriteInstead) {
  for (const char* wrong : {"iterations:7-5",
                            "iterations:-5",
                            "iterations:1-2-3",
                            "iterations:99999999999999999999",
                            "every:0",
                            "every:-1",
                            "every:4294967296",
                            "range:",
                            "x",
                            ""}) {
    const auto rule = parseCapture(wrong);
    ASSERT_FALSE(rule) << wrong;
    EXPECT_THAT(rule.error().message,
                ::testing::HasSubstr("--capture " + std::string(wrong) + ": write "));
  }
  EXPECT_FALSE(parseCapture("range:" + std::string(128, 'x')));
  EXPECT_TRUE(parseCapture("range:" + std::string(127, 'x')));
}

}  // namespace
}  // namespace sonde::recorder
