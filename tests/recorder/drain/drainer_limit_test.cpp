#include "recorder/spool/manifest.h"
#include "tests/recorder/drain/drainer_rig.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

class TraceLimit : public DrainerTest {
 protected:
  std::unique_ptr<Drainer> openWith(std::uint64_t limitBytes) {
    DrainerOptions options;
    options.folder = session();
    options.part = part();
    options.limitBytes = limitBytes;
    options.clock = [this] {
      look();
      nowNs_ += 1'000'000'000;
      return ClockTriple{0, nowNs_, nowNs_};
    };
    options.progress = Progress([this](std::string_view, double) { look(); });
    auto drainer = Drainer::open(std::move(options));
    EXPECT_TRUE(drainer) << drainer.error().message;
    return *std::move(drainer);
  }
  void look() { largest_ = std::max(largest_, size()); }
  std::uint64_t size() const {
    std::uint64_t bytes = 0;
    for (const char* suffix : {"", "-wal", "-journal"})
      if (fs::exists(part().string() + suffix))
        bytes += fs::file_size(part().string() + suffix);
    return bytes;
  }

  std::int64_t nowNs_ = 0;
  std::uint64_t largest_ = 0;  // the largest size of the trace with its files meanwhile
};

TEST_F(TraceLimit, IsNeverPassedAndWhatDoesNotFitIsCounted) {
  for (const std::uint64_t limit : {2 * kMiB, 6 * kMiB, 12 * kMiB}) {
    SCOPED_TRACE(limit);
    largest_ = 0;
    fs::create_directories(session());
    manyCalls().write(session());
    auto drainer = openWith(limit);
    EXPECT_TRUE(drainer->drainOnce().limitReached);
    const DrainTotals totals = finish(std::move(drainer));
    EXPECT_LE(largest_, limit + kMiB);
    EXPECT_LE(fs::file_size(output()), limit);
    EXPECT_GT(fs::file_size(output()), limit / 2);
    EXPECT_EQ(totals.events.at("slice") + totals.dropped.at("max size"), kManyCalls);
    ASSERT_FALSE(totals.warnings.empty());
    EXPECT_THAT(totals.warnings.back(), HasSubstr("the trace reached --max-size"));
    EXPECT_FALSE(fs::exists(session()));
    fs::remove(output());
  }
}

TEST_F(TraceLimit, IsHeldWhenItIsReachedAtTheVeryEnd) {
  manyCalls().write(session());
  const DrainTotals totals = finish(openWith(6 * kMiB));
  EXPECT_LE(largest_, 7 * kMiB);
  EXPECT_EQ(totals.events.at("slice") + totals.dropped.at("max size"), kManyCalls);
}

TEST_F(TraceLimit, OfATraceThatFitsChangesNothing) {
  manyCalls().write(session());
  auto drainer = openWith(65 * kMiB);
  EXPECT_FALSE(drainer->drainOnce().limitReached);
  const DrainTotals totals = finish(std::move(drainer));
  EXPECT_EQ(totals.events.at("slice"), kManyCalls);
  EXPECT_THAT(totals.dropped, testing::IsEmpty());
  EXPECT_THAT(totals.warnings, testing::IsEmpty());
}

// Its process continues: counted records stay in the spool until it ends, and cost nothing.
TEST_F(TraceLimit, LeavesWhatWasOnlyCountedToRecover) {
  SpoolBuilder spool = manyCalls(::getpid());
  spool.header().startTime = processStartTime(::getpid());
  spool.write(session());
  auto drainer = openWith(6 * kMiB);
  EXPECT_TRUE(drainer->drainOnce().limitReached);
  EXPECT_EQ(drainer->drainOnce().records, 0U);  // its note is stored
  const std::uint64_t before = size();
  EXPECT_EQ(drainer->drainOnce().records, 0U);
  EXPECT_EQ(size(), before);
  drainer.reset();  // killed
  const DrainTotals totals = finish(openWith(0));
  EXPECT_EQ(totals.events.at("slice"), kManyCalls);
  EXPECT_THAT(totals.dropped, testing::IsEmpty());
}

}  // namespace
}  // namespace sonde::recorder
