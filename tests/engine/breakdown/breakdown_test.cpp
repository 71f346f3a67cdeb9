#include "analysis/engine/breakdown/breakdown.h"

#include "analysis/engine/breakdown/sums.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using test::must;
using Time = std::pair<std::int64_t, std::int64_t>;
// "train: compute + framework" and its nanoseconds.
using Parts = std::map<std::string, std::int64_t>;

constexpr Dimensions kByOperation{.operation = true, .category = true};

// One process from 0 to 1000 with a thread and a device.
class BreakdownTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(
        model::Process{.hostId = host, .pid = 7, .rank = 3, .startNs = 0, .endNs = 1000});
    main_ = trace_.add(model::Thread{.processId = process_, .tid = 7});
    other_ = trace_.add(model::Thread{.processId = process_, .tid = 8});
    const auto device = trace_.add(model::Device{.hostId = host, .kind = "gpu"});
    stream_ = trace_.add(model::Stream{.processId = process_, .deviceId = device});
  }

  struct Slice {
    SliceKind kind;
    std::string_view name;
    Time time;
    std::string_view category = "annotation";
    model::SliceId scope = {};
    std::int64_t depth = 0;
  };
  model::SliceId add(model::ThreadId thread, const Slice& slice) {
    return trace_.add(
        model::Slice{.threadId = thread,
                     .kind = slice.kind,
                     .category = slice.category,
                     .nameId = trace_.name(slice.name),
                     .startNs = slice.time.first,
                     .durNs = slice.time.second - slice.time.first,
                     .depth = slice.depth,
                     .scopeId = slice.scope,
                     .scopeHow = slice.scope ? model::ScopeHow::Own : model::ScopeHow::None});
  }
  model::SliceId operation(std::string_view name, Time time, model::SliceId scope = {}) {
    return add(main_, {SliceKind::Operation, name, time, "annotation", scope});
  }
  void kernel(std::string_view name, Time time, model::SliceId scope) {
    model::Kernel row;
    row.work.streamId = stream_;
    row.work.nameId = trace_.name(name);
    row.work.startNs = time.first;
    row.work.durNs = time.second - time.first;
    row.work.scopeId = scope;
    trace_.add(row);
  }

  Breakdown result(const Options& options) {
    if (!std::exchange(finished_, true))
      trace_.finish(false);
    auto trace = must(store::openTrace(path_));
    return must(breakDown(trace, options));
  }
  Parts parts(const Options& options) {
    const Breakdown found = result(options);
    Parts parts;
    std::int64_t total = 0;
    for (const Row& row : found.rows) {
      const std::string key = fmt::format(
          "{}: {}", fmt::join(row.group.operations, "&"), fmt::join(row.group.categories, "+"));
      EXPECT_EQ(parts.count(key), 0U) << key;
      parts[key] = row.ns;
      total += row.ns;
    }
    EXPECT_EQ(total, found.totalNs);
    return parts;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "a.sonde";
  test::TraceBuilder trace_{path_};
  bool finished_ = false;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId other_;
  model::StreamId stream_;
};

TEST_F(BreakdownTest, TimeOutsideOfAllIsOther) {
  operation("train", {100, 400});
  EXPECT_EQ(parts({.by = kByOperation}), (Parts{{": other", 700}, {"train: other", 300}}));
}

TEST_F(BreakdownTest, TheInnermostOperationHasTheTime) {
  const auto outer = operation("train", {100, 900});
  operation("inner", {200, 300}, outer);
  EXPECT_EQ(parts({.by = {.operation = true}}),
            (Parts{{": ", 200}, {"train: ", 700}, {"inner: ", 100}}));
}

TEST_F(BreakdownTest, OfAnnotationsTheFrameworksAreItsTime) {
  const auto forward = add(main_, {SliceKind::Forward, "forward", {100, 500}, "torch"});
  operation("attention", {200, 300}, forward);
  add(main_, {SliceKind::Api, "cudaLaunchKernel", {250, 260}, "cuda_runtime", forward});
  EXPECT_EQ(parts({.by = kByOperation}),
            (Parts{{": other", 600},
                   {"forward: framework", 300},
                   {"attention: framework", 90},
                   {"forward: cuda_api", 10}}));
}

