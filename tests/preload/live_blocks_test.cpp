// Which blocks are tracked, by how many threads at once, and in whose memory.
#include "collector/preload/memory/interposer/live_blocks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sonde::preload::memory {
namespace {

constexpr std::uint64_t kAddress = 0x7f00'1234'5670;

TEST(LiveBlocks, AreFoundUntilTheyAreTaken) {
  EXPECT_FALSE(mayBeLive(kAddress));
  ASSERT_TRUE(putLive(kAddress, 5));
  ASSERT_TRUE(putLive(kAddress + 16, 6));  // on the same page
  EXPECT_TRUE(mayBeLive(kAddress));
  EXPECT_EQ(findLive(kAddress), 5U);
  EXPECT_EQ(findLive(kAddress + 32), 0U);
  EXPECT_EQ(takeLive(kAddress), 5U);
  EXPECT_EQ(takeLive(kAddress), 0U);
  EXPECT_TRUE(mayBeLive(kAddress));
  EXPECT_EQ(takeLive(kAddress + 16), 6U);
  EXPECT_FALSE(mayBeLive(kAddress));
}

// Programs free nullptr, and recorded blocks may be on pages with the same number in the filter.
TEST(LiveBlocks, AreNeverAtNull) {
  constexpr std::uint64_t kLikeNull = std::uint64_t{kFilterSize} << kPageBits;
  ASSERT_TRUE(putLive(kLikeNull, 5));
  EXPECT_TRUE(mayBeLive(0));
  EXPECT_EQ(findLive(0), 0U);
  EXPECT_EQ(takeLive(0), 0U);
  EXPECT_TRUE(mayBeLive(kLikeNull));
  EXPECT_EQ(takeLive(kLikeNull), 5U);
}

// Nearly all places are taken before one is refused, and tracked blocks stay findable.
TEST(LiveBlocks, AreRefusedWhenThereIsNoRoom) {
  std::vector<std::uint64_t> kept;
  std::uint64_t address = 0x5500'0000'0000;
  while (putLive(address, address)) {
    kept.push_back(address);
    address += 70'016;
  }
  EXPECT_GT(kept.size(), kBuckets * kWays * 7 / 10);
  EXPECT_EQ(findLive(address), 0U);
  for (const std::uint64_t known : kept)
    ASSERT_EQ(takeLive(known), known);
  EXPECT_TRUE(putLive(address, 1));
  EXPECT_EQ(takeLive(address), 1U);
  for (const std::uint64_t known : kept)
    ASSERT_FALSE(mayBeLive(known));
}

// One thread inserts blocks and another removes them, in few buckets.
TEST(LiveBlocks, GoFromThreadToThread) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20'000;
  std::atomic<std::uint64_t> places[16] = {};
  std::atomic<std::uint64_t> put{0};
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (std::uint64_t self = 1; self <= kThreads; ++self) {
    threads.emplace_back([&, self] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        const std::uint64_t address = (self * kRounds + round) << 4;
        put += putLive(address, address) ? 1 : 0;
        const std::uint64_t other = places[round % std::size(places)].exchange(address);
        if (other != 0)
          taken += takeLive(other) == other ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const auto& place : places)
    taken += takeLive(place) == place ? 1 : 0;
  EXPECT_EQ(put, std::uint64_t{kThreads} * kRounds);
  EXPECT_EQ(taken, put);
}

TEST(LiveBlocks, OfTheParentAreNotTheChilds) {
  ASSERT_TRUE(emptyLiveBlocksInChildren());
  ASSERT_TRUE(putLive(kAddress, 5));
  const pid_t child = fork();
  if (child == 0)
    _exit(mayBeLive(kAddress) || findLive(kAddress) != 0 ? 1 : 0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(takeLive(kAddress), 5U);
}

}  // namespace
}  // namespace sonde::preload::memory
