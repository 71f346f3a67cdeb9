// How much may wait in the spool: DrainerOptions::waitBytes.
#include "recorder/spool/manifest.h"
#include "tests/recorder/drain/drainer_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sonde::recorder {
namespace {

using testing::ElementsAre;
using wire::SliceKind;

constexpr std::int64_t kSecond = 1'000'000'000;

class DrainerWaitTest : public DrainerTest {
 protected:
  DrainerWaitTest() : spool_(::getpid()) {
    spool_.header().startTime = processStartTime(::getpid());
    spool_.call(0, SliceKind::Api, "first", 1000, 1100);
    spool_.write(session());
    openToWait(1000);
  }
  void openToWait(std::uint64_t bytes) {
    drainer_.reset();
    DrainerOptions options;
    options.folder = session();
    options.part = part();
    options.waitBytes = bytes;
    options.clock = [this] {
      now_.monotonicNs += stepNs_;
      return now_;
    };
    auto opened = Drainer::open(std::move(options));
    EXPECT_TRUE(opened);
    drainer_ = *std::move(opened);
  }
  void call(const char* name) {
    at_ += 100;
    spool_.call(0, SliceKind::Api, name, at_, at_ + 50);
    spool_.rewrite(session());
  }
  std::vector<std::string> stored() {
    return rows("SELECT text, count(*) FROM slice JOIN string s ON s.id = name_id GROUP BY text");
  }

