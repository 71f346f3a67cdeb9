#include "session/recover.h"

#include "analysis/store/trace_file.h"
#include "session/find_session.h"
#include "session/manifest.h"
#include "session/spool_lock.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <thread>

namespace sonde::session {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SliceKind;

class RecoverTest : public testing::Test {
 protected:
  RecoverTest() {
    fs::create_directories(session());
    Manifest manifest;
    manifest.session = session().filename();
    manifest.output = output();
    manifest.part = part();
    manifest.launcherPid = 1 << 22;  // higher than any pid
    manifest.bootId = currentBootId();
    EXPECT_TRUE(writeManifest(session(), manifest));
  }
  fs::path place() const { return folder_.path() / "place"; }
  fs::path session() const {
    return place() / ("sonde-" + std::to_string(::geteuid())) / "4194304-abc";
  }
  fs::path part() const { return folder_.path() / "out.sonde.part"; }
  fs::path output() const { return folder_.path() / "out.sonde"; }

  // What the killed recorder had stored, and what came after that.
  SpoolBuilder recordedByHalf() {
    SpoolBuilder spool(::getpid());
    spool.header().startTime = processStartTime(::getpid());
    spool.call(0, SliceKind::Api, "stored", 1000, 1100);
    spool.write(session());
    drainer()->drainOnce();
    spool.call(0, SliceKind::Api, "left", 1200, 1300);
    spool.rewrite(session());
    return spool;
  }
  std::unique_ptr<Drainer> drainer(bool keepSpool = false) {
    DrainerOptions options;
    options.folder = session();
    options.part = part();
    options.keepSpool = keepSpool;
    auto drainer = Drainer::open(options);
    EXPECT_TRUE(drainer);
    return *std::move(drainer);
  }
  std::vector<std::string> names(const fs::path& trace) {
    auto database = store::openTrace(trace);
    EXPECT_TRUE(database) << database.error().message;
    return test::readRows(
        *database, "SELECT text FROM slice JOIN string s ON s.id = name_id ORDER BY start_ns");
  }

  test::TemporaryFolder folder_;
  RecoverOptions options_;
};

TEST_F(RecoverTest, FinishesThePartOnce) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  drainer(true)->drainOnce();
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(recovered->trace, output());
  EXPECT_THAT(names(output()), ElementsAre("a"));
  EXPECT_FALSE(fs::exists(session()));
  EXPECT_FALSE(fs::exists(part()));
  const auto again = recoverSession(session(), options_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::NotFound);
}

TEST_F(RecoverTest, KnowsTheCommandsThatItsRecorderHasNotSeen) {
  Manifest manifest = *readManifest(session());
  manifest.redact = {"corp-*"};
  ASSERT_TRUE(writeManifest(session(), manifest));
  SpoolBuilder spool;
  spool.command({"train", "--token=SECRET", "corp-17"});
  spool.write(session());
  options_.output = folder_.path() / "copy.sonde";
  for (const fs::path& trace : {options_.output, output()}) {
    const auto recovered = recoverSession(session(), options_);
    ASSERT_TRUE(recovered) << recovered.error().message;
    auto database = store::openTrace(trace);
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_THAT(test::readRows(*database, "SELECT command FROM process"),
                ElementsAre("train --token=[redacted] [redacted]"));
    options_.output.clear();
  }
}

// That began after it, but still run.
TEST_F(RecoverTest, ReadsTheEnvironmentOfProcessesThatRun) {
  SpoolBuilder spool(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  spool.write(session());
  const std::atomic<bool> stop{true};
  options_.stop = &stop;
  ASSERT_TRUE(recoverSession(session(), options_));
  auto trace = store::openTrace(output());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(test::readRows(*trace, "SELECT command FROM process"),
              ElementsAre(testing::HasSubstr("drainer_test")));
}

TEST_F(RecoverTest, LeavesRunningProcessesAloneUnlessToldToFollow) {
  recordedByHalf();
  options_.follow = false;
  const auto left = recoverSession(session(), options_);
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->trace.empty());
  EXPECT_TRUE(fs::exists(session() / "manifest.json"));
  options_.follow = true;
  const std::atomic<bool> stop{true};
  options_.stop = &stop;
  int said = 0;
  options_.say = [&](const std::string&) { ++said; };
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), ElementsAre("stored", "left"));
}

TEST_F(RecoverTest, WritesTheWholeTraceElsewhereAndLeavesTheSession) {
  const SpoolBuilder spool = recordedByHalf();
  const std::string file = test::readText(session() / SpoolBuilder(spool).fileName());
  const fs::path other = folder_.path() / "other.sonde";
  options_.output = other;
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(other), ElementsAre("stored", "left"));
  EXPECT_THAT(names(part()), ElementsAre("stored"));
  EXPECT_EQ(test::readText(session() / SpoolBuilder(spool).fileName()), file);
  const auto again = recoverSession(session(), options_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::InvalidArgument);
}

