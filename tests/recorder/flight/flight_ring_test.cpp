#include "recorder/flight/flight_ring.h"

#include "recorder/spool/manifest.h"
#include "tests/support/run_program.h"
#include "tests/support/spool_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kLast = 1000;
constexpr std::uint64_t kLimitSlots = 256;

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> numbers;
  for (; from < to; ++from)
    numbers.push_back(from);
  return numbers;
}

class FlightRingTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder()); }
  fs::path folder() const { return temporary_.path() / "1-abc"; }
  SessionPage& page() { return page_; }
  RecorderWords& words() { return page_.words(); }
  FlightRing& ring() { return ring_; }

  // A running process; each image's name identifies it.
  static SpoolBuilder running(std::uint32_t execCount = 0) {
    SpoolBuilder spool(::getpid());
    spool.header().startTime = processStartTime(::getpid());
    spool.header().execCount = execCount;
    return spool;
  }
  // Adds slots of thread 0 with one number each, all but the last one full.
  static void fill(SpoolBuilder& spool, std::uint64_t from, std::uint64_t to) {
    wire::OpenScope outer{};
    outer.name = spool.string("outer");
    outer.token = 1;
    outer.kind = wire::SliceKind::Operation;
    for (; from < to; ++from) {
      spool.openSlot(0, {outer});
      wire::Scalar number{};
      number.ticks = from;
      number.value = static_cast<double>(from);
      spool.add(0, wire::RecordKind::Scalar, number);
    }
  }
  // Places the spool and counts its bytes in the session.
  fs::path place(SpoolBuilder& spool) {
    fs::path file = spool.write(folder());
    page_.freeBytes(-std::uint64_t{spool.header().allocatedSlots.load()} * wire::kSlotBytes);
    return file;
  }
  // The numbers in a spool file, of records that come with a name and an open scope.
  static std::vector<std::uint64_t> numbers(const fs::path& file) {
    auto reader = SpoolReader::open(file, SpoolReader::Access::ReadOnly);
    EXPECT_TRUE(reader);
    std::uint32_t outer = 0;
    reader->newDefinitions([&](std::span<const std::byte> bytes) {
      wire::StringDefinition string{};
      std::memcpy(&string, bytes.data(), std::min(sizeof string, bytes.size()));
      outer = string.header.kind == wire::DefinitionKind::String ? string.id : outer;
    });
    std::vector<std::uint64_t> found;
    for (const SpoolSlot& slot : std::vector(reader->snapshot())) {
      const auto scopes = reader->readScopes(slot);
      const bool isWhole = scopes.size() == 1 && scopes[0].name == outer && outer != 0;
      const auto records = reader->readRecords(slot, slot.firstRecord);
      wire::Scalar number{};
      if (isWhole && records.size() == sizeof number) {
        std::memcpy(&number, records.data(), sizeof number);
        found.push_back(number.ticks);
      }
    }
    return found;
  }

 private:
  SessionPage makePage() {
    fs::create_directories(folder());
    return *SessionPage::create(folder(), ~0U, kLimitSlots * wire::kSlotBytes);
  }

  test::TemporaryFolder temporary_;
  SessionPage page_ = makePage();
  FlightRing ring_{folder(), page_, kLast};
};

