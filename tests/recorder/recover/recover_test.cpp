#include "recorder/recover/recover.h"

#include "analysis/store/trace_name.h"
#include "tests/recorder/recover/recover_rig.h"
#include "tests/support/in_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string_view>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
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

// Processes that started after the recorder's death and still run.
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
              ElementsAre(HasSubstr("drain_test")));
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

TEST_F(RecoverTest, FindsTheSessionInTheFolderThatWasGivenToSpool) {
  const auto found = findSession(place(), {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->folder, session());
  const fs::path other = session().parent_path() / "4194304-def";
  fs::create_directories(other);
  auto manifest = *readManifest(session());
  manifest.command = {"python", "train.py"};
  ASSERT_TRUE(writeManifest(other, manifest));
  const auto several = findSession(place(), {});
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(several.error().message,
              testing::AllOf(HasSubstr("2 sessions"),
                             HasSubstr(session().string()),
                             HasSubstr(other.string() + "  python train.py")));
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
  EXPECT_THAT(findSession(output(), {place()}).error().message, HasSubstr("is complete"));
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
                HasSubstr("sonde-" + std::to_string(::geteuid()) +
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
  EXPECT_THAT(refused.error().message, HasSubstr("move it back"));
  EXPECT_FALSE(fs::exists(output()));
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
  EXPECT_THAT(refused.error().message,
              testing::AllOf(
                  testing::StartsWith("/proc/out.sonde.part cannot be written ("),
                  testing::EndsWith("): make it writable and finish the trace with sonde recover " +
                                    session().string() +
                                    ", or write it elsewhere with sonde "
                                    "recover " +
                                    session().string() + " -o OTHER")));
  options_.output = "/proc/other.sonde";
  const auto elsewhere = recoverSession(session(), options_);
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.error().message,
              testing::AllOf(testing::StartsWith("/proc/other.sonde.part cannot be written ("),
                             testing::EndsWith(": give another place with -o")));
  EXPECT_TRUE(fs::exists(session() / "manifest.json"));
}

TEST_F(RecoverTest, BlamesTheTraceThatIsDamagedAndLeavesNoCopy) {
  recordedByHalf();
  store::removeTrace(part());
  std::ofstream(part()) << std::string(5000, 'x');
  for (const char* name : {"other.sonde", "other.sonde", ""}) {
    options_.output = *name == '\0' ? fs::path() : folder_.path() / name;
    const auto refused = recoverSession(session(), options_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Corrupt);
    EXPECT_THAT(refused.error().message,
                testing::AllOf(testing::StartsWith(part().string() + " is damaged ("),
                               testing::Not(HasSubstr("other.sonde.part"))));
    EXPECT_FALSE(fs::exists(folder_.path() / "other.sonde.part"));
    EXPECT_EQ(fs::file_size(part()), 5000U);
  }
}

TEST_F(RecoverTest, SaysThatACopyFoundItsNameTakenMeanwhile) {
  recordedByHalf();
  const fs::path other = folder_.path() / "other.sonde";
  options_.output = other;
  options_.progress = Progress([&](std::string_view, double) { std::ofstream(other) << "taken"; });
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused.error().message,
            other.string() + " exists: name another file, or -f to replace it");
  EXPECT_EQ(test::readText(other), "taken");
  EXPECT_FALSE(fs::exists(store::partOf(other)));
}

TEST_F(RecoverTest, SaysThatSpoolFilesOfACopyCouldNotBeOpened) {
  recordedByHalf();
  options_.output = folder_.path() / "other.sonde";
  options_.replace = true;
  EXPECT_TRUE(test::inChild([this] {
    const int lowestFree = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowestFree);
    const rlim_t enoughForATrace = static_cast<rlim_t>(lowestFree) + 7;
    const rlimit few{enoughForATrace, enoughForATrace};
    setrlimit(RLIMIT_NOFILE, &few);
    const auto refused = recoverSession(session(), options_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                testing::AllOf(
                    testing::StartsWith("1 spool files could not be opened"),
                    testing::EndsWith("finish the trace with sonde recover " + session().string() +
                                      " -o " + options_.output.string() + " -f")));
  }));
}

// It would be removed to make room for its own copy.
TEST_F(RecoverTest, WritesNoCopyInPlaceOfItsOwnTrace) {
  recordedByHalf();
  fs::create_directory_symlink(folder_.path(), folder_ / "link");
  for (const fs::path& spelling :
       {folder_.path() / "." / "out.sonde", folder_.path() / "link" / "out.sonde"}) {
    options_.output = spelling;
    const auto refused = recoverSession(session(), options_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(refused.error().message,
                HasSubstr("the name of this session's own trace: omit -o"));
  }
  EXPECT_THAT(names(part()), ElementsAre("stored"));
}

// The unfinished trace is the session's: the user has moved it to a place with more room.
TEST_F(RecoverTest, WritesNoCopyOverAnUnfinishedTrace) {
  recordedByHalf();
  options_.output = folder_.path() / "other.sonde";
  options_.replace = true;
  const fs::path moved = folder_.path() / "other.sonde.part";
  for (const char* suffix : {"", "-wal"})
    if (fs::exists(part().string() + suffix))
      fs::rename(part().string() + suffix, moved.string() + suffix);
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr(moved.string() + " is in the way"));
  EXPECT_THAT(names(moved), ElementsAre("stored"));
}

TEST_F(RecoverTest, WritesNoCopyBesideALogThatIsNotItsOwn) {
  recordedByHalf();
  options_.output = folder_.path() / "other.sonde";
  const fs::path log = folder_.path() / "other.sonde.part-wal";
  test::writeText(log, "of a trace that was moved away");
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(log.string() + " is in the way"));
  EXPECT_EQ(test::readText(log), "of a trace that was moved away");
}

TEST_F(RecoverTest, SaysThatAFolderHasTheNameOfTheTrace) {
  recordedByHalf();
  options_.replace = true;
  fs::create_directory(output());
  const auto own = recoverSession(session(), options_);
  ASSERT_FALSE(own);
  EXPECT_THAT(
      own.error().message,
      testing::EndsWith("not a file that can be replaced: give another name with sonde recover " +
                        session().string() + " -o OTHER"));
  options_.output = folder_.path() / "other.sonde";
  fs::create_directory(options_.output);
  const auto copy = recoverSession(session(), options_);
  ASSERT_FALSE(copy);
  EXPECT_THAT(copy.error().message, HasSubstr("not a file that can be replaced"));
  EXPECT_THAT(names(part()), ElementsAre("stored"));
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
}  // namespace sonde::recorder
