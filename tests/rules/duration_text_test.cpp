#include "rules/engine/duration_text.h"

#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

TEST(DurationText, HasThreeDigitsOfAUnitThatSuits) {
  EXPECT_EQ(durationText(0), "0 ms");
  EXPECT_EQ(durationText(1'700), "0.0017 ms");
  EXPECT_EQ(durationText(999.4e6), "999 ms");
  EXPECT_EQ(durationText(999.6e6), "1 s");
  EXPECT_EQ(durationText(23'939'263'977.0), "23.9 s");
  EXPECT_EQ(durationText(1234e9), "1234 s");
}

}  // namespace
}  // namespace sonde::rules
