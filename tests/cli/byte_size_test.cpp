#include "base/text/byte_size.h"

#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

std::uint64_t bytesOf(const char* text) {
  const auto size = parseByteSize(text);
  EXPECT_TRUE(size) << text;
  return size ? *size : 0;
}

TEST(ByteSize, TakesBytesAndUnits) {
  EXPECT_EQ(bytesOf("0"), 0U);
  EXPECT_EQ(bytesOf("4096"), 4096U);
  EXPECT_EQ(bytesOf("12B"), 12U);
  EXPECT_EQ(bytesOf("3kB"), 3000U);
  EXPECT_EQ(bytesOf("2MB"), 2'000'000U);
  EXPECT_EQ(bytesOf("512MiB"), 512U << 20);
  EXPECT_EQ(bytesOf("256 mib"), 256U << 20);
  EXPECT_EQ(bytesOf("4GiB"), 4ULL << 30);
}

TEST(ByteSize, TakesDecimals) {
  EXPECT_EQ(bytesOf("1.5MB"), 1'500'000U);
  EXPECT_EQ(bytesOf("0.5KiB"), 512U);
  EXPECT_EQ(bytesOf("0.1GB"), 100'000'000U);
  EXPECT_EQ(bytesOf("1.9"), 1U);
}

TEST(ByteSize, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "MiB",
                           "x",
                           "-1",
                           "-1MiB",
                           "1e3",
                           "1,5MB",
                           "1.5.2MB",
                           "3 potatoes",
                           "nan",
                           "inf",
                           "99999999999999999999GiB"}) {
    const auto size = parseByteSize(text);
    ASSERT_FALSE(size) << text;
    EXPECT_NE(size.error().message.find("is not a size"), std::string::npos);
  }
}

}  // namespace
}  // namespace sonde::cli