TEST_F(FlightRingTest, LetsGoOfWhatIsTooOldAndOfNothingElse) {
  SpoolBuilder spool = running();
  fill(spool, 0, 5);
  const fs::path file = place(spool);
  ring().look(10, false);
  ring().look(10 + kLast, false);
  EXPECT_THAT(numbers(file), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(words().completeFromNs.load(), 0);
  ring().look(11 + kLast, false);
  EXPECT_THAT(numbers(file), ElementsAre(4)) << "which its thread writes";
  EXPECT_EQ(words().completeFromNs.load(), 10) << "when those that went were full";
  EXPECT_EQ(words().discardedSlots.load(), 4U);
  EXPECT_EQ(words().cutShortSlots.load(), 0U);
  EXPECT_GT(words().discardedBytes.load(), 0U);
}

TEST_F(FlightRingTest, WhileFrozenKeepsWhatIsOld) {
  SpoolBuilder spool = running();
  fill(spool, 0, 5);
  const fs::path file = place(spool);
  ring().look(10, true);
  ring().look(11 + kLast, true);
  EXPECT_THAT(numbers(file), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(FlightRingTest, WithoutRoomTheOldestGoAndTheEndIsWhole) {
  SpoolBuilder spool = running();
  fill(spool, 0, 200);
  const fs::path file = place(spool);
  ring().look(10, false);
  const auto kept = numbers(file);
  ASSERT_FALSE(kept.empty());
  EXPECT_THAT(kept, ElementsAreArray(range(kept.front(), 200))) << "no hole in it";
  EXPECT_EQ(words().cutShortSlots.load(), kept.front());
  EXPECT_GT(kept.front(), 0U);
  EXPECT_LT(kept.front(), 110U) << "no more than half goes at a time";
  EXPECT_EQ(words().completeFromNs.load(), 10);
}

TEST_F(FlightRingTest, MakesRoomForTwiceWhatCameSinceTheLastLook) {
  SpoolBuilder spool = running();
  fill(spool, 0, 150);
  const fs::path file = place(spool);
  ring().look(10, false);
  const auto after = numbers(file).size();
  EXPECT_LE(after, 150U - 70U) << "150 came at once, so half of all is free";
  ring().look(20, false);
  EXPECT_THAT(numbers(file), SizeIs(after)) << "nothing came: nothing more goes";
}

TEST_F(FlightRingTest, WithRoomToGrowNothingGoes) {
  SpoolBuilder spool = running();
  fill(spool, 0, 20);
  const fs::path file = place(spool);
  ring().look(10, false);
  EXPECT_THAT(numbers(file), SizeIs(20));
}

TEST_F(FlightRingTest, AFileThatCannotGrowHasNoRoomWhateverTheSessionHas) {
  SpoolBuilder spool = running();
  fill(spool, 0, 20);
  spool.header().maxSlots = spool.header().allocatedSlots.load();
  const fs::path file = place(spool);
  ring().look(10, false);
  EXPECT_LT(numbers(file).size(), 20U);
}

TEST_F(FlightRingTest, WhatFoundNoRoomMakesTheRingBeginAfterIt) {
  SpoolBuilder spool = running();
  fill(spool, 0, 20);
  spool.losses()
      .count[0][static_cast<int>(wire::RecordKind::Mark)]
            [static_cast<int>(wire::LossReason::SpoolFull)]
      .store(3);
  const fs::path file = place(spool);
  ring().look(10, false);
  EXPECT_EQ(words().completeFromNs.load(), 10);
  EXPECT_LT(numbers(file).size(), 20U) << "though there is room to grow";
  const auto kept = numbers(file).size();
  ring().look(20, false);
  EXPECT_EQ(words().completeFromNs.load(), 10) << "nothing was lost since";
  EXPECT_THAT(numbers(file), SizeIs(kept));
}

TEST_F(FlightRingTest, WhatFoundNoRoomIsAHoleAlsoWhereNothingIsLetGo) {
  SpoolBuilder spool = running();
  spool.losses()
      .count[0][static_cast<int>(wire::RecordKind::Mark)]
            [static_cast<int>(wire::LossReason::SpoolFull)]
      .store(3);
  place(spool);
  ring().look(10, false);
  EXPECT_EQ(words().completeFromNs.load(), 10);
}

TEST_F(FlightRingTest, AProcessThatDiedInTheMiddleOfASlotStaysUpToThere) {
  SpoolBuilder spool;  // of a dead process
  fill(spool, 0, 3);
  const std::uint32_t torn = spool.openSlot(0);
  spool.slot(torn).committed.store(0);
  const fs::path file = place(spool);
  const auto look = ring().look(10, false);
  EXPECT_THAT(look.crashed, SizeIs(1));
  EXPECT_EQ(look.liveImages, 0U);
  EXPECT_THAT(numbers(file), ElementsAre(0, 1, 2));
  EXPECT_THAT(ring().look(20, false).crashed, IsEmpty()) << "that is said once";
}

TEST_F(FlightRingTest, AProcessThatExitedIsNoCrash) {
  SpoolBuilder spool;
  spool.header().finished.store(wire::kFinished);
  place(spool);
  EXPECT_THAT(ring().look(10, false).crashed, IsEmpty());
}

TEST_F(FlightRingTest, AProcessThatHasBecomeAnotherProgramIsNoCrash) {
  SpoolBuilder spool;
  spool.header().leaving.store(1);
  place(spool);
  EXPECT_THAT(ring().look(10, false).crashed, IsEmpty());
}

TEST_F(FlightRingTest, WhatHasCrashedStaysUntilACopyHasIt) {
  SpoolBuilder crashed(1 << 22);
  fill(crashed, 0, 100);
  const fs::path file = place(crashed);
  ring().look(10, false);
  SpoolBuilder ended((1 << 22) + 1);
  ended.header().finished.store(wire::kFinished);
  fill(ended, 0, 100);
  place(ended);
  ring().look(20, false);
  words().completeFromNs.store(30);
  ring().look(kLast, false);
  ASSERT_TRUE(fs::exists(file));
  const fs::path copy = folder().parent_path() / "copy";
  ASSERT_TRUE(ring().copyTo(copy));
  EXPECT_THAT(numbers(copy / file.filename()), SizeIs(100));
  ring().look(kLast + 1, false);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(FlightRingTest, WhatHasCrashedGoesWhenNoCopyIsToHaveIt) {
  SpoolBuilder crashed;
  const fs::path file = place(crashed);
  ring().look(10, false);
  ring().forgetCrashes();
  ring().look(11 + kLast, false);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(FlightRingTest, WhatHasEndedLastStaysWhateverItsSize) {
  SpoolBuilder spool;
  spool.header().finished.store(wire::kFinished);
  fill(spool, 0, kLimitSlots / 8 * 5);
  const fs::path file = place(spool);
  ring().look(10, false);
  words().completeFromNs.store(15);
  ring().look(20, false);
  EXPECT_THAT(numbers(file), SizeIs(kLimitSlots / 8 * 5));
}

TEST_F(FlightRingTest, TheFileOfADeadProcessGoesWhenItIsOldAndItsBytesAreFree) {
  SpoolBuilder spool;
  spool.header().finished.store(wire::kFinished);
  fill(spool, 0, 3);
  const fs::path file = place(spool);
  ring().look(10, false);
  ring().look(10 + kLast, false);
  EXPECT_TRUE(fs::exists(file));
  ring().look(11 + kLast, true);
  EXPECT_TRUE(fs::exists(file)) << "frozen";
  ring().look(11 + kLast, false);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(page().allocatedBytes(), 0U);
  EXPECT_FALSE(ring().holds({1 << 22, 77, 0}));
}

TEST_F(FlightRingTest, DeadProcessesTakeAtMostHalfAndTheOldestGoesFirst) {
  std::vector<fs::path> files;
  for (std::int32_t at = 0; at < 4; ++at) {
    SpoolBuilder spool((1 << 22) + at);
    spool.header().finished.store(wire::kFinished);
    fill(spool, 0, 40);
    files.push_back(place(spool));
    ring().look(10 + at, false);
  }
  EXPECT_LE(page().allocatedBytes(), page().limitBytes() / 2);
  EXPECT_FALSE(fs::exists(files[1]));
  EXPECT_TRUE(fs::exists(files[2]));
  EXPECT_THAT(numbers(files.back()), SizeIs(40));
}

TEST_F(FlightRingTest, ProcessesThatBeginAndEndInAPauseDoNotFillTheSpool) {
  SpoolBuilder before;
  before.header().finished.store(wire::kFinished);
  fill(before, 0, 40);
  const fs::path kept = place(before);
  ring().look(10, false);
  for (std::int32_t at = 1; at < 40; ++at) {
    SpoolBuilder spool((1 << 22) + at);
    spool.header().finished.store(wire::kFinished);
    fill(spool, 0, 9);
    place(spool);
    ring().look(10 + at, true);
  }
  EXPECT_LE(page().allocatedBytes(), page().limitBytes() / 2);
  EXPECT_THAT(numbers(kept), SizeIs(40));
  EXPECT_EQ(words().completeFromNs.load(), 0) << "all that was recorded in full is there";
}

TEST_F(FlightRingTest, AnImageThatAnotherReplacedIsOverButItsFileStaysWithTheProcess) {
  SpoolBuilder first = running(0);
  fill(first, 0, 3);
  const fs::path file = place(first);
  SpoolBuilder second = running(1);
  place(second);
  EXPECT_EQ(ring().look(10, false).liveImages, 1U);
  ring().look(11 + kLast, false);
  EXPECT_TRUE(fs::exists(file)) << "a process counts its images by the files";
  EXPECT_THAT(numbers(file), IsEmpty());
}

TEST_F(FlightRingTest, ACopyCanBeReadAlone) {
  SpoolBuilder spool = running();
  fill(spool, 0, 200);
  const fs::path file = place(spool);
  ring().look(10, false);
  const fs::path copy = folder().parent_path() / "copy";
  ASSERT_TRUE(ring().copyTo(copy));
  EXPECT_THAT(numbers(copy / file.filename()), ElementsAreArray(numbers(file)));
}

TEST_F(FlightRingTest, ACopyHasAProcessThatHasJustBegun) {
  SpoolBuilder spool = running();
  fill(spool, 0, 20);
  const fs::path file = place(spool);
  const fs::path copy = folder().parent_path() / "copy";
  ASSERT_TRUE(ring().copyTo(copy));
  EXPECT_THAT(numbers(copy / file.filename()), SizeIs(20));
  EXPECT_THAT(ring().look(10, false).newImages, SizeIs(1)) << "it is told of all the same";
}

}  // namespace
}  // namespace sonde::recorder
