#include "collector/preload/cuda/activity/cuda_launches.h"

#include "collector/core/thread_state.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace sonde::preload::cuda {
namespace {

using Fate = Launches::Fate;

constexpr std::uint64_t kLong = 100'000'000'000;  // ticks

class CudaLaunches : public testing::Test {
 protected:
  void SetUp() override {
    control_.capture.store(wire::kGateOpen);
    control_.recording.store(wire::kGateOpen);
    before_ = core::gSpool.control;
    core::gSpool.control = &control_;
  }
  void TearDown() override { core::gSpool.control = before_; }

  void close(std::uint64_t ticks) { set(wire::kGateOutline, ticks); }
  void open(std::uint64_t ticks) { set(wire::kGateOpen, ticks); }
  Launches& launches() { return *launches_; }
  // A kernel of the call of this number, which has not come.
  void awaitsItsCall(std::uint32_t correlation) {
    wire::Kernel kernel{};
    kernel.beginTicks = 1500;
    kernel.correlation = correlation;
    launches().write(kernel, Fate::Unknown);
  }
  static std::uint64_t lost() {
    return core::gForkPage->missed.count[static_cast<int>(wire::Probe::Cuda)][static_cast<int>(
        wire::RecordKind::Kernel)][static_cast<int>(wire::LossReason::Tracer)];
  }

 private:
  void set(std::uint32_t mask, std::uint64_t ticks) {
    wire::setGate(control_.recording, control_.recordings, mask, [ticks] { return ticks; });
  }

  wire::ControlPage control_{};
  wire::ControlPage* before_ = nullptr;
  std::unique_ptr<Launches> launches_ = std::make_unique<Launches>();
};

TEST_F(CudaLaunches, OfACallThatIsKnownHaveItsFate) {
  close(1000);
  open(2000);
  EXPECT_TRUE(launches().isCallKept(1, 900));
  EXPECT_FALSE(launches().isCallKept(2, 1900));
  EXPECT_TRUE(launches().isCallKept(3, 2100));
  EXPECT_EQ(launches().fateOf(1, 1500), Fate::Kept);
  EXPECT_EQ(launches().fateOf(2, 2500), Fate::LeftOut);
  EXPECT_EQ(launches().fateOf(3, 2500), Fate::Kept);
}

TEST_F(CudaLaunches, OfTheRuntimesCallAndTheDriversInItAreThoseOfTheOneThatIsKept) {
  close(1000);
  EXPECT_FALSE(launches().isCallKept(1, 1001)) << "the driver's, which ends first";
  EXPECT_TRUE(launches().isCallKept(1, 999));
  EXPECT_EQ(launches().fateOf(1, 1500), Fate::Kept);
  EXPECT_FALSE(launches().isCallKept(1, 1001));
  EXPECT_EQ(launches().fateOf(1, 1500), Fate::Kept);
}

TEST_F(CudaLaunches, OfNoCallAreOfTheirOwnTime) {
  close(1000);
  EXPECT_EQ(launches().fateOf(0, 999), Fate::Kept);
  EXPECT_EQ(launches().fateOf(0, 1000), Fate::LeftOut);
}

TEST_F(CudaLaunches, OfACallThatHasNotComeWaitOnlyWhereTheGatesChangedShortlyBefore) {
  EXPECT_EQ(launches().fateOf(7, 500), Fate::Kept);
  close(1000);
  EXPECT_EQ(launches().fateOf(7, 500), Fate::Kept);
  EXPECT_EQ(launches().fateOf(7, 1500), Fate::Unknown);
  EXPECT_EQ(launches().fateOf(7, kLong), Fate::Unknown);
  open(kLong + 1000);
  EXPECT_EQ(launches().fateOf(7, kLong + 1500), Fate::Unknown);
  EXPECT_EQ(launches().fateOf(7, 2 * kLong), Fate::Kept);
}

TEST_F(CudaLaunches, OfACallThatNeverComesAreKeptUnlessTheGatesHadBeenClosedForLong) {
  close(1000);
  EXPECT_EQ(launches().lastFateOf(7, 1500), Fate::Kept);
  EXPECT_EQ(launches().lastFateOf(7, kLong), Fate::LeftOut);
  open(kLong + 1000);
  EXPECT_EQ(launches().lastFateOf(7, kLong + 1500), Fate::Kept);
  EXPECT_FALSE(launches().isCallKept(8, 2000));
  EXPECT_EQ(launches().lastFateOf(8, kLong + 1500), Fate::LeftOut);
}

TEST_F(CudaLaunches, CountAsLostWhileTheyWaitForTheirCall) {
  close(1000);
  const std::uint64_t before = lost();
  awaitsItsCall(7);
  awaitsItsCall(8);
  awaitsItsCall(9);
  launches().settle();
  EXPECT_EQ(lost() - before, 3U);
  EXPECT_TRUE(launches().isCallKept(7, 900));
  EXPECT_FALSE(launches().isCallKept(8, 1100));
  launches().settle();
  EXPECT_EQ(lost() - before, 1U);
  launches().end();
  EXPECT_EQ(lost() - before, 0U) << "no call will come any more";
}

TEST_F(CudaLaunches, OfACallLongAgoAreNotThoseOfTheOneInItsPlace) {
  close(1000);
  EXPECT_FALSE(launches().isCallKept(1, 1500));
  EXPECT_EQ(launches().fateOf(1U << 20 | 1U, 1500), Fate::Unknown);
}

}  // namespace
}  // namespace sonde::preload::cuda