TEST_F(RecoverTest, ReadsALoneSpoolFile) {
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::create_directories(elsewhere);
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  const fs::path file = spool.write(elsewhere);
  SpoolBuilder other(4711);
  other.call(0, SliceKind::Api, "not asked for", 1000, 1100);
  other.write(elsewhere);
  const auto without = recoverSession(file, options_);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::NotFound);
  options_.output = folder_.path() / "lone.sonde";
  const auto recovered = recoverSession(file, options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(options_.output), ElementsAre("a"));
  EXPECT_FALSE(fs::exists(elsewhere / "lock"));
}

TEST_F(RecoverTest, FindsTheSessionOfATrace) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  std::ofstream(part()).close();  // as before its recorder's first commit
  EXPECT_EQ(findSession(part(), {place()})->folder, session());
  drainer(true)->drainOnce();
  EXPECT_EQ(findSession(part(), {place()})->folder, session());
  EXPECT_EQ(findSession(output(), {place()})->folder, session()) << "its name to be";
  options_.places = {place()};
  const auto recovered = recoverSession(part(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), ElementsAre("a"));
  EXPECT_FALSE(fs::exists(session()));
  EXPECT_THAT(findSession(output(), {place()}).error().message, testing::HasSubstr("is complete"));
}

TEST_F(RecoverTest, SaysWhereTheSessionOfAPartIsToBeLookedFor) {
  recordedByHalf();
  for (const fs::path& out : {fs::path(), folder_.path() / "other.sonde"}) {
    options_.output = out;
    options_.places = {"/no/such/place"};
    const auto refused = recoverSession(part(), options_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::NotFound);
    EXPECT_THAT(refused.error().message,
                testing::HasSubstr("sonde-" + std::to_string(::geteuid()) +
                                   "/4194304-abc in the --spool of that run"));
    EXPECT_FALSE(fs::exists(folder_.path() / "other.sonde"));
  }
}

TEST_F(RecoverTest, AsksForAPartThatWasMovedToBeMovedBack) {
  recordedByHalf();
  const fs::path moved = folder_.path() / "moved.part";
  fs::rename(part(), moved);
  options_.places = {place()};
  const auto refused = recoverSession(moved, options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("move it back"));
  EXPECT_FALSE(fs::exists(output()));
}

TEST_F(RecoverTest, OnlyRenamesWhatWasFinished) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  // The rename fails as if the recorder had died before it.
  ASSERT_FALSE(drainer(true)->finish(folder_.path() / "no" / "such" / "folder"));
  ASSERT_TRUE(fs::exists(part()));
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_TRUE(recovered->wasFinished);
  EXPECT_THAT(names(output()), ElementsAre("a"));
  EXPECT_FALSE(fs::exists(session()));
}

TEST_F(RecoverTest, FinalisesWhatWasDrained) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  ASSERT_FALSE(drainer(true)->finish(folder_.path() / "no" / "such" / "folder"));
  {
    auto trace = store::reopenTrace(part());
    ASSERT_TRUE(trace);
    ASSERT_TRUE(trace->exec("DELETE FROM meta WHERE key = 'finished'"));
  }
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_TRUE(recovered->wasFinished);
  auto trace = store::openTrace(output());
  ASSERT_TRUE(trace);
  EXPECT_TRUE(*store::isFinished(*trace));
  EXPECT_THAT(test::readRows(*trace, "SELECT count(*) FROM process"), ElementsAre("1"));
}

TEST_F(RecoverTest, OnlyCleansUpBehindARename) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  ASSERT_TRUE(drainer(true)->finish(output()));
  const std::string before = test::readText(output());
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_TRUE(recovered->wasFinished);
  EXPECT_EQ(test::readText(output()), before);
  EXPECT_FALSE(fs::exists(session()));
}

// A trace of the same name by another recording, made after this one's recorder was killed.
class RecoverBesideAnotherTest : public RecoverTest {
 protected:
  RecoverBesideAnotherTest() {
    recordedByHalf();
    fs::remove(part());
    const fs::path other = folder_.path() / "other" / "1-other";
    fs::create_directories(other);
    SpoolBuilder spool;
    spool.call(0, SliceKind::Api, "of another", 1000, 1100);
    spool.write(other);
    DrainerOptions options;
    options.folder = other;
    options.part = part();
    auto recorder = Drainer::open(options);
    EXPECT_TRUE(recorder && (*recorder)->finish(output()));
    const std::atomic<bool>* const stop = &stop_;
    options_.stop = stop;
  }
  std::atomic<bool> stop_{true};
};

