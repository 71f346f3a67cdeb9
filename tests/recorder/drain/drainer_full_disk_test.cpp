#include "analysis/store/trace_name.h"
#include "recorder/spool/manifest.h"
#include "tests/recorder/drain/drainer_rig.h"
#include "tests/support/file_limit.h"

#include <gmock/gmock.h>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::FileLimit;
using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

class FullDisk : public DrainerTest {
 protected:
  // Opens a recorder whose clock the test sets.
  std::unique_ptr<Drainer> openWithClock() {
    DrainerOptions options;
    options.folder = session();
    options.part = part();
    options.job = "job";
    options.clock = [this] { return ClockTriple{0, nowNs_, nowNs_}; };
    auto drainer = Drainer::open(std::move(options));
    EXPECT_TRUE(drainer) << drainer.error().message;
    return *std::move(drainer);
  }

  std::int64_t nowNs_ = 1000;
};

class HeldUp : public FullDisk {
 protected:
  HeldUp() {
    manyCalls().write(session());
    drainer_ = openWithClock();
    limit_.set(12 << 20);
    EXPECT_TRUE(drainer_->drainOnce().stopped);
  }
  void expectAllIsStored() {
    const DrainTotals totals = finish(std::move(drainer_));
    EXPECT_THAT(totals.dropped, IsEmpty());
    EXPECT_THAT(totals.warnings,
                ElementsAre(testing::ContainsRegex("from .* to .* nothing could")));
    EXPECT_THAT(rows("SELECT count(*), count(DISTINCT start_ns) FROM slice"),
                ElementsAre("400000|400000"));
    EXPECT_THAT(rows("SELECT ts_ns, severity, source FROM note"),
                ElementsAre("1000|warning|recorder"));
  }

  const FileLimit limit_;
  std::unique_ptr<Drainer> drainer_;
};

constexpr std::int64_t kRetryNs = 10'000'000'000;

TEST_F(HeldUp, GoesOnWhenThereIsRoomAgain) {
  limit_.lift();
  const DrainProgress early = drainer_->drainOnce();
  EXPECT_TRUE(early.stopped) << "it was tried a moment ago";
  EXPECT_FALSE(early.why.empty());
  nowNs_ += kRetryNs;
  const DrainProgress late = drainer_->drainOnce();
  EXPECT_FALSE(late.stopped);
  EXPECT_GT(late.records, 0U);
  expectAllIsStored();
}

TEST_F(HeldUp, TriesAgainWhenNotEvenTheTraceCanBeOpened) {
  limit_.set(0);
  nowNs_ += kRetryNs;
  EXPECT_TRUE(drainer_->drainOnce().stopped);
  limit_.lift();
  EXPECT_TRUE(drainer_->drainOnce().stopped);
  nowNs_ += kRetryNs;
  EXPECT_FALSE(drainer_->drainOnce().stopped);
  expectAllIsStored();
}

TEST_F(FullDisk, KnowsWhoStillRunsWhileTheTraceCannotBeOpened) {
  SpoolBuilder running(::getpid());
  running.header().startTime = processStartTime(::getpid());
  running.write(session());
  manyCalls().write(session());
  const auto drainer = openWithClock();
  const FileLimit limit;
  limit.set(12 << 20);
  EXPECT_EQ(drainer->drainOnce().liveImages, 1U);
  limit.set(0);
  nowNs_ += kRetryNs;
  const DrainProgress blind = drainer->drainOnce();
  EXPECT_TRUE(blind.stopped);
  EXPECT_EQ(blind.liveImages, 1U);
  limit.lift();
}

TEST_F(HeldUp, TriesOnceMoreAtTheEnd) {
  limit_.lift();
  expectAllIsStored();
}

TEST_F(HeldUp, SaysThatThereIsNoRoomWhenNotEvenLossesCanBeStored) {
  limit_.set(0);
  const auto totals = drainer_->finish(output());
  limit_.lift();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().code, ErrorCode::NoSpace) << totals.error().message;
  EXPECT_THAT(totals.error().message, testing::HasSubstr("File too large"));
}

