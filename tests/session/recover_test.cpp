#include "session/recover.h"

#include "session/session_page.h"
#include "tests/session/recover_rig.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>

namespace sonde::session {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SliceKind;

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

// A full slot was stored and given back, so only the unfinished trace has its records.
class RecoverWithoutPartTest : public RecoverTest {
 protected:
  RecoverWithoutPartTest() {
    EXPECT_TRUE(SessionPage::create(session(), 1, 1 << 20));
    SpoolBuilder spool;
    spool.call(0, SliceKind::Api, "stored", 1000, 1100);
    spool.call(0, SliceKind::Api, "stored, too", 1150, 1160);
    wire::OpenScope scope{};
    scope.beginTicks = 1120;
    scope.name = spool.string("iteration");
    scope.token = 77;
    scope.kind = SliceKind::Iteration;
    spool.openSlot(0, {scope});
    spool.call(0, SliceKind::Api, "left", 1200, 1300);
    spool.end(0, 77, 1400);
    const auto file = spool.write(session());
    // As long as its process lives the file stays.
    spool.header().pid = ::getpid();
    spool.header().startTime = processStartTime(::getpid());
    fs::remove(file);
    spool.write(session());
    drainer()->drainOnce();
    spool.header().pid = 1 << 22;
    fs::rename(part(), moved_);
    options_.stop = &stop_;
  }
  const fs::path moved_ = folder_.path() / "moved.part";
  std::atomic<bool> stop_{true};
};

TEST_F(RecoverWithoutPartTest, RefusesAndKeepsAllThereIs) {
  for (const fs::path& elsewhere : {fs::path(), folder_.path() / "rescued.sonde"}) {
    options_.output = elsewhere;
    const auto refused = recoverSession(session(), options_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::NotFound);
    EXPECT_THAT(refused.error().message,
                testing::AllOf(testing::StartsWith(part().string() + " is not there any more"),
                               testing::HasSubstr("at least 2 records"),
                               testing::HasSubstr("move it back there, with its -wal")));
    EXPECT_FALSE(fs::exists(output()) || fs::exists(part()));
  }
  options_.output.clear();
  fs::rename(moved_, part());
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), ElementsAre("stored", "stored, too", "iteration", "left"));
}

TEST_F(RecoverWithoutPartTest, CountsWhatIsGoneWhenForced) {
  options_.replace = true;
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), ElementsAre("iteration", "left"));
  auto trace = store::openTrace(output());
  ASSERT_TRUE(trace);
  EXPECT_THAT(test::readRows(*trace, "SELECT count, reason FROM loss"),
              ElementsAre("2|part missing"));
  EXPECT_THAT(test::readRows(*trace, "SELECT text FROM note"),
              ElementsAre(testing::HasSubstr("at least 2 records, is lost")));
  EXPECT_THAT(test::readRows(*trace, "SELECT number FROM iteration"), IsEmpty());
}

TEST_F(RecoverTest, MakesTheFolderOfTheTraceAnewWhenNothingWasInIt) {
  Manifest manifest = *readManifest(session());
  manifest.output = folder_.path() / "gone" / "out.sonde";
  manifest.part = folder_.path() / "gone" / "out.sonde.part";
  ASSERT_TRUE(writeManifest(session(), manifest));
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(manifest.output), ElementsAre("a"));
}

TEST_F(RecoverTest, SaysWhatToDoWhenTheTraceCannotBeWritten) {
  Manifest manifest = *readManifest(session());
  manifest.output = "/proc/out.sonde";
  manifest.part = "/proc/out.sonde.part";
  ASSERT_TRUE(writeManifest(session(), manifest));
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  spool.write(session());
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(
      refused.error().message,
      testing::AllOf(testing::StartsWith("/proc/out.sonde.part is not there any more ("),
                     testing::HasSubstr("sonde recover " + session().string() + " -o OTHER -f")));
  options_.output = "/proc/other.sonde";
  const auto elsewhere = recoverSession(session(), options_);
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.error().message,
              testing::AllOf(testing::StartsWith("/proc/other.sonde.part cannot be written ("),
                             testing::EndsWith(": give another place with -o")));
  EXPECT_TRUE(fs::exists(session() / "manifest.json"));
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
}  // namespace
}  // namespace sonde::session