TEST_F(BreakdownTest, WithTransitionsWhatIsNotNativeIsPython) {
  const auto forward = add(main_, {SliceKind::Forward, "forward", {100, 500}, "torch"});
  add(main_, {SliceKind::Python, "torch.add", {200, 300}, "framework", forward});
  add(main_, {SliceKind::Python, "env.step", {600, 700}, "simulator"});
  add(main_, {SliceKind::Python, "numpy.dot", {700, 750}, "other"});
  EXPECT_EQ(parts({.by = kByOperation}),
            (Parts{{": other", 100 + 250 + 50},
                   {": python", 100},
                   {": simulator", 100},
                   {"forward: python", 300},
                   {"forward: framework", 100}}));
}

TEST_F(BreakdownTest, WorkOfADeviceBelongsToWhatLaunchedIt) {
  const auto first = operation("first", {100, 300});
  operation("second", {300, 600});
  kernel("gemm", {200, 400}, first);
  kernel("ncclDevKernel_AllReduce", {350, 450}, first);
  EXPECT_EQ(parts({.by = kByOperation}),
            (Parts{{": other", 500},
                   {"first: other", 100},
                   {"first: compute", 100},
                   {"first&second: compute", 50},
                   {"first&second: comm+compute", 50},
                   {"first&second: comm", 50},
                   {"second: other", 150}}));
  EXPECT_EQ(parts({.by = kByOperation, .atLaunch = false}),
            (Parts{{": other", 500},
                   {"first: other", 100},
                   {"first: compute", 100},
                   {"second: compute", 50},
                   {"second: comm+compute", 50},
                   {"second: comm", 50},
                   {"second: other", 150}}));
}

TEST_F(BreakdownTest, ResourcesAreWhereSomethingWasActive) {
  const auto train = operation("train", {0, 1000});
  add(main_, {SliceKind::Operator, "aten::mm", {100, 300}, "torch", train, 1});
  kernel("gemm", {200, 500}, train);
  std::map<Resource, std::int64_t> ns;
  for (const Row& row : result({.by = {.resource = true}}).rows)
    ns[row.group.resource.value()] += row.ns;
  EXPECT_EQ(ns,
            (std::map<Resource, std::int64_t>{
                {Resource::Cpu, 700}, {Resource::CpuAndGpu, 100}, {Resource::Gpu, 200}}));
}

TEST_F(BreakdownTest, AThreadWithoutAnOperationThatWaitsSaysLittle) {
  const auto train = operation("train", {100, 500});
  add(main_, {SliceKind::Wait, "pthread_cond_wait", {200, 300}, "sync", train, 1});
  add(other_, {SliceKind::Wait, "pthread_cond_wait", {0, 900}, "sync"});
  add(main_, {SliceKind::Operator, "aten::mm", {400, 450}, "torch", train, 1});
  EXPECT_EQ(parts({.by = kByOperation}),
            (Parts{{": wait", 100 + 400},
                   {": other", 100},
                   {"train: other", 250},
                   {"train: wait", 100},
                   {"train: framework", 50}}));
  // Whatever is asked for.
  EXPECT_EQ(parts({.by = {.category = true}}),
            (Parts{{": wait", 600}, {": other", 350}, {": framework", 50}}));
}

TEST_F(BreakdownTest, IterationsAreThoseOfTheInstant) {
  for (const std::int64_t number : {4, 5})
    trace_.add(model::Iteration{
        .processId = process_, .number = number, .startNs = number * 100, .durNs = 100});
  operation("train", {450, 550});
  std::map<std::pair<std::optional<std::int64_t>, std::string>, std::int64_t> ns;
  for (const Row& row : result({.by = {.operation = true, .iteration = true}}).rows)
    ns[{row.group.iteration, fmt::format("{}", fmt::join(row.group.operations, ""))}] = row.ns;
  const decltype(ns) expected = {{{std::nullopt, ""}, 800},
                                 {{4, ""}, 50},
                                 {{4, "train"}, 50},
                                 {{5, "train"}, 50},
                                 {{5, ""}, 50}};
  EXPECT_EQ(ns, expected);
}

