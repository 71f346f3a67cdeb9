#include "recorder/options/sources.h"

#include <gmock/gmock.h>

namespace sonde::recorder {
namespace {

constexpr std::uint32_t bit(wire::Probe probe) {
  return 1U << static_cast<unsigned>(probe);
}

TEST(Sources, AListRecordsTheseAlone) {
  const auto mask = parseSources("annotation,net");
  ASSERT_TRUE(mask);
  EXPECT_EQ(*mask,
            bit(wire::Probe::Annotation) | bit(wire::Probe::Net) | bit(wire::Probe::Process));
}

TEST(Sources, AMinusTakesAwayFromTheDefault) {
  const auto mask = parseSources("-net,-nvtx");
  ASSERT_TRUE(mask);
  EXPECT_EQ(*mask, defaultSources() & ~bit(wire::Probe::Net) & ~bit(wire::Probe::Nvtx));
}

TEST(Sources, APlusAddsToTheDefault) {
  const auto mask = parseSources("+io,+sync,-nvtx");
  ASSERT_TRUE(mask);
  EXPECT_EQ(
      *mask,
      (defaultSources() | bit(wire::Probe::Io) | bit(wire::Probe::Sync)) & ~bit(wire::Probe::Nvtx));
  EXPECT_EQ(*parseSources("-nvtx,+io"),
            (defaultSources() | bit(wire::Probe::Io)) & ~bit(wire::Probe::Nvtx));
  EXPECT_FALSE(parseSources("+none"));
}

TEST(Sources, TheCostlyOnesAreOffByDefault) {
  for (const auto probe : {wire::Probe::Io,
                           wire::Probe::Sync,
                           wire::Probe::Python,
                           wire::Probe::Stack,
                           wire::Probe::Tensor,
                           wire::Probe::Memory})
    EXPECT_EQ(defaultSources() & bit(probe), 0U);
  for (const auto probe : {wire::Probe::Annotation,
                           wire::Probe::Torch,
                           wire::Probe::Gloo,
                           wire::Probe::Net,
                           wire::Probe::Mpi,
                           wire::Probe::Nvtx,
                           wire::Probe::Cuda,
                           wire::Probe::Nccl,
                           wire::Probe::Process})
    EXPECT_NE(defaultSources() & bit(probe), 0U);
}

TEST(Sources, ProcessLifeCannotBeSwitchedOff) {
  EXPECT_EQ(*parseSources("net,-net"), bit(wire::Probe::Process));
  EXPECT_FALSE(parseSources("-process"));
}

TEST(Sources, NamesTheOneItDoesNotKnow) {
  const auto mask = parseSources("net,gpu");
  ASSERT_FALSE(mask);
  EXPECT_THAT(mask.error().message, ::testing::HasSubstr("'gpu' is not a source: choose among"));
}

TEST(Sources, AnEmptyListIsAMistake) {
  const auto mask = parseSources("");
  ASSERT_FALSE(mask);
  EXPECT_THAT(mask.error().message, ::testing::HasSubstr("empty: choose among"));
}

}  // namespace
}  // namespace sonde::recorder
