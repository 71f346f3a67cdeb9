#include "recorder/drain/drainer.h"
#include "recorder/spool/manifest.h"
#include "tests/recorder/drain/drainer_rig.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::SliceKind;

// Limits the number of files that may be opened.
class DrainerDescriptorsTest : public DrainerTest {
 protected:
  DrainerDescriptorsTest() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~DrainerDescriptorsTest() override { allowAll(); }

  static void allowMore(rlim_t files) {
    const int lowestFree = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowestFree);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(lowestFree) + files;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  void allowAll() const { setrlimit(RLIMIT_NOFILE, &before_); }

  // Spool files of processes that have ended, each with one call.
  std::vector<fs::path> writeSpools(int count) {
    std::vector<fs::path> files;
    for (int number = 0; number < count; ++number) {
      SpoolBuilder spool((1 << 22) + number);
      spool.call(0, SliceKind::Api, "a", 1000, 1100);
      files.push_back(spool.write(session()));
    }
    return files;
  }

 private:
  rlimit before_{};
};

TEST_F(DrainerDescriptorsTest, AFileThatCannotBeOpenedWaits) {
  auto drainer = open();
  const auto files = writeSpools(1);
  allowMore(0);
  const DrainProgress held = drainer->drainOnce();
  EXPECT_EQ(held.records, 0U);
  EXPECT_EQ(held.liveImages, 1U) << "whether its process runs is not known";
  allowAll();
  EXPECT_TRUE(fs::exists(files.front()));
  EXPECT_EQ(drainer->drainOnce().records, 1U);
  EXPECT_THAT(finish(std::move(drainer)).dropped, testing::IsEmpty());
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("1"));
}

TEST_F(DrainerDescriptorsTest, FactsWaitForAFileThatCannotBeOpened) {
  auto drainer = open();
  SpoolBuilder spool;
  spool.write(session());
  ProcessFacts facts;
  facts.image = {spool.header().pid, spool.header().startTime, ImageId::kLast};
  facts.exitStatus = 7;
  drainer->notes().add(facts);
  allowMore(0);
  for (int drain = 0; drain < 3; ++drain)
    drainer->drainOnce();
  allowAll();
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT exit_status FROM process"), ElementsAre("7"));
}

TEST_F(DrainerDescriptorsTest, MoreFilesThanMayBeOpenAreReadInTurn) {
  writeSpools(60);
  auto drainer = open();
  allowMore(24);
  finish(std::move(drainer));
  allowAll();
  EXPECT_THAT(rows("SELECT count(*) FROM process"), ElementsAre("60"));
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("60"));
  EXPECT_THAT(rows("SELECT count(*) FROM loss"), ElementsAre("0"));
}

TEST_F(DrainerDescriptorsTest, ACopyOfManyFilesNeedsNoMoreDescriptors) {
  const auto files = writeSpools(60);
  auto drainer = open(true);
  allowMore(24);
  finish(std::move(drainer));
  allowAll();
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("60"));
  EXPECT_TRUE(fs::exists(files.back()));
}

TEST_F(DrainerDescriptorsTest, ASessionWithFilesThatWereNeverReadStays) {
  auto drainer = open();
  const auto files = writeSpools(2);
  allowMore(2);
  const auto refused = drainer->finish(output());
  allowAll();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("sonde recover " + session().string()));
  EXPECT_TRUE(fs::exists(files.front()));
  EXPECT_FALSE(fs::exists(output()));
  EXPECT_THAT(rows("SELECT count(*) FROM meta WHERE key = 'drained'"), ElementsAre("0"));
  drainer.reset();
  finish(open());
  EXPECT_THAT(rows("SELECT count(*) FROM slice"), ElementsAre("2"));
}

TEST_F(DrainerDescriptorsTest, AProcessThatCannotBeLookedAtIsTakenToLive) {
  SpoolBuilder spool(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  spool.write(session());
  auto drainer = open();
  EXPECT_EQ(drainer->drainOnce().liveImages, 1U);
  allowMore(0);
  EXPECT_EQ(drainer->drainOnce().liveImages, 2U) << "and a folder that cannot be listed";
  allowAll();
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT state FROM process"), ElementsAre("running"));
}

}  // namespace
}  // namespace sonde::recorder
