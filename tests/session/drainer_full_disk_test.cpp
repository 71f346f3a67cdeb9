#include "tests/session/drainer_rig.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

namespace sonde::session {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SliceKind;

class FullDisk : public DrainerTest {};

// A limit on the size of files stands in for a full disk: SQLite is told the same.
class FileLimit {
 public:
  FileLimit() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  void set(rlim_t bytes) const {
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  void lift() const { set(before_.rlim_cur); }

 private:
  rlimit before_{};
};

constexpr std::uint64_t kManyCalls = 400'000;  // 12 MiB of spool, 25 MiB of trace

SpoolBuilder longSpool() {
  SpoolBuilder spool;
  for (std::uint64_t at = 0; at < kManyCalls; ++at)
    spool.call(0, SliceKind::Api, "a", 1000 + 10 * at, 1005 + 10 * at);
  return spool;
}

TEST_F(FullDisk, FullDiskStopsItUntilThereIsRoomAgain) {
  longSpool().write(session());
  auto drainer = open();
  const FileLimit limit;
  limit.set(12 << 20);
  const DrainProgress progress = drainer->drainOnce();
  EXPECT_TRUE(progress.stopped);
  EXPECT_FALSE(progress.why.empty());
  EXPECT_TRUE(drainer->drainOnce().stopped);
  limit.lift();
  const DrainTotals totals = finish(std::move(drainer));
  EXPECT_THAT(totals.dropped, IsEmpty());
  EXPECT_THAT(rows("SELECT count(*), count(DISTINCT start_ns) FROM slice"),
              ElementsAre("400000|400000"));
}

TEST_F(FullDisk, LosesNothingUncountedWhenItIsKilledOnAFullDisk) {
  longSpool().write(session());
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
    limit.lift();  // what the last transaction finds is what a kill there would leave
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
}  // namespace sonde::session
