#include "recorder/drain/drainer.h"

#include "collector/wire/iteration_keys.h"
#include "recorder/spool/manifest.h"
#include "recorder/spool/session_page.h"
#include "tests/recorder/drain/drainer_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SliceKind;

constexpr const char* kNamed =
    "SELECT text, start_ns, dur_ns, depth FROM slice JOIN string s ON s.id = name_id ORDER BY "
    "slice.id";

TEST_F(DrainerTest, FinishesATraceAndRemovesTheSession) {
  SpoolBuilder spool;
  spool.thread(0, 500);
  spool.call(0, SliceKind::Api, "a", 2000, 3000);
  spool.write(session());
  auto drainer = open();
  const DrainProgress progress = drainer->drainOnce();
  EXPECT_EQ(progress.records, 1U);
  EXPECT_EQ(progress.newImages.size(), 1U);
  const DrainTotals totals = finish(std::move(drainer));
  EXPECT_EQ(totals.events.at("slice"), 1U);
  EXPECT_THAT(rows(kNamed), ElementsAre("a|2000|1000|0"));
  EXPECT_THAT(rows("SELECT key, value FROM meta WHERE key IN ('job', 'session') ORDER BY key"),
              ElementsAre("job|job", "session|1-abc"));
  EXPECT_THAT(rows("SELECT name FROM host"), ElementsAre("node7"));
  EXPECT_FALSE(fs::exists(session()));
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(DrainerTest, AsksForTheLastMetaWhenTheTraceIsFinalised) {
  SpoolBuilder spool;
  spool.write(session());
  auto drainer = open();
  drainer->notes().setMeta("cost", "before");
  std::vector<std::string> then;
  const auto totals = drainer->finish(output(), [&] {
    then = rows(
        "SELECT value FROM meta WHERE key = 'cost' AND EXISTS (SELECT 1 FROM meta WHERE "
        "key = 'finished')");
    return MetaRows{{"cost", "after"}};
  });
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_THAT(then, ElementsAre("before"));
  EXPECT_THAT(rows("SELECT value FROM meta WHERE key = 'cost'"), ElementsAre("after"));
}

TEST_F(DrainerTest, TakesTheCommandThatAnImageTellsUntilABetterOneIsNoted) {
  SpoolBuilder spool;
  spool.command({"train", "--token", "SECRET"});
  spool.write(session());
  SpoolBuilder other((1 << 22) + 1);
  other.command({"cut"});
  other.write(session());
  auto drainer = open();
  drainer->drainOnce();
  ProcessFacts facts;
  facts.image = {(1 << 22) + 1, other.header().startTime, 0};
  facts.command = "not cut";
  drainer->notes().add(facts);
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT command FROM process ORDER BY pid"),
              ElementsAre("train --token [redacted]", "not cut"));
}

// The rank is the grandparent's: nobody has read the environment of the two latest processes.
TEST_F(DrainerTest, InheritsTheRankThatNobodyHasRead) {
  std::int32_t parent = 1;
  for (std::int32_t pid = 1 << 22; pid < (1 << 22) + 4; ++pid) {
    SpoolBuilder spool(pid);
    spool.header().parentPid = parent;
    spool.header().startTime = static_cast<std::uint64_t>(pid);
    spool.write(session());
    parent = pid == (1 << 22) + 1 ? 1 << 22 : pid;
  }
  auto drainer = open();
  ProcessFacts facts;
  facts.image = {1 << 22, 1 << 22, 0};
  facts.command = "sh";
  facts.rank = 3;
  facts.worldSize = 4;
  drainer->notes().add(facts);
  ProcessFacts without;  // as in its environment
  without.image = {(1 << 22) + 1, (1 << 22) + 1, 0};
  without.command = "env -u RANK sh";
  drainer->notes().add(without);
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT rank, world_size FROM process ORDER BY pid"),
              ElementsAre("3|4", "-|-", "3|4", "3|4"));
}