  test::SpoolBuilder spool_;
  std::int64_t stepNs_ = 0;  // time between two readings of the clock
  ClockTriple now_{5, kSecond, 5 * kSecond};
  std::uint64_t at_ = 2000;
  std::unique_ptr<Drainer> drainer_;
};

TEST_F(DrainerWaitTest, StoresWhatIsFoundFirst) {
  EXPECT_EQ(drainer_->drainOnce().records, 1U);
}

TEST_F(DrainerWaitTest, LeavesRecordsInTheSpoolUntilThereAreEnough) {
  drainer_->drainOnce();
  call("few");
  const DrainProgress waiting = drainer_->drainOnce();
  EXPECT_EQ(waiting.records, 0U);
  EXPECT_EQ(waiting.liveImages, 1U);
  EXPECT_THAT(stored(), ElementsAre("first|1"));
  for (int more = 0; more < 40; ++more)
    call("many");
  EXPECT_EQ(drainer_->drainOnce().records, 41U);
  EXPECT_THAT(stored(), ElementsAre("few|1", "first|1", "many|40"));
}

TEST_F(DrainerWaitTest, StoresWhatHasWaitedForLong) {
  drainer_->drainOnce();
  call("few");
  now_.monotonicNs += 9 * kSecond;
  EXPECT_EQ(drainer_->drainOnce().records, 0U);
  now_.monotonicNs += 2 * kSecond;
  EXPECT_EQ(drainer_->drainOnce().records, 1U);
}

TEST_F(DrainerWaitTest, StoresWithWhatMustNotWait) {
  drainer_->drainOnce();
  call("few");
  drainer_->noteWarning("a spool is full");
  EXPECT_EQ(drainer_->drainOnce().records, 1U);
}

// Like a process that has changed its user: it has only slots that are given back to it.
TEST_F(DrainerWaitTest, StoresForAProcessThatStaysWithoutAFreeSlot) {
  openToWait(1 << 20);
  drainer_->drainOnce();
  call("few");
  // Its header, its definitions and its first thread have one slot each by now.
  const std::uint32_t slots = spool_.header().slotCount.load();
  for (std::uint32_t thread = 1; thread <= slots - 3; ++thread)
    spool_.openSlot(thread, {});
  ASSERT_EQ(spool_.header().slotCount.load(), slots);
  spool_.closeSlot(1);
  spool_.rewrite(session());
  EXPECT_EQ(drainer_->drainOnce().records, 0U);
  EXPECT_EQ(drainer_->drainOnce().records, 1U);
}

// A thread that ends leaves a slot that no other thread can use, however little it has written.
TEST_F(DrainerWaitTest, AFullSlotIsAWholeOne) {
  openToWait(3 * wire::kSlotBytes);
  drainer_->drainOnce();
  for (std::uint32_t thread = 1; thread <= 2; ++thread) {
    spool_.call(thread, SliceKind::Api, "few", 3000, 3100);
    spool_.closeSlot(thread);
  }
  spool_.rewrite(session());
  const DrainProgress waiting = drainer_->drainOnce();
  EXPECT_EQ(waiting.records, 0U);
  EXPECT_GE(waiting.waitingBytes, 2 * wire::kSlotBytes);
  spool_.call(3, SliceKind::Api, "few", 3000, 3100);
  spool_.closeSlot(3);
  spool_.rewrite(session());
  EXPECT_EQ(drainer_->drainOnce().records, 3U);
}

TEST_F(DrainerWaitTest, StoresAtOnceWhenHurried) {
  drainer_->drainOnce();
  call("few");
  EXPECT_EQ(drainer_->drainOnce(true).records, 1U);
}

TEST_F(DrainerWaitTest, StoresAllAtTheEnd) {
  drainer_->drainOnce();
  call("few");
  drainer_->drainOnce();
  finish(std::move(drainer_));
  EXPECT_THAT(stored(), ElementsAre("few|1", "first|1"));
}

TEST_F(DrainerWaitTest, NotesWhenItStored) {
  stepNs_ = 1'000'000;
  const auto storeNow = [&](const char* name) {
    call(name);
    const std::int64_t from = now_.monotonicNs;
    EXPECT_GT(drainer_->drainOnce(true).records, 0U);
    return std::pair(from, now_.monotonicNs);
  };
  drainer_->drainOnce();
  now_.monotonicNs += kSecond;
  const auto first = storeNow("a");
  now_.monotonicNs += 5'000'000;  // shortly after
  const auto joined = storeNow("b");
  now_.monotonicNs += kSecond;
  call("waits");
  drainer_->drainOnce();  // only looks
  now_.monotonicNs += kSecond;
  stepNs_ = 1000;
  storeNow("short");
  now_.monotonicNs += kSecond;
  stepNs_ = 1'000'000;
  const auto last = storeNow("c");
  finish(std::move(drainer_));
  const auto found = rows(
      "SELECT start_ns - (SELECT value FROM meta WHERE key = 'epoch_ns'), dur_ns FROM storing "
      "WHERE host_id IN (SELECT host_id FROM process) ORDER BY start_ns");
  ASSERT_EQ(found.size(), 3U);
  const auto covers = [&](const std::string& row, std::int64_t from, std::int64_t to) {
    const std::int64_t begin = std::stoll(row);
    const std::int64_t end = begin + std::stoll(row.substr(row.find('|') + 1));
    EXPECT_LE(begin - from, 5'000'000) << row;
    EXPECT_GE(begin, from) << row;
    EXPECT_LE(end, to) << row;
    EXPECT_LE(to - end, 5'000'000) << row;
  };
  covers(found[1], first.first, joined.second);
  covers(found[2], last.first, last.second);
}

// The clock's rate changes between two readings; the first was taken while records waited.
TEST_F(DrainerTest, ReadingsThatWereTakenWhileItWaitedCount) {
  test::SpoolBuilder spool(::getpid(), wire::ClockKind::Tsc);
  spool.header().startTime = processStartTime(::getpid());
  spool.header().startTicks = 10'000;
  spool.header().startMonotonicNs = 1'000'000;
  spool.header().startRealtimeNs = 1'000'000 + 500;
  spool.write(session());
  ClockTriple now{12'000, 1'001'000, 1'001'500};
  DrainerOptions options;
  options.folder = session();
  options.part = part();
  options.waitBytes = 1000;
  options.clock = [&] { return now; };
  auto drainer = Drainer::open(options);
  ASSERT_TRUE(drainer);
  (*drainer)->drainOnce();
  spool.call(0, SliceKind::Api, "a", 20'000, 20'200);
  spool.rewrite(session());
  now = {20'000, 1'005'000, 1'005'500};
  EXPECT_EQ((*drainer)->drainOnce().records, 0U);
  now = {40'000, 1'016'000, 1'016'500};
  finish(*std::move(drainer));
  EXPECT_THAT(rows("SELECT start_ns BETWEEN 1005499 AND 1005500 FROM slice"), ElementsAre("1"));
}

}  // namespace
}  // namespace sonde::recorder
