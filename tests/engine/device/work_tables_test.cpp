#include "analysis/engine/device/work_tables.h"

#include "tests/engine/device/device_rig.h"

#include <gtest/gtest.h>

namespace sonde::engine::device {
namespace {

Work named(std::int64_t name, Span time) {
  Work work = kernel(time);
  work.nameId = name;
  return work;
}

TEST(WorkTables, KernelsAreSummedByNameOverStreams) {
  std::vector<Work> many;
  for (int at = 0; at < 100; ++at)
    many.push_back(named(7, {at * 100, at * 100 + at + 1}));
  const DeviceWork device =
      deviceOf({std::move(many), {named(8, {50, 52}), named(8, {20'000, 20'001})}});
  const auto rows = kernelsIn(device, {{0, 10'000}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].nameId, 7);
  EXPECT_EQ(rows[0].ns.count, 100);
  EXPECT_EQ(rows[0].ns.total, 5050);
  EXPECT_EQ(rows[0].ns.p50, 50);
  EXPECT_EQ(rows[0].ns.p95, 95);
  EXPECT_EQ(rows[0].ns.p99, 99);
  EXPECT_EQ(rows[0].ns.max, 100);
  EXPECT_DOUBLE_EQ(rows[0].share, 0.505);
  EXPECT_EQ(rows[1].ns.count, 1);  // the other begins after the window
}

Work copied(const char* kind,
            std::optional<bool> pinned,
            Span time,
            std::optional<std::int64_t> bytes) {
  Work work = workOf(WorkKind::Copy, time);
  work.copyKind = kind;
  work.pinned = pinned;
  work.bytes = bytes;
  return work;
}

TEST(WorkTables, BandwidthIsBytesOverTheTimeOfThoseThatHaveBytes) {
  const DeviceWork device = deviceOf({{copied("host_to_device", true, {0, 100}, 1000),
                                       copied("host_to_device", true, {200, 300}, 3000),
                                       copied("host_to_device", true, {400, 500}, {}),
                                       copied("host_to_device", false, {600, 700}, 100),
                                       copied("set", {}, {800, 800}, 50)}});
  const auto rows = copiesIn(device, {{0, 1000}});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].pinned, true);
  EXPECT_EQ(rows[0].ns.count, 3);
  EXPECT_EQ(rows[0].bytes, 4000);
  EXPECT_DOUBLE_EQ(rows[0].bytesPerSecond.value(), 20e9);
  EXPECT_DOUBLE_EQ(rows[0].p50BytesPerSecond, 20e9);
  EXPECT_DOUBLE_EQ(rows[0].maxBytesPerSecond, 30e9);
  EXPECT_EQ(rows[2].kind, "set");
  EXPECT_FALSE(rows[2].bytesPerSecond.has_value());  // it took no time
}

TEST(WorkTables, ACallThatLaunchesMuchCountsOnce) {
  // One call of 60 µs with two kernels, and one of 1 µs with a kernel that begins 200 µs later.
  const std::int64_t us = 1000;
  const DeviceWork device = deviceOf({{kernel({50 * us, 55 * us}, Span{0, 60 * us}),
                                       kernel({70 * us, 170 * us}, Span{0, 60 * us}),
                                       kernel({301 * us, 302 * us}, Span{100 * us, 101 * us})}});
  const auto rows = launchesIn(device, {{0, 400 * us}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].callNs.count, 2);
  EXPECT_EQ(rows[0].callNs.total, 61 * us);
  EXPECT_EQ(rows[0].workNs.count, 3);
  EXPECT_EQ(rows[0].delayNs.p50, 10 * us);  // 0, 10, 200
  EXPECT_EQ(rows[0].delayNs.max, 200 * us);
  EXPECT_EQ(rows[0].shorter, 1);
  EXPECT_EQ(rows[0].slowCalls, 1);
  EXPECT_EQ(rows[0].late, 1);
}

TEST(WorkTables, NothingIsNoRow) {
  const DeviceWork device = deviceOf({{}});
  EXPECT_TRUE(kernelsIn(device, {{0, 10}}).empty());
  EXPECT_TRUE(kernelsIn(device, {}).empty());
  EXPECT_TRUE(copiesIn(device, {{0, 10}}).empty());
  EXPECT_TRUE(launchesIn(device, {{0, 10}}).empty());
}

}  // namespace
}  // namespace sonde::engine::device
