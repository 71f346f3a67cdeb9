#include "analysis/engine/hta/hta_trace.h"

#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <string_view>

namespace sonde::engine::hta {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class HtaTrace : public test::DeviceTrace {
 protected:
  // As an import of torch.profiler's JSON stores it.
  void countsFrom(const Rank& rank, std::int64_t baseNs) {
    trace_->add(model::Arg{.owner = model::Owner::Process,
                           .ownerId = rank.process.value,
                           .keyId = trace_->name("sonde.base_ns"),
                           .value = baseNs});
  }
};

TEST_F(HtaTrace, BeginsAreRoundedUpAndEndsDown) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  kernel(main, "a", {1'001, 2'999});
  kernel(main, "b", {3'000, 5'000});
  kernel(main, "c", {6'100, 6'900});
  const auto trace = open();
  const auto ranks = must(readEvents(trace));
  ASSERT_THAT(ranks.at(0).events, SizeIs(3));
  EXPECT_EQ(ranks[0].events[0].begin, 2);
  EXPECT_EQ(ranks[0].events[0].end, 2);
  EXPECT_EQ(ranks[0].events[1].begin, 3);
  EXPECT_EQ(ranks[0].events[1].end, 5);
  EXPECT_EQ(ranks[0].events[2].length(), 0);
}

// The double nearest to 1,712,195,495,519,689.047 µs is …689.0, since their spacing is 0.25 there.
TEST_F(HtaTrace, TimesOfAFileAreReadAsDoubles) {
  const Rank one = rank(0);
  step(one, 1, {1'712'195'495'519'000'000, 1'712'195'495'520'000'000});
  countsFrom(one, 0);
  kernel(stream(one, 7), "a", {1'712'195'495'519'689'047, 1'712'195'495'519'695'047});
  const Rank two = rank(1);
  step(two, 1, {1'712'195'495'519'000'000, 1'712'195'495'520'000'000});
  countsFrom(two, 1'712'195'495'000'000'000);
  kernel(stream(two, 7), "a", {1'712'195'495'519'689'047, 1'712'195'495'519'695'047});
  const auto trace = open();
  const auto ranks = must(readEvents(trace));
  EXPECT_EQ(ranks.at(0).events.at(0).begin, 1'712'195'495'519'689);
  EXPECT_EQ(ranks.at(0).events.at(0).end, 1'712'195'495'519'695);
  EXPECT_EQ(ranks.at(1).events.at(0).begin, 519'690);
  EXPECT_EQ(ranks.at(1).events.at(0).end, 519'695);
}

TEST_F(HtaTrace, TheLastStepIsLeftOutWithWhatItLaunchedAndWhatNobodyLaunched) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  step(one, 10, {0, 100'000});
  step(one, 11, {100'000, 200'000});
  kernel(main, "kept", {150'000, 160'000}, call(one, "cudaLaunchKernel", {90'000, 95'000}));
  kernel(main, "dropped", {170'000, 180'000}, call(one, "cudaLaunchKernel", {100'000, 101'000}));
  kernel(main, "unknown", {50'000, 60'000});
  const auto trace = open();
  const auto ranks = must(readEvents(trace));
  ASSERT_THAT(ranks.at(0).events, SizeIs(1));
  EXPECT_EQ(ranks[0].events[0].name, "kept");
  ASSERT_THAT(ranks[0].steps, SizeIs(1));
  EXPECT_EQ(ranks[0].steps[0].number, 10);
}

TEST_F(HtaTrace, OfASingleStepEverythingStays) {
  const Rank one = rank(0);
  step(one, 10, {0, 100'000});
  kernel(stream(one, 7), "unknown", {150'000, 160'000});
  const auto trace = open();
  const auto ranks = must(readEvents(trace));
  EXPECT_THAT(ranks.at(0).events, SizeIs(1));
  EXPECT_THAT(ranks.at(0).steps, SizeIs(1));
}

TEST_F(HtaTrace, SynchronisationOfAStreamIsAnEventAndThatOfADeviceIsNone) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  model::Sync sync;
  sync.processId = one.process;
  sync.startNs = 1'000;
  sync.durNs = 5'000;
  for (const auto& [kind, on] : {std::pair(model::SyncKind::Stream, main),
                                 std::pair(model::SyncKind::Context, model::StreamId()),
                                 std::pair(model::SyncKind::Record, main)}) {
    sync.kind = kind;
    sync.streamId = on;
    trace_->add(sync);
  }
  const auto trace = open();
  const auto ranks = must(readEvents(trace));
  ASSERT_THAT(ranks.at(0).events, SizeIs(1));
  EXPECT_TRUE(ranks[0].events[0].isSync);
  EXPECT_EQ(ranks[0].events[0].type, EventType::Other);
}

TEST_F(HtaTrace, ACopyHasTheBandwidthThatTheProfilerGaveItOrBytesOverTime) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  copy(main, "Memcpy HtoD (Pinned -> Device)", {0, 2'000}, 8'000);
  copy(main, "Memcpy HtoD (Pinned -> Device)", {3'000, 5'000}, 8'000);
  trace_->add(
      model::Arg{.owner = model::Owner::Copy,
                 .ownerId = 2,
                 .keyId = trace_->name("args"),
                 .value = std::string_view(R"json({"memory bandwidth (GB/s)": 4.25})json")});
  const auto trace = open();
  const auto ranks = must(readEvents(trace));
  EXPECT_EQ(ranks.at(0).events.at(0).gigabytesPerSecond, 4.0);
  EXPECT_EQ(ranks.at(0).events.at(1).gigabytesPerSecond, 4.25);
}

TEST(HtaTypes, AreByName) {
  const std::pair<std::string_view, EventType> kNames[] = {
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", EventType::Communication},
      {"void ncclKernel_AllReduce", EventType::Communication},
      {"hccl_all_reduce", EventType::Communication},
      {"Memcpy HtoD (Pinned -> Device)", EventType::Memory},
      {"Memset (Device)", EventType::Memory},
      {"dma_copy", EventType::Memory},
      {"volta_sgemm_128x32_nt", EventType::Computation},
      {"my_dma_kernel", EventType::Other},
      {"Stream Sync", EventType::Other},
      {"Stream Wait Event", EventType::Other},
      {"cudaFuncLaunchKernel", EventType::Other}};
  for (const auto& [name, type] : kNames)
    EXPECT_EQ(typeOf(name), type) << name;
}

}  // namespace
}  // namespace sonde::engine::hta
