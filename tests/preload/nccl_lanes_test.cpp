#include "collector/preload/nccl/nccl_lanes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace sonde::preload::nccl {
namespace {

// A lane to a peer of the n-th communicator that another process created in one place.
LaneName foreignLane(std::uint32_t nth) {
  LaneName name;
  name.communicator = {HandleKind::Communicator, nth * 2 + 1, 3};
  name.pid = 4711;
  name.rank = 0;
  name.peer = 1;
  name.send = true;
  return name;
}

TEST(NcclLanes, OfTheNextCommunicatorInItsPlaceBeginAnew) {
  Lane* const lane = findLane(foreignLane(1));
  ASSERT_NE(lane, nullptr);
  lane->count = 7;
  lane->defined = 8;
  EXPECT_EQ(findLane(foreignLane(1)), lane);
  EXPECT_EQ(lane->count, 7U);
  EXPECT_EQ(findLane(foreignLane(2)), lane);
  EXPECT_EQ(lane->count, 0U);
  EXPECT_EQ(lane->defined, 0U);
}

TEST(NcclLanes, LoseNoCountWhereThreadsTakeOneOverTogether) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kTimes = 500;
  std::barrier together(kThreads);
  std::atomic<std::uint32_t> wrong{0};
  const auto work = [&] {
    for (std::uint32_t time = 1; time <= kTimes; ++time) {
      together.arrive_and_wait();
      Lane* lane = nullptr;
      while (lane == nullptr)
        lane = findLane(foreignLane(time));
      lane->count.fetch_add(1);
      together.arrive_and_wait();
      wrong += lane->count == kThreads ? 0 : 1;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t at = 0; at < kThreads; ++at)
    threads.emplace_back(work);
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace sonde::preload::nccl
