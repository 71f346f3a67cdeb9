// Breakdowns of events without an end, a launch or a time, and of traces without events.
#include "tests/engine/breakdown/breakdown_fixture.h"

namespace sonde::engine::breakdown {
namespace {

using test::must;

TEST_F(BreakdownTest, AnIterationThatNeverEndedGoesOnToTheEnd) {
  trace_.add(model::Iteration{.processId = process_, .number = 1, .startNs = 500});
  operation("train", {100, 600});
  std::int64_t ns = 0;
  for (const Row& row : result({.by = {.iteration = true}}).rows)
    ns += row.group.iteration ? row.ns : 0;
  EXPECT_EQ(ns, 500);
}

TEST_F(BreakdownTest, WhatNeverEndedGoesOnToTheEnd) {
  trace_.add(model::Slice{.threadId = main_,
                          .kind = SliceKind::Operation,
                          .nameId = trace_.name("hung"),
                          .startNs = 400});
  EXPECT_EQ(parts({.by = kByOperation}), (Parts{{": other", 400}, {"hung: other", 600}}));
}

TEST_F(BreakdownTest, BadTimesAreCountedAndTakeNone) {
  operation("backwards", {500, 300});
  operation("train", {100, 200});
  operation("crossing", {150, 250});
  kernel("gemm", {700, 650}, {});
  EXPECT_EQ(parts({.by = kByOperation}),
            (Parts{{": other", 850}, {"train: other", 50}, {"crossing: other", 100}}));
  EXPECT_EQ(result({.by = kByOperation}).negative, 2);
}

TEST_F(BreakdownTest, WorkOfADeviceWhoseEndIsNotKnownIsCountedAndTakesNone) {
  const auto train = operation("train", {100, 300});
  model::Kernel kernel;
  model::Copy copy;
  for (model::DeviceWork* const work : {&kernel.work, &copy.work}) {
    work->streamId = stream_;
    work->nameId = trace_.name("cut off");
    work->startNs = 200;
    work->scopeId = train;
  }
  trace_.add(kernel);
  trace_.add(copy);
  EXPECT_EQ(parts({.by = kByOperation}), (Parts{{": other", 800}, {"train: other", 200}}));
  EXPECT_EQ(result({.by = kByOperation}).endsUnknown, 2);
  EXPECT_EQ(result({.by = kByOperation}).negative, 0);
}

TEST_F(BreakdownTest, AKernelWithoutItsLaunchIsOfNoOperation) {
  operation("train", {100, 300});
  kernel("gemm", {200, 400}, model::SliceId{4711});
  EXPECT_EQ(
      parts({.by = kByOperation}),
      (Parts{
          {": other", 700}, {"train: other", 100}, {"train: compute", 100}, {": compute", 100}}));
}

// As for collectives of a file that does not name the thread that moved their data.
TEST_F(BreakdownTest, TransfersOfUnknownThreadsAreThoseOfTheirProcess) {
  const auto host = trace_.add(model::Host{.name = "other", .bootId = "b"});
  const auto second =
      trace_.add(model::Process{.hostId = host, .pid = 8, .startNs = 0, .endNs = 1000});
  const auto moves = [&](model::ProcessId process, Time time) {
    trace_.add(model::Transfer{
        .channelId = trace_.add(model::Channel{.processId = process}),
        .startNs = time.first,
        .durNs = time.second - time.first,
        .collectiveId = trace_.add(model::Collective{.processId = process}),
    });
  };
  moves(process_, {100, 200});
  moves(second, {500, 700});
  std::map<std::int64_t, std::int64_t> netNs;  // by process
  for (const Row& row : result({.by = {.process = true, .category = true}}).rows)
    if (row.group.categories == std::vector<std::string_view>{"net"})
      netNs[row.group.processId.value()] += row.ns;
  EXPECT_EQ(netNs,
            (std::map<std::int64_t, std::int64_t>{{process_.value, 100}, {second.value, 200}}));
}

TEST_F(BreakdownTest, ScopesThatLeadBackToThemselvesEnd) {
  const auto a = operation("a", {100, 200}, model::SliceId{2});
  const auto b = operation("b", {200, 300}, a);
  ASSERT_EQ(b.value, 2);
  add(main_, {SliceKind::Operator, "aten::mm", {320, 330}, "torch", b});
  EXPECT_EQ(parts({.by = {.operation = true}}), (Parts{{": ", 790}, {"a: ", 100}, {"b: ", 110}}));
}

TEST_F(BreakdownTest, TimesThatAreNoneAreRefused) {
  operation("train", {-9'000'000'000'000'000'000, 100});
  trace_.finish(false);
  auto trace = must(store::openTrace(path_));
  const auto found = breakDown(trace, {.by = kByOperation});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::Corrupt);
}

TEST_F(BreakdownTest, OfNothingThereIsNothingToSay) {
  trace_.finish(false);
  auto trace = must(store::openTrace(path_));
  const auto found = breakDown(trace, {.by = kByOperation});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::NotFound);
  EXPECT_EQ(found.error().message,
            "there is nothing to break down: the trace has no events with a duration");
}

}  // namespace
}  // namespace sonde::engine::breakdown