TEST_F(RecoverBesideAnotherTest, KeepsTheOtherTraceAndItsOwnSpool) {
  const std::string before = test::readText(output());
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Io);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("-o OTHER"));
  EXPECT_EQ(test::readText(output()), before);
  EXPECT_FALSE(fs::exists(part()));
  options_.output = folder_.path() / "rescued.sonde";
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(options_.output), testing::Contains("left"));
  EXPECT_EQ(test::readText(output()), before);
}

TEST_F(RecoverBesideAnotherTest, ReplacesTheOtherTraceWhenForced) {
  options_.replace = true;
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), testing::Contains("left"));
  EXPECT_FALSE(fs::exists(session()));
}

TEST_F(RecoverBesideAnotherTest, LeavesThePartOfAnotherRecordingAlone) {
  fs::rename(output(), part());
  options_.replace = true;
  const std::string before = test::readText(part());
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Io);
  EXPECT_EQ(test::readText(part()), before);
}

TEST_F(RecoverBesideAnotherTest, ARecorderDoesNotRenameOverATraceThatCameMeanwhile) {
  const std::string before = test::readText(output());
  ASSERT_FALSE(drainer()->finish(output()));
  EXPECT_EQ(test::readText(output()), before);
  EXPECT_TRUE(fs::exists(session() / "manifest.json"));
  options_.output = folder_.path() / "rescued.sonde";
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(options_.output), testing::Contains("left"));
}

TEST_F(RecoverTest, DropsTheSessionWhoseRecorderIsDead) {
  recordedByHalf();
  Manifest manifest = *readManifest(session());
  manifest.launcherPid = ::getpid();
  manifest.launcherStartTime = processStartTime(::getpid());
  ASSERT_TRUE(writeManifest(session(), manifest));
  EXPECT_FALSE(dropSessionOf(part(), {place()}));
  manifest.launcherPid = 1 << 22;
  ASSERT_TRUE(writeManifest(session(), manifest));
  EXPECT_TRUE(dropSessionOf(folder_.path() / "x.part", {place()}));
  EXPECT_TRUE(fs::exists(session()));
  EXPECT_TRUE(dropSessionOf(part(), {place()}));
  EXPECT_FALSE(fs::exists(session()));
}

TEST_F(RecoverTest, DropsTheSessionOfAPartThatWasNotWrittenYet) {
  std::ofstream(part()).close();
  EXPECT_TRUE(dropSessionOf(part(), {place()}));
  EXPECT_FALSE(fs::exists(session()));
}

TEST_F(RecoverTest, KeepsASessionWhosePartIsGone) {
  EXPECT_TRUE(dropSessionOf(part(), {place()}));
  EXPECT_TRUE(fs::exists(session()));
}

TEST_F(RecoverTest, TakesNoLockThatItsHolderHasRemoved) {
  // Between opening and locking it; how often that happens is up to the machine.
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done.load()) {
      fs::remove(session() / "lock");
    }
  });
  bool refused = false;
  for (int round = 0; round < 500'000 && !refused; ++round)
    refused = !SpoolLock::take(session());
  done.store(true);
  other.join();
  EXPECT_TRUE(refused);
}

TEST_F(RecoverTest, RefusesASessionThatIsBeingRecorded) {
  const auto recorder = drainer();
  const auto recovered = recoverSession(session(), options_);
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, ErrorCode::Busy);
  // It is this process that holds the lock; the launcher in the manifest is dead.
  EXPECT_THAT(recovered.error().message,
              testing::HasSubstr("by process " + std::to_string(::getpid())));
}

TEST_F(RecoverTest, NamesNoProcessThatIsDeadAsTheHolder) {
  const auto recorder = drainer();
  std::ofstream(session() / "lock") << "4194304 1\n";
  const auto refused = SpoolLock::take(session());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("by another process"));
}

TEST_F(RecoverTest, DropsNoSessionThatSomebodyRecovers) {
  recordedByHalf();
  const auto recoverer = drainer();
  const auto refused = dropSessionOf(part(), {place()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_TRUE(fs::exists(session() / "manifest.json"));
}

TEST_F(RecoverTest, FindsAbandonedSessions) {
  EXPECT_THAT(abandonedSessions({place(), place(), "/no/such/place"}), ElementsAre(session()));
  Manifest alive = *readManifest(session());
  alive.launcherPid = ::getpid();
  alive.launcherStartTime = processStartTime(::getpid());
  ASSERT_TRUE(writeManifest(session(), alive));
  EXPECT_THAT(abandonedSessions({place()}), IsEmpty());
  alive.bootId = "of another boot";
  ASSERT_TRUE(writeManifest(session(), alive));
  EXPECT_THAT(abandonedSessions({place()}), ElementsAre(session()));
}

}  // namespace
}  // namespace sonde::session
