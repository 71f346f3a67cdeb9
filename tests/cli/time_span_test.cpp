#include "base/text/time_span.h"

#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

std::int64_t nsOf(const char* text) {
  const auto span = parseTimeSpan(text);
  EXPECT_TRUE(span) << text;
  return span ? *span : -1;
}

TEST(TimeSpan, TakesSecondsAndUnits) {
  EXPECT_EQ(nsOf("0"), 0);
  EXPECT_EQ(nsOf("30"), 30'000'000'000);
  EXPECT_EQ(nsOf("30s"), 30'000'000'000);
  EXPECT_EQ(nsOf("500ms"), 500'000'000);
  EXPECT_EQ(nsOf("5m"), 300'000'000'000);
  EXPECT_EQ(nsOf("5 min"), 300'000'000'000);
  EXPECT_EQ(nsOf("2 S"), 2'000'000'000);
  EXPECT_EQ(nsOf("1h"), 3'600'000'000'000);
}

TEST(TimeSpan, TakesDecimalsToTheNanosecond) {
  EXPECT_EQ(nsOf("0.5"), 500'000'000);
  EXPECT_EQ(nsOf("1.5m"), 90'000'000'000);
  EXPECT_EQ(nsOf("0.123456789"), 123'456'789);
}

TEST(TimeSpan, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "s",
                           "soon",
                           "-1",
                           "1e3",
                           "1,5s",
                           "5 days",
                           "1m30s",
                           "3 t",
                           "nan",
                           "inf",
                           "9999999999h"}) {
    const auto span = parseTimeSpan(text);
    ASSERT_FALSE(span) << text;
    EXPECT_NE(span.error().message.find("is not a time"), std::string::npos);
  }
}

}  // namespace
}  // namespace sonde::cli
