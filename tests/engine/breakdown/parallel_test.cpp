#include "analysis/engine/breakdown/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <stdexcept>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

// Counts down at the end, also after an exception.
class CountsDown {
 public:
  explicit CountsDown(std::latch& latch) : latch_(latch) {}
  ~CountsDown() { latch_.count_down(); }
  CountsDown(const CountsDown&) = delete;
  CountsDown& operator=(const CountsDown&) = delete;

 private:
  std::latch& latch_;
};

// The numbers are from reference/rl-scope.md, section 4. Its split_list divides work beforehand, 3,
// 3 and 4 of ten. Here a thread that is done takes the next item, also if there are more threads
// than work.
TEST(InParallel, Case11TenThingsForThreeAndForElevenThreads) {
  for (const unsigned threads : {3U, 11U}) {
    std::vector<std::atomic<int>> done(10);
    inParallel(done.size(), threads, [&](std::size_t at) { ++done[at]; });
    for (const std::atomic<int>& times : done)
      EXPECT_EQ(times, 1);
  }
}

TEST(InParallel, Case13EachIsDoneOnce) {
  for (const unsigned threads : {0U, 1U, 7U, 1000U}) {
    std::vector<std::atomic<int>> done(100);
    inParallel(done.size(), threads, [&](std::size_t at) { ++done[at]; });
    for (const std::atomic<int>& times : done)
      EXPECT_EQ(times, 1);
  }
  inParallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(InParallel, Case13WhatOneThrowsIsThrownWhenAllHaveEnded) {
  constexpr std::size_t kCount = 20;
  constexpr std::size_t kThrows = 3;
  for (const unsigned threads : {1U, 4U}) {
    std::latch thrown(1);
    std::atomic<int> running{0};
    std::atomic<std::size_t> done{0};
    const auto work = [&](std::size_t at) {
      if (at == kThrows) {
        const CountsDown whenThrown(thrown);
        throw std::runtime_error("3");
      }
      ++running;
      if (threads > 1)
        thrown.wait();
      ++done;
      --running;
    };
    EXPECT_THROW(inParallel(kCount, threads, work), std::runtime_error);
    EXPECT_EQ(running, 0);
    EXPECT_EQ(done, threads == 1 ? kThrows : kCount - 1) << "the other threads go on";
  }
}

}  // namespace
}  // namespace sonde::engine::breakdown
