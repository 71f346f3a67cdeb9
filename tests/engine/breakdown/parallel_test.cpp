#include "analysis/engine/breakdown/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

// The numbers are those of reference/rl-scope.md, section 4. Its split_list divides work
// beforehand, 3, 3 and 4 of ten; here who is done takes the next, also when there are more threads
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
  for (const unsigned threads : {1U, 4U}) {
    std::atomic<int> running{0};
    EXPECT_THROW(inParallel(20,
                            threads,
                            [&](std::size_t at) {
                              ++running;
                              if (at == 3) {
                                --running;
                                throw std::runtime_error("3");
                              }
                              --running;
                            }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
  }
}

}  // namespace
}  // namespace sonde::engine::breakdown
