// Recovery at the same time as other recorders and other recordings.
#include "tests/recorder/recover/recover_rig.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <thread>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SliceKind;

// Another recording's trace with the same name, created after this one's recorder was killed.
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
  // The removal happens between opening and locking; how often depends on the machine.
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
  // This process holds the lock; the launcher in the manifest is dead.
  EXPECT_THAT(recovered.error().message,
              testing::HasSubstr("process " + std::to_string(::getpid()) + " records or recovers"));
}

TEST_F(RecoverTest, NamesNoProcessThatIsDeadAsTheHolder) {
  const auto recorder = drainer();
  std::ofstream(session() / "lock") << "4194304 1\n";
  const auto refused = SpoolLock::take(session());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("another process records or recovers"));
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

// Its recorder was killed before it wrote the manifest, or someone has removed that.
TEST_F(RecoverTest, NeverDeletesASpoolWithoutAManifest) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1000, 1100);
  const fs::path file = spool.write(session());
  fs::remove(session() / "manifest.json");
  const std::string before = test::readText(file);
  EXPECT_THAT(abandonedSessions({place()}), ElementsAre(session()));
  EXPECT_TRUE(dropSessionOf(part(), {place()}));
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("name the trace with -o"));
  EXPECT_EQ(test::readText(file), before);
  options_.output = folder_.path() / "rescued.sonde";
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(options_.output), ElementsAre("a"));
  EXPECT_EQ(test::readText(file), before);
}

TEST_F(RecoverTest, DeletesWhatIsLeftOfASessionWithoutSpoolAndManifest) {
  fs::remove(session() / "manifest.json");
  EXPECT_THAT(abandonedSessions({place()}), IsEmpty());
  EXPECT_FALSE(fs::exists(session()));
}

}  // namespace
}  // namespace sonde::recorder
