// The sampler's readings on their way into the trace.
#include "tests/recorder/drain/drainer_rig.h"

#include <gmock/gmock.h>

#include <utility>

namespace sonde::recorder {
namespace {

using system::Batch;
using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int32_t kPid = 1 << 22;
constexpr const char* kSamples =
    "SELECT name, coalesce(tid, ''), coalesce(device, ''), unit, kind, ts_ns, CAST(value AS "
    "INTEGER) "
    "FROM v_sample ORDER BY counter_id, ts_ns";

class SamplesTest : public DrainerTest {
 protected:
  SpoolBuilder process() {
    SpoolBuilder spool(kPid);
    spool.thread(0, 500);
    spool.call(0, wire::SliceKind::Api, "a", 2000, 3000);
    return spool;
  }
  system::Metric ofProcess(const char* name) {
    SpoolBuilder spool(kPid);
    return {.name = name,
            .unit = "bytes",
            .pid = kPid,
            .startTime = spool.header().startTime,
            .execCount = 0};
  }
};

TEST_F(SamplesTest, AreStoredWithWhatTheyAreOf) {
  process().write(session());
  auto drainer = open();
  drainer->drainOnce();
  Batch batch;
  batch.metrics.push_back({.name = "cpu busy", .unit = "ns", .isTotal = true});
  batch.metrics.push_back(ofProcess("resident memory"));
  batch.metrics.push_back(ofProcess("cpu time"));
  batch.metrics.back().tid = 500;
  batch.metrics.push_back({.name = "GPU power", .unit = "W"});
  batch.metrics.back().deviceUuid = "GPU-1";
  batch.metrics.back().deviceOrdinal = 3;
  batch.readings = {{0, 100, 7}, {1, 100, 8}, {2, 100, 9}, {3, 100, 10}};
  drainer->noteSamples(std::move(batch));
  drainer->noteSamples({{}, {{0, 200, 70}}, 0});
  finish(std::move(drainer));
  EXPECT_THAT(rows(kSamples),
              ElementsAre("cpu busy|||ns|total|100|7",
                          "cpu busy|||ns|total|200|70",
                          "resident memory|||bytes|gauge|100|8",
                          "cpu time|500||bytes|gauge|100|9",
                          "GPU power||3|W|gauge|100|10"));
  EXPECT_THAT(rows("SELECT DISTINCT name, pid FROM v_sample JOIN process p ON p.id = process_id"),
              ElementsAre("resident memory|4194304", "cpu time|4194304"));
  EXPECT_THAT(rows("SELECT tid FROM thread"), ElementsAre("500"));
}

TEST_F(SamplesTest, WaitForTheProcessThatTheyAreOf) {
  auto drainer = open();
  Batch batch;
  batch.metrics.push_back(ofProcess("resident memory"));
  batch.readings = {{0, 100, 8}};
  drainer->noteSamples(std::move(batch));
  drainer->drainOnce();
  process().write(session());
  finish(std::move(drainer));
  EXPECT_THAT(rows(kSamples), ElementsAre("resident memory|||bytes|gauge|100|8"));
}

TEST_F(SamplesTest, OfAProcessThatIsNeverRecordedAreNotKept) {
  process().write(session());
  auto drainer = open();
  drainer->drainOnce();
  Batch batch;
  batch.metrics.push_back(ofProcess("resident memory"));
  batch.metrics.back().pid = kPid + 1;
  batch.metrics.push_back({.name = "cpu busy", .unit = "ns", .isTotal = true});
  batch.readings = {{0, 100, 8}, {1, 10'000'000'100, 8}};
  drainer->noteSamples(std::move(batch));
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT name FROM v_sample"), ElementsAre("cpu busy"));
  EXPECT_THAT(rows("SELECT * FROM loss"), IsEmpty());
}

TEST_F(SamplesTest, OfAThreadThatRecordsNothingMakeItKnown) {
  process().write(session());
  auto drainer = open();
  drainer->drainOnce();
  Batch batch;
  batch.metrics.push_back(ofProcess("cpu time"));
  batch.metrics.back().tid = 501;
  batch.readings = {{0, 100, 8}};
  drainer->noteSamples(std::move(batch));
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT tid FROM thread ORDER BY tid"), ElementsAre("500", "501"));
  EXPECT_THAT(rows("SELECT tid FROM v_sample"), ElementsAre("501"));
}

TEST_F(SamplesTest, ThatNobodyTookInTimeAreCounted) {
  process().write(session());
  auto drainer = open();
  drainer->noteSamples({{}, {}, 17});
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT probe, kind, count, reason FROM loss"),
              ElementsAre("system|sample|17|output full"));
}

TEST_F(SamplesTest, ARateHoldsUntilTheNextSample) {
  process().write(session());
  auto drainer = open();
  drainer->drainOnce();
  Batch batch;
  batch.metrics.push_back({.name = "cpu busy", .unit = "ns", .isTotal = true});
  batch.metrics.push_back({.name = "disk read", .unit = "bytes", .isTotal = true});
  batch.metrics.push_back({.name = "threads", .unit = "1"});
  batch.readings = {{0, 1000, 500},
                    {0, 2000, 750},
                    {0, 4000, 750},
                    {1, 0, 0},
                    {1, 1'000'000'000, 42},
                    {1, 2'000'000'000, 7},
                    {2, 1000, 1},
                    {2, 2000, 2}};
  drainer->noteSamples(std::move(batch));
  finish(std::move(drainer));
  EXPECT_THAT(rows("SELECT name, unit, ts_ns, dur_ns, rate FROM v_rate ORDER BY name, ts_ns"),
              ElementsAre("cpu busy|1|1000|1000|0.25",
                          "cpu busy|1|2000|2000|0.0",
                          "disk read|bytes/s|0|1000000000|42.0"));
}

}  // namespace
}  // namespace sonde::recorder
