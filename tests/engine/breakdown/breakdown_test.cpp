// The time of each operation and category.
#include "analysis/engine/breakdown/sums.h"
#include "tests/engine/breakdown/breakdown_fixture.h"

#include <random>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

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
  // For all dimensions.
  EXPECT_EQ(parts({.by = {.category = true}}),
            (Parts{{": wait", 600}, {": other", 350}, {": framework", 50}}));
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

// Operations that begin one after the other; as many at once as there are threads.
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

// Random slices, nested or not, of two threads and a device. breakdown_oracle_test checks what each
// part consists of.
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

}  // namespace
}  // namespace sonde::engine::breakdown