// As where a program counts from 0 again in each epoch.
TEST_F(BreakdownTest, RowsOfNumbersThatComeAgainAreSumsAndSayThatTheyAre) {
  for (const std::int64_t place : {0, 1, 2, 3, 4})
    trace_.add(model::Iteration{
        .processId = process_, .number = 7 + place % 2, .startNs = place * 100, .durNs = 100});
  trace_.add(model::Iteration{.processId = process_, .number = 9, .startNs = 500, .durNs = 100});
  const Breakdown byNumber = result({.by = {.iteration = true}});
  std::map<std::optional<std::int64_t>, std::int64_t> ns;
  for (const Row& row : byNumber.rows)
    ns[row.group.iteration] = row.ns;
  EXPECT_EQ(ns, (decltype(ns){{std::nullopt, 400}, {7, 300}, {8, 200}, {9, 100}}));
  ASSERT_TRUE(byNumber.repeated);
  EXPECT_EQ(byNumber.repeated->times, 3);
  EXPECT_EQ(byNumber.repeated->first, 7);
  EXPECT_EQ(byNumber.repeated->last, 8);
  const Breakdown byRow = result({.by = {.iteration = true}, .byIterationRow = true});
  EXPECT_EQ(byRow.rows.size(), 7U);
  EXPECT_FALSE(byRow.repeated);
  EXPECT_FALSE(result({.by = {.operation = true}}).repeated);
}

TEST_F(BreakdownTest, PhasesAndModulesAreToldApartWhenAskedFor) {
  const auto phase = add(main_, {SliceKind::Phase, "collect", {0, 500}});
  const auto train = operation("train", {100, 200}, phase);
  add(main_, {SliceKind::Module, "Linear", {120, 150}, "torch", train, 2});
  std::map<std::string, std::int64_t> ns;
  for (const Row& row : result({.by = {.phase = true, .operation = true, .module = true}}).rows)
    ns[fmt::format("{}/{}/{}",
                   fmt::join(row.group.phases, ""),
                   fmt::join(row.group.operations, ""),
                   fmt::join(row.group.modules, ""))] = row.ns;
  EXPECT_EQ(
      ns,
      (std::map<std::string, std::int64_t>{
          {"//", 500}, {"collect//", 400}, {"collect/train/", 70}, {"collect/train/Linear", 30}}));
}

TEST_F(BreakdownTest, ThreadsByThemselvesSumToTheirOwnTimes) {
  const auto train = operation("train", {100, 500});
  add(other_, {SliceKind::Operator, "aten::mm", {200, 900}, "torch", train});
  std::map<std::int64_t, std::int64_t> ns;
  for (const Row& row : result({.by = {.thread = true, .category = true}}).rows)
    ns[*row.group.threadId - main_.value] += row.ns;
  EXPECT_EQ(ns, (std::map<std::int64_t, std::int64_t>{{0, 400}, {1, 700}}));
}

TEST_F(BreakdownTest, ThreadsHaveOfIterationsWhatTheyWereThere) {
  trace_.add(model::Iteration{.processId = process_, .number = 1, .startNs = 0, .durNs = 1000});
  operation("train", {100, 500});
  const Breakdown found = result({.by = {.thread = true, .iteration = true}});
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].ns, 400);
  EXPECT_EQ(found.rows[0].group.iteration, 1);
}

TEST_F(BreakdownTest, AnIterationThatNeverEndedGoesOnToTheEnd) {
  trace_.add(model::Iteration{.processId = process_, .number = 1, .startNs = 500});
  operation("train", {100, 600});
  std::int64_t ns = 0;
  for (const Row& row : result({.by = {.iteration = true}}).rows)
    ns += row.group.iteration ? row.ns : 0;
  EXPECT_EQ(ns, 500);
}

TEST_F(BreakdownTest, TimesThatAreNoneAreRefused) {
  operation("train", {-9'000'000'000'000'000'000, 100});
  trace_.finish(false);
  auto trace = must(store::openTrace(path_));
  const auto found = breakDown(trace, {.by = kByOperation});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::Corrupt);
}