TEST_F(DrainerTest, ReadsASlotAsItGrows) {
  SpoolBuilder spool(::getpid());  // a running process
  spool.header().startTime = processStartTime(::getpid());
  const auto token = spool.begin(0, SliceKind::Operation, "outer", 1000);
  spool.write(session());
  auto drainer = open();
  EXPECT_EQ(drainer->drainOnce().records, 1U);
  EXPECT_EQ(drainer->drainOnce().records, 0U);
  spool.call(0, SliceKind::Api, "inner", 1100, 1200);
  spool.rewrite(session());
  const DrainProgress progress = drainer->drainOnce();
  EXPECT_EQ(progress.records, 1U);
  EXPECT_EQ(progress.liveImages, 1U);
  spool.end(0, token, 1300);
  spool.rewrite(session());
  finish(std::move(drainer));
  EXPECT_THAT(rows(kNamed), ElementsAre("outer|1000|300|0", "inner|1100|100|1"));
  EXPECT_THAT(rows("SELECT state FROM process"), ElementsAre("running"));
}

TEST_F(DrainerTest, WaitsForTheFirstRecordOfASlot) {
  SpoolBuilder spool(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  const auto token = spool.begin(0, SliceKind::Operation, "a", 1000);
  spool.slot(spool.openSlot(0)).claimTicks = 5000;  // for the end of the scope, which comes next
  spool.write(session());
  auto drainer = open();
  drainer->drainOnce();
  spool.end(0, token, 1300);
  spool.rewrite(session());
  const DrainTotals totals = finish(std::move(drainer));
  EXPECT_THAT(rows(kNamed), ElementsAre("a|1000|300|0"));
  EXPECT_THAT(totals.dropped, IsEmpty());
}

TEST_F(DrainerTest, GoesOnAfterItsRecorderDied) {
  SpoolBuilder spool(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  spool.thread(0, 500);
  const auto communicator = spool.communicator("g", {0, 1}, 0);
  const auto channel = spool.channel(wire::ChannelKind::Pipe, "a", "b");
  const auto iteration = spool.begin(0, SliceKind::Iteration, "step", 1000);
  wire::RangeBegin range{};
  range.header.detail = static_cast<std::uint8_t>(SliceKind::Range);
  range.header.subject = spool.string("range");
  range.ticks = 1050;
  range.rangeId = 4;
  spool.add(0, wire::RecordKind::RangeBegin, range);
  spool.call(0, SliceKind::Api, "first", 1100, 1200);
  spool.write(session());
  {
    auto drainer = open();
    ProcessFacts facts;
    facts.image = {::getpid(), processStartTime(::getpid()), 0};
    facts.rank = 3;
    facts.command = "train.py";
    drainer->notes().add(facts);
    drainer->drainOnce();
  }
  EXPECT_THAT(rows("SELECT text FROM open_scope JOIN string s ON s.id = name_id ORDER BY token"),
              ElementsAre("range", "step"));
  spool.argInt(0, 0, "of the first", 1);
  spool.argInt(0, iteration, SONDE_ITERATION_NUMBER, 7);
  spool.argInt(0, iteration, "number", 8);
  wire::Transfer transfer{};
  transfer.header.subject = channel;
  spool.add(0, wire::RecordKind::Transfer, transfer);
  wire::Collective collective{};
  collective.header.detail = 1;
  collective.header.subject = communicator;
  collective.beginTicks = collective.endTicks = 1250;
  spool.add(0, wire::RecordKind::Collective, collective);
  wire::RangeEnd end{};
  end.rangeId = 4;
  end.ticks = 1280;
  spool.add(0, wire::RecordKind::RangeEnd, end);
  spool.end(0, iteration, 1300);
  spool.rewrite(session());
  finish(open());
  EXPECT_THAT(
      rows("SELECT text, start_ns, dur_ns, depth, parent_id FROM slice JOIN string s ON s.id = "
           "name_id "
           "ORDER BY start_ns"),
      ElementsAre(
          "step|1000|300|0|-", "range|1050|230|0|-", "first|1100|100|1|1", "allreduce|1250|0|1|1"));
  EXPECT_THAT(rows("SELECT number, dur_ns FROM iteration"), ElementsAre("7|300"));
  EXPECT_THAT(
      rows("SELECT text, owner, s.start_ns FROM arg JOIN string ON string.id = key_id JOIN "
           "slice s ON "
           "s.id = owner_id ORDER BY text"),
      ElementsAre("number|slice|1000", "of the first|slice|1100", "sonde.number|slice|1000"));
  EXPECT_THAT(rows("SELECT count(*) FROM channel"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT channel_id FROM transfer"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT communicator_id FROM collective"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT count(*) FROM thread"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT rank, command FROM process"), ElementsAre("3|train.py"));
}

TEST_F(DrainerTest, StoresNothingTwiceWhenItDiedBetweenCommitAndRelease) {
  SpoolBuilder spool(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  for (std::uint64_t at = 0; at < 6000; ++at)
    spool.call(0, SliceKind::Api, "a", 1000 + 10 * at, 1005 + 10 * at);
  const fs::path file = spool.write(session());
  open()->drainOnce();
  const auto given = [&] {
    auto reader = SpoolReader::open(file, SpoolReader::Access::ReadOnly);
    return reader->snapshot().size();
  };
  EXPECT_EQ(given(), 1U);    // the full ones were given back
  spool.rewrite(session());  // as if they had not
  EXPECT_GT(given(), 2U);
  auto drainer = open();
  EXPECT_EQ(drainer->drainOnce().records, 0U);
  EXPECT_EQ(given(), 1U);
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT count(*), count(DISTINCT start_ns) FROM slice"),
              ElementsAre("6000|6000"));
}

TEST_F(DrainerTest, AnEndWhoseBeginARingHasLetGoIsNoLoss) {
  for (const std::uint32_t discarded : {0U, 3U}) {
    fs::create_directories(session());
    auto page = SessionPage::create(session(), ~0U, 1 << 20);
    ASSERT_TRUE(page) << page.error().message;
    page->words().discardedSlots.store(discarded);
    SpoolBuilder spool;
    spool.argInt(0, 0, "of a call that is not there", 1);
    wire::RangeEnd end{};
    end.rangeId = 4;
    end.ticks = 1280;
    spool.add(0, wire::RecordKind::RangeEnd, end);
    spool.write(session());
    finish(open());
    EXPECT_EQ(
        rows("SELECT reason, count FROM loss"),
        discarded == 0 ? std::vector<std::string>{"unbalanced|2"} : std::vector<std::string>{});
    fs::remove(output());
  }
}

TEST_F(DrainerTest, GivesTheRoomOfDeadProcessesBack) {
  SpoolBuilder dead;
  dead.call(0, SliceKind::Api, "a", 1000, 1100);
  const fs::path file = dead.write(session());
  {
    wire::SessionPage page{};
    page.allocatedBytes.store(5 << 20);
    std::ofstream(session() / "session", std::ios::binary)
        .write(reinterpret_cast<const char*>(&page), sizeof page);
  }
  auto drainer = open();
  EXPECT_EQ(drainer->drainOnce().liveImages, 0U);
  EXPECT_FALSE(fs::exists(file));
  std::ifstream in(session() / "session", std::ios::binary);
  wire::SessionPage page{};
  in.read(reinterpret_cast<char*>(&page), sizeof page);
  EXPECT_EQ(page.allocatedBytes.load(), 4U << 20);
}

TEST_F(DrainerTest, KnowsImagesThatWereReplacedAndTheirChildren) {
  const auto image = [&](std::int32_t pid,
                         std::int32_t parent,
                         std::uint64_t startTime,
                         std::uint32_t exec,
                         std::int64_t startNs) {
    SpoolBuilder spool(pid);
    spool.header().parentPid = parent;
    spool.header().startTime = startTime;
    spool.header().execCount = exec;
    spool.header().startTicks = static_cast<std::uint64_t>(startNs);
    spool.header().startMonotonicNs = startNs;
    spool.write(session());
  };
  image(::getpid(), 1, processStartTime(::getpid()), 0, 1000);
  image(::getpid(), 1, processStartTime(::getpid()), 1, 2000);
  image(1 << 22, ::getpid(), processStartTime(::getpid()) + 1, 0, 3000);
  auto drainer = open();
  EXPECT_EQ(drainer->drainOnce().liveImages, 1U);
  // The first image is closed, but its file stays, because the process counts its images by the
  // files.
  EXPECT_EQ(std::distance(fs::directory_iterator(session()), {}), 4);  // lock, session, two files
  ProcessFacts facts;
  facts.image = {1 << 22, processStartTime(::getpid()) + 1, 0};
  facts.exitStatus = 137;
  facts.exitSignal = 9;
  facts.endMonotonicNs = 5000;
  drainer->notes().add(facts);
  finish(std::move(drainer));
  EXPECT_THAT(
      rows("SELECT id, parent_id, exec_count, state, exit_signal, end_ns - start_ns FROM process "
           "ORDER BY start_ns"),
      ElementsAre("1|-|0|replaced|-|0", "2|1|1|running|-|-", "3|2|0|signalled|9|2000"));
}

TEST_F(DrainerTest, AProcessEndsInTheImageThatItWentOnToUnseen) {
  const auto image = [&](std::uint32_t exec) {
    SpoolBuilder spool;
    spool.header().execCount = exec;
    spool.header().startMonotonicNs = 1000 + exec;
    spool.write(session());
    return ImageId{spool.header().pid, spool.header().startTime, ImageId::kLast};
  };
  ProcessFacts facts;
  facts.image = image(0);
  auto drainer = open();
  drainer->drainOnce();
  image(1);
  facts.exitStatus = 3;
  drainer->notes().add(facts);
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT exec_count, exit_status FROM process ORDER BY exec_count"),
              ElementsAre("0|-", "1|3"));
}

TEST_F(DrainerTest, ConvertsTicksByTheReadingsOfTheFileAndItsOwn) {
  SpoolBuilder spool(1 << 22, wire::ClockKind::Tsc);
  // 2 ticks per ns; the recorder's reading comes from the options.
  spool.header().startTicks = 10'000;
  spool.header().startMonotonicNs = 1'000'000;
  spool.header().startRealtimeNs = 1'000'000 + 500;
  spool.call(0, SliceKind::Api, "a", 10'200, 10'400);
  spool.clockSync(0, 20'000, 1'005'000);
  spool.call(0, SliceKind::Api, "b", 20'200, 20'300);
  spool.write(session());
  DrainerOptions options;
  options.folder = session();
  options.part = part();
  options.clock = [] { return ClockTriple{40'000, 1'015'000, 1'015'500}; };
  auto drainer = Drainer::open(options);
  ASSERT_TRUE(drainer);
  finish(*std::move(drainer));
  EXPECT_THAT(rows(kNamed), ElementsAre("a|1000600|100|0", "b|1005600|50|0"));
  EXPECT_THAT(rows("SELECT process_id, ticks, monotonic_ns FROM clock_sync ORDER BY ticks"),
              ElementsAre("1|20000|1005000", "-|40000|1015000"));
}

TEST_F(DrainerTest, SaysWhatItCouldNotRead) {
  std::ofstream(session() / "0-0-1-1-0.spool") << "not a spool";
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  const DrainTotals totals = finish(open());
  EXPECT_EQ(totals.dropped.at("damaged"), 1U);
  EXPECT_EQ(rows("SELECT value FROM meta WHERE key LIKE 'unreadable %'").size(), 1U);
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("1"));
}

TEST_F(DrainerTest, OnlyOneDrainsASession) {
  const auto first = open();
  DrainerOptions options;
  options.folder = session();
  options.part = part();
  const auto second = Drainer::open(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Busy);
}

TEST_F(DrainerTest, RefusesThePartOfAnotherSession) {
  open()->drainOnce();
  fs::create_directories(folder_.path() / "2-def");
  DrainerOptions options;
  options.folder = folder_.path() / "2-def";
  options.part = part();
  EXPECT_FALSE(Drainer::open(options));
}

TEST_F(DrainerTest, LeavesTheSpoolAloneWhenAsked) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  const fs::path file = spool.write(session());
  const std::string before = test::readText(file);
  finish(open(true));
  EXPECT_EQ(test::readText(file), before);
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("1"));
}

TEST_F(DrainerTest, TurnsRecordingOff) {
  SpoolBuilder spool(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  reinterpret_cast<wire::ControlPage*>(spool.bytes().data() + wire::kControlOffset)
      ->recording.store(wire::kGateOpen);
  const fs::path file = spool.write(session());
  auto drainer = open();
  drainer->drainOnce();
  drainer->stopRecording();
  const std::string bytes = test::readText(file);
  EXPECT_EQ(bytes[wire::kControlOffset], 0);
}

}  // namespace
}  // namespace sonde::recorder