TEST_F(HeldUp, TurnsRecordingOffAllTheSame) {
  limit_.set(0);
  nowNs_ += kRetryNs;
  EXPECT_TRUE(drainer_->drainOnce().stopped);
  SpoolBuilder spool(4711);
  reinterpret_cast<wire::ControlPage*>(spool.bytes().data() + wire::kControlOffset)
      ->recording.store(wire::kGateOpen);
  limit_.lift();
  const fs::path file = spool.write(session());
  drainer_->stopRecording();
  EXPECT_EQ(test::readText(file)[wire::kControlOffset], 0);
}

// Its image was closed and its file deleted earlier; then the trace is opened again.
TEST_F(FullDisk, StoresTheStatusOfAProcessWhoseSpoolIsGone) {
  SpoolBuilder ended;
  ended.header().startMonotonicNs = 1000;
  ended.header().startTicks = 1000;
  ended.call(0, wire::SliceKind::Api, "a", 1010, 1020);
  const fs::path file = ended.write(session());
  auto drainer = openWithClock();
  nowNs_ = 2000;
  drainer->drainOnce();
  ASSERT_FALSE(fs::exists(file));
  ProcessFacts facts;
  facts.image = {ended.header().pid, ended.header().startTime, ImageId::kLast};
  facts.exitStatus = 137;
  facts.exitSignal = 9;
  facts.endMonotonicNs = 5000;
  drainer->notes().add(facts);
  const FileLimit limit;
  limit.set(0);
  EXPECT_TRUE(drainer->drainOnce().stopped);
  limit.lift();
  nowNs_ += kRetryNs;
  EXPECT_FALSE(drainer->drainOnce().stopped);
  SpoolBuilder child(1 << 22 | 1);
  child.header().parentPid = ended.header().pid;
  child.header().startTime = ended.header().startTime;
  child.write(session());
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT id, parent_id, state, exit_status, exit_signal, end_ns - start_ns FROM "
                   "process ORDER BY id"),
              ElementsAre("1|-|signalled|137|9|4000", "2|1|unknown|-|-|0"));
}

// Their transaction outgrows SQLite's cache, so it fails while rows are added, not at the commit.
TEST_F(FullDisk, StoresOrCountsEachCallOfManyProcesses) {
  constexpr int kProcesses = 5;
  for (int at = 0; at < kProcesses; ++at)
    manyCalls((1 << 22) + at).write(session());
  const FileLimit limit;
  auto drainer = openWithClock();
  limit.set(4 << 20);
  EXPECT_TRUE(drainer->drainOnce().stopped);
  const DrainTotals totals = finish(std::move(drainer));
  limit.lift();
  EXPECT_THAT(rows("SELECT sum(count) + (SELECT count(*) FROM slice) FROM loss"),
              ElementsAre(std::to_string(kProcesses * kManyCalls)));
  EXPECT_THAT(totals.dropped, testing::Contains(testing::Key("output full")));
}