TEST_F(BreakdownTest, CountsHowOftenEachCategoryWasEntered) {
  const auto train = operation("train", {100, 900});
  for (std::int64_t at = 100; at < 400; at += 100)
    add(main_, {SliceKind::Python, "torch.add", {at + 10, at + 20}, "framework", train, 1});
  operation("next", {900, 950});
  std::map<std::string, std::int64_t> counts;
  for (const Entered& entered : result({.by = kByOperation}).entered)
    counts[fmt::format("{} {}", fmt::join(entered.group.operations, "&"), entered.category)] =
        entered.count;
  EXPECT_EQ(counts,
            (std::map<std::string, std::int64_t>{{"train framework", 3}, {"train python", 3}}));
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

TEST_F(BreakdownTest, ScopesThatLeadBackToThemselvesEnd) {
  const auto a = operation("a", {100, 200}, model::SliceId{2});
  const auto b = operation("b", {200, 300}, a);
  ASSERT_EQ(b.value, 2);
  add(main_, {SliceKind::Operator, "aten::mm", {320, 330}, "torch", b});
  EXPECT_EQ(parts({.by = {.operation = true}}), (Parts{{": ", 790}, {"a: ", 100}, {"b: ", 110}}));
}

TEST_F(BreakdownTest, OfNothingThereIsNothingToSay) {
  trace_.finish(false);
  auto trace = must(store::openTrace(path_));
  const auto found = breakDown(trace, {.by = kByOperation});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::NotFound);
  EXPECT_EQ(found.error().message,
            "nothing that takes time was recorded of what the trace's processes did: there is "
            "nothing to break down");
}

// Random slices, nested or not, of two threads and a device. What each part is of,
// breakdown_oracle_test asks.
TEST_F(BreakdownTest, PartsSumToTheWhole) {
  std::mt19937 random(3);
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random()) % most; };
  constexpr SliceKind kKinds[] = {SliceKind::Operation,
                                  SliceKind::Operator,
                                  SliceKind::Io,
                                  SliceKind::Wait,
                                  SliceKind::Python,
                                  SliceKind::Phase,
                                  SliceKind::Module};
  std::vector<model::SliceId> slices = {model::SliceId{}};
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t begin = below(990);
    const Time time{begin, begin + below(60) - 5};
    const auto scope =
        slices[static_cast<std::size_t>(below(static_cast<std::int64_t>(slices.size())))];
    if (below(4) == 0) {
      kernel(below(2) == 0 ? "gemm" : "ncclDevKernel", time, scope);
      continue;
    }
    slices.push_back(
        add(below(2) == 0 ? main_ : other_,
            {kKinds[below(7)], fmt::format("n{}", below(30)), time, "framework", scope, below(5)}));
  }
  for (const bool atLaunch : {true, false}) {
    const Breakdown all = result({.by = {.process = true,
                                         .phase = true,
                                         .operation = true,
                                         .module = true,
                                         .category = true,
                                         .resource = true},
                                  .atLaunch = atLaunch});
    std::int64_t total = 0;
    for (const Row& row : all.rows)
      total += row.ns;
    EXPECT_EQ(total, all.totalNs);
    EXPECT_EQ(total, all.processes.at(0).wallNs);
    EXPECT_GE(total, 1000);
  }
}

// Of operations that begin one after the other, as many at once as there are threads.
TEST_F(BreakdownTest, ManyOperationsAtOnceAreOneRow) {
  constexpr int kThreads = 120;
  for (int i = 0; i < kThreads; ++i) {
    const auto thread = trace_.add(model::Thread{.processId = process_, .tid = 100 + i});
    add(thread, {SliceKind::Operation, fmt::format("operation {}", i), {i, 500 - i}});
  }
  const Breakdown found = result({.by = {.operation = true}});
  EXPECT_EQ(found.totalNs, 1000);
  std::int64_t many = 0;
  for (const Row& row : found.rows) {
    EXPECT_LE(row.group.operations.size(), kMostNames);
    if (row.group.operations == std::vector<std::string>{"(more than 100)"})
      many += row.ns;
  }
  EXPECT_EQ(many, 500 - 100 - 100);
}

}  // namespace
}  // namespace sonde::engine::breakdown
