#include "collector/core/gate_times.h"

#include "collector/wire/gate_history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace sonde::core {
namespace {

using wire::GateStretch;
using wire::kGateOpen;
using wire::kGateOutline;

// A gate and the history of its last four changes.
class GateHistory : public testing::Test {
 protected:
  explicit GateHistory(std::uint32_t mask = kGateOpen) { gate_.store(mask); }

  void set(std::uint32_t mask, std::uint64_t ticks) {
    wire::setGate(gate_, history_, mask, [ticks] { return ticks; });
  }
  GateStretch at(std::uint64_t ticks) const {
    return wire::stretchAt(history_, gate_.load(), ticks);
  }
  bool wasOpen(std::uint64_t ticks) const { return at(ticks).isOpen; }

  wire::Gate gate_{};
  wire::GateHistory<4> history_{};
};

TEST_F(GateHistory, OfAGateThatNeverChangedIsOneStretch) {
  EXPECT_TRUE(wasOpen(0));
  EXPECT_EQ(at(5).from, 0U);
  EXPECT_EQ(at(5).until, GateStretch::kForever);
}

TEST_F(GateHistory, KnowsEachStretchFromItsBeginToBeforeItsEnd) {
  set(kGateOutline, 100);
  set(kGateOpen, 200);
  EXPECT_TRUE(wasOpen(0));
  EXPECT_TRUE(wasOpen(99));
  EXPECT_FALSE(wasOpen(100));
  EXPECT_FALSE(wasOpen(199));
  EXPECT_TRUE(wasOpen(200));
  EXPECT_EQ(at(150).from, 100U);
  EXPECT_EQ(at(150).until, 200U);
  EXPECT_EQ(at(250).until, GateStretch::kForever);
}

TEST_F(GateHistory, HasNoChangeWhereItNeitherOpensNorCloses) {
  set(kGateOpen, 50);
  set(kGateOutline, 100);
  set(0, 150);
  EXPECT_EQ(at(160).from, 100U);
  EXPECT_TRUE(wasOpen(60));
  EXPECT_EQ(at(60).from, 0U);
}

TEST_F(GateHistory, ThatIsOverrunCountsAsOpen) {
  for (std::uint64_t turn = 0; turn < 4; ++turn) {
    set(kGateOutline, 100 + turn * 20);
    set(kGateOpen, 110 + turn * 20);
  }
  EXPECT_TRUE(wasOpen(105)) << "forgotten";
  EXPECT_EQ(at(105).until, at(105).from) << "not to be remembered";
  EXPECT_FALSE(wasOpen(145));
  EXPECT_TRUE(wasOpen(155));
  EXPECT_FALSE(wasOpen(165));
  EXPECT_TRUE(wasOpen(175));
}

class GateHistoryOfOneThatBeginsClosed : public GateHistory {
 protected:
  GateHistoryOfOneThatBeginsClosed() : GateHistory(kGateOutline) {}
};

TEST_F(GateHistoryOfOneThatBeginsClosed, BeginsClosed) {
  EXPECT_FALSE(wasOpen(7));
  set(kGateOpen, 100);
  EXPECT_FALSE(wasOpen(99));
  EXPECT_TRUE(wasOpen(100));
  set(kGateOutline, 200);
  EXPECT_FALSE(wasOpen(99));
  EXPECT_TRUE(wasOpen(199));
  EXPECT_FALSE(wasOpen(200));
}

// The last bit of a tick encodes the change. So a concurrent reader that got another change's time
// would be noticed.
TEST(GateHistoryOfManyThreads, HasTheTimeOfEachChange) {
  constexpr std::uint64_t kEnough = 10'000;
  wire::Gate gate{kGateOpen};
  wire::GateHistory<3> history{};
  std::atomic<std::uint64_t> clock{2};
  std::atomic<std::uint64_t> known{0};
  const auto toggle = [&] {
    for (int turn = 0; known.load() < kEnough; ++turn) {
      const std::uint64_t opens = turn % 2 == 1 ? 1 : 0;
      wire::setGate(gate, history, opens == 1 ? kGateOpen : kGateOutline, [&] {
        return clock.fetch_add(2) | opens;
      });
    }
  };
  std::uint64_t wrong = 0;
  std::thread reader([&] {
    for (std::uint64_t turn = 0; known.load() < kEnough; ++turn) {
      const std::uint64_t word = gate.load(std::memory_order_acquire);
      const std::uint64_t now = clock.load();
      // The word is a few changes old when it is used.
      while (turn % 4 > (clock.load() - now) / 2) {
      }
      const GateStretch stretch = wire::stretchAt(history, word, now);
      if (stretch.from == 0)
        continue;  // not known
      known.fetch_add(1);
      wrong += stretch.isOpen != (stretch.from % 2 == 1) ? 1 : 0;
    }
  });
  std::thread other(toggle);
  toggle();
  other.join();
  reader.join();
  EXPECT_EQ(wrong, 0U);
}

// One place for all changes: a reader must not mistake a half-written one for either change.
TEST(GateHistoryOfManyThreads, HasNoTimeOfAnother) {
  constexpr std::uint64_t kChanges = 300'000;
  wire::GateHistory<1> history{};
  std::atomic<std::uint64_t> latest{0};
  std::thread writer([&] {
    for (std::uint64_t number = 1; number <= kChanges; ++number) {
      wire::noteChange(history, number, 8 * number);
      latest.store(number);
      for (std::uint64_t spin = 0; spin < number % 32; ++spin)
        static_cast<void>(latest.load());
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t number = 0; number < kChanges;) {
    number = latest.load();
    std::uint64_t ticks = 0;
    for (bool isThere = number > 0; isThere; wrong += isThere && ticks != 8 * number ? 1 : 0)
      isThere = latest.load() < kChanges && wire::timeOf(history, number, ticks);
  }
  writer.join();
  EXPECT_EQ(wrong, 0U);
}

class GateTimesOfAProcess : public testing::Test {
 protected:
  void SetUp() override {
    control_.capture.store(kGateOpen);
    control_.recording.store(kGateOpen);
    before_ = gSpool.control;
    gSpool.control = &control_;
  }
  void TearDown() override {
    gSpool.control = before_;
    for (auto& place : gCaptureChanges.places)
      place.number.store(0);
  }
  void capture(std::uint32_t mask, std::uint64_t ticks) {
    wire::setGate(control_.capture, gCaptureChanges, mask, [ticks] { return ticks; });
  }
  void record(std::uint32_t mask, std::uint64_t ticks) {
    wire::setGate(control_.recording, control_.recordings, mask, [ticks] { return ticks; });
  }

  GateTimes times_;

 private:
  wire::ControlPage control_{};
  wire::ControlPage* before_ = nullptr;
};

TEST_F(GateTimesOfAProcess, AreOpenWhileBothGatesAre) {
  EXPECT_TRUE(times_.wereOpen(350)) << "remembered, and to be forgotten when a gate changes";
  capture(kGateOutline, 100);
  record(kGateOutline, 200);
  capture(kGateOpen, 300);
  record(kGateOpen, 400);
  EXPECT_TRUE(times_.wereOpen(50));
  EXPECT_FALSE(times_.wereOpen(150));
  EXPECT_FALSE(times_.wereOpen(350));
  EXPECT_TRUE(times_.wereOpen(450));
}

TEST_F(GateTimesOfAProcess, SayWhatTheGatesWereAllTheTime) {
  capture(kGateOutline, 100);
  record(kGateOutline, 200);
  capture(kGateOpen, 300);
  record(kGateOpen, 400);
  EXPECT_EQ(times_.between(10, 90), GateTimes::Was::Open);
  EXPECT_EQ(times_.between(90, 150), GateTimes::Was::Both);
  EXPECT_EQ(times_.between(110, 250), GateTimes::Was::Closed);
  EXPECT_EQ(times_.between(210, 390), GateTimes::Was::Closed);
  EXPECT_EQ(times_.between(390, 410), GateTimes::Was::Both);
  EXPECT_EQ(times_.between(400, 410), GateTimes::Was::Open);
}

TEST_F(GateTimesOfAProcess, DoNotSayThatTheyWereOpenWhenThatIsForgotten) {
  for (std::uint64_t at = 1; at <= 20; ++at) {
    record(kGateOutline, 200 * at);
    record(kGateOpen, 200 * at + 100);
  }
  EXPECT_TRUE(times_.wereOpen(250));
  EXPECT_EQ(times_.between(210, 250), GateTimes::Was::Both);
}

}  // namespace
}  // namespace sonde::core