// The user deletes the trace to make room.
class DeletedTrace : public FullDisk {
 protected:
  DeletedTrace() {
    SpoolBuilder spool(::getpid());
    spool.header().startTime = processStartTime(::getpid());
    spool.call(0, wire::SliceKind::Api, "stored", 1000, 1100);
    spool.call(0, wire::SliceKind::Api, "stored, too", 1150, 1160);
    spool.openSlot(0);
    spool.call(0, wire::SliceKind::Api, "kept", 1200, 1300);
    spool.write(session());
    drainer_ = openWithClock();
    ProcessFacts facts;
    facts.image = {::getpid(), processStartTime(::getpid()), 0};
    facts.rank = 7;
    drainer_->notes().add(facts);
    drainer_->notes().setMeta("told", "before");
    drainer_->notes().addLoss("process", "image", "spool full", 3);
    EXPECT_FALSE(drainer_->drainOnce().stopped);
    limit_.set(0);
    drainer_->notes().setMeta("a", "b");
    EXPECT_TRUE(drainer_->drainOnce().stopped);
    store::removeTrace(part());
  }
  void expectWhatIsLeft() {
    limit_.lift();
    const auto totals = drainer_->finish(output());
    ASSERT_TRUE(totals) << totals.error().message;
    EXPECT_THAT(
        totals->dropped,
        testing::UnorderedElementsAre(std::pair("part missing", 2), std::pair("spool full", 3)));
    EXPECT_THAT(totals->warnings,
                testing::UnorderedElementsAre(
                    testing::HasSubstr("at least 2 records that only it had are lost"),
                    testing::HasSubstr("nothing could be stored")));
    EXPECT_THAT(rows("SELECT text FROM slice JOIN string s ON s.id = name_id"),
                ElementsAre("kept"));
    EXPECT_THAT(rows("SELECT key, value FROM meta WHERE key IN ('a', 'job', 'told') ORDER BY key"),
                ElementsAre("a|b", "job|job", "told|before"));
    EXPECT_THAT(rows("SELECT rank FROM process"), ElementsAre("7"));
  }

  const FileLimit limit_;
  std::unique_ptr<Drainer> drainer_;
};

TEST_F(DeletedTrace, IsCountedAndWhatTheRecorderToldIsToldAgain) {
  limit_.set(3000);  // the file can be created, but not written
  nowNs_ += kRetryNs;
  EXPECT_TRUE(drainer_->drainOnce().stopped);
  limit_.lift();
  nowNs_ += kRetryNs;
  const DrainProgress progress = drainer_->drainOnce();
  EXPECT_FALSE(progress.stopped);
  EXPECT_EQ(progress.newImages.size(), 1U);
  expectWhatIsLeft();
}

TEST_F(DeletedTrace, IsNoticedAtTheEnd) {
  expectWhatIsLeft();
}

TEST_F(FullDisk, LosesNothingUncountedWhenItIsKilledOnAFullDisk) {
  manyCalls().write(session());
  const FileLimit limit;
  const fs::path killed = folder_.path() / "killed";
  bool ending = false;
  int passes = 0;
  DrainerOptions options;
  options.folder = session();
  options.part = part();
  options.clock = [&] {
    if (!ending)
      return ClockTriple{};
    limit.lift();  // the state that the last transaction finds is that after a kill there
    fs::remove_all(killed);
    fs::create_directories(killed);
    fs::copy(session(), killed / session().filename(), fs::copy_options::recursive);
    for (const char* suffix : {"", "-wal"})
      if (fs::exists(part().string() + suffix))
        fs::copy_file(part().string() + suffix, killed / ("out.sonde.part" + std::string(suffix)));
    if (++passes == 1)
      limit.set(64 << 10);  // the attempt to store fails; then there is room to count
    return ClockTriple{};
  };
  auto drainer = Drainer::open(options);
  ASSERT_TRUE(drainer);
  limit.set(12 << 20);
  ASSERT_TRUE((*drainer)->drainOnce().stopped);
  ending = true;
  const auto counted = (*drainer)->finish(output());
  limit.lift();
  ASSERT_TRUE(counted) << counted.error().message;
  ASSERT_THAT(counted->dropped, testing::Contains(testing::Key("output full")));
  EXPECT_THAT(counted->warnings, ElementsAre(testing::HasSubstr("could not grow any more")));
  ASSERT_GT(passes, 2);
  ASSERT_TRUE(fs::exists(killed));
  DrainerOptions again;
  again.folder = killed / session().filename();
  again.part = killed / "out.sonde.part";
  auto recoverer = Drainer::open(again);
  ASSERT_TRUE(recoverer) << recoverer.error().message;
  const auto totals = (*recoverer)->finish(killed / "out.sonde");
  ASSERT_TRUE(totals) << totals.error().message;
  std::uint64_t found = totals->events.at("slice");
  for (const auto& [reason, count] : totals->dropped)
    found += count;
  EXPECT_EQ(found, kManyCalls);
}

}  // namespace
}  // namespace sonde::recorder
