// Summary tables of overlapping ranges and launches, on several hosts.
#include "analysis/engine/summaries/summary_specs.h"
#include "tests/engine/summaries/summaries_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::engine::metrics {
namespace {

using model::SliceKind;
using Titles = std::vector<std::string>;

// Two hosts whose only processes have one pid and tid. On the first, ranges that overlap without
// nesting around two launches, an operator among them, the first of whose kernels ends before its
// call returns; on the second one range with one launch.
//
//   ns     0    100   200    300    350    400    600    1000
//   :forward-----------------------------------------------|      second host: :forward, launch
//   mine:forward |-----launch-------launch---|
//   :async                   |-----------------------|
class HostWriter {
 public:
  HostWriter(test::TraceBuilder& trace, std::string_view name) : trace_(trace) {
    model::Process process;
    process.hostId = trace.add(model::Host{.name = name});
    process.pid = 10;
    const model::ProcessId id = trace.add(process);
    thread_ = trace.add(model::Thread{.processId = id, .tid = 11});
    stream_ = trace.add(model::Stream{.processId = id, .number = 7});
  }

  model::SliceId slice(SliceKind kind,
                       std::string_view category,
                       std::string_view name,
                       std::pair<std::int64_t, std::int64_t> time,
                       std::pair<std::int64_t, std::int64_t> depthAndLane = {0, 0}) {
    model::Slice slice;
    slice.threadId = thread_;
    slice.kind = kind;
    slice.category = category;
    slice.nameId = trace_.name(name);
    slice.startNs = time.first;
    slice.durNs = time.second - time.first;
    slice.depth = depthAndLane.first;
    slice.lane = depthAndLane.second;
    return trace_.add(slice);
  }
  void launch(std::int64_t at, std::int64_t depth, std::pair<std::int64_t, std::int64_t> runs) {
    model::Kernel kernel;
    kernel.work.streamId = stream_;
    kernel.work.nameId = trace_.name("gemm");
    kernel.work.startNs = runs.first;
    kernel.work.durNs = runs.second - runs.first;
    kernel.work.launchSliceId =
        slice(SliceKind::Api, "cuda_runtime", "cudaLaunchKernel", {at, at + 10}, {depth, 0});
    trace_.add(kernel);
  }
  void unifiedCopy() {
    model::Copy copy;
    copy.work.streamId = stream_;
    copy.work.nameId = trace_.name("Memcpy Unified HtoD (Managed -> Device)");
    copy.work.durNs = 5;
    copy.kind = model::CopyKind::HostToDevice;
    trace_.add(copy);
  }

 private:
  test::TraceBuilder& trace_;
  model::ThreadId thread_;
  model::StreamId stream_;
};

void writeCrossing(const std::string& path) {
  test::TraceBuilder trace(path);
  HostWriter first(trace, "a");
  first.slice(SliceKind::Operation, "nvtx", "forward", {0, 1000});
  const auto mine = first.slice(SliceKind::Operation, "nvtx", "forward", {100, 400}, {1, 0});
  trace.add(model::Arg{.ownerId = mine.value, .keyId = trace.name("domain"), .value = "mine"});
  first.slice(SliceKind::Operator, "cpu_op", "aten::mm", {150, 380}, {2, 0});
  first.slice(SliceKind::Range, "nvtx", "async", {300, 600}, {0, 1});
  first.launch(200, 3, {203, 205});
  first.launch(350, 3, {400, 450});
  first.slice(SliceKind::Collective, "mpi", "MPI_Allreduce", {700, 740}, {1, 0});
  first.slice(SliceKind::Collective, "mpi", "MPI_Isend", {750, 780}, {1, 0});
  first.slice(SliceKind::Api, "mpi", "MPI_Waitall", {790, 810}, {1, 0});
  first.slice(SliceKind::Api, "mpi", "MPI_Init", {820, 830}, {1, 0});
  first.slice(SliceKind::Io, "osrt", "read", {840, 850}, {1, 0});
  first.unifiedCopy();
  HostWriter second(trace, "b");
  second.slice(SliceKind::Operation, "nvtx", "forward", {0, 1000});
  second.launch(200, 1, {500, 507});
  trace.finish();
}

class CrossingSummariesTest : public SummariesFixture {
 protected:
  CrossingSummariesTest() : CrossingSummariesTest(writeCrossing) {}
  explicit CrossingSummariesTest(void (*write)(const std::string& path))
      : SummariesFixture(write) {}

  // The cells of these columns of each row, as an ordered set.
  std::set<std::vector<SummaryCell>> cellsOf(std::string_view name, const Titles& titles) {
    std::set<std::vector<SummaryCell>> cells;
    for (const auto& row : rowsOf(name)) {
      std::vector<SummaryCell> some;
      for (const std::string& title : titles)
        some.push_back(row.at(title));
      EXPECT_TRUE(cells.insert(some).second);
    }
    return cells;
  }
};
using Cells = std::set<std::vector<SummaryCell>>;

TEST_F(CrossingSummariesTest, TellsRangesOfDomainsApart) {
  EXPECT_EQ(cellsOf("nvtx_sum", {"Style", "Range", "Instances", "Total Time (ns)"}),
            (Cells{{"PushPop", ":forward", whole(2), whole(2000)},
                   {"PushPop", "mine:forward", whole(1), whole(300)},
                   {"StartEnd", ":async", whole(1), whole(300)}}));
  EXPECT_EQ(cellsOf("nvtx_startend_sum", {"Range", "Instances"}), (Cells{{":async", whole(1)}}));
}

TEST_F(CrossingSummariesTest, CountsKernelsForEveryRangeAroundTheirLaunchAndEachThread) {
  EXPECT_EQ(cellsOf("nvtx_kern_sum",
                    {"NVTX Range", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)"}),
            (Cells{{":forward", whole(10), whole(11), whole(1), whole(2), whole(52)},
                   {":forward", whole(10), whole(11), whole(1), whole(1), whole(7)},
                   {"mine:forward", whole(10), whole(11), whole(1), whole(2), whole(52)},
                   {":async", whole(10), whole(11), whole(1), whole(1), whole(50)}}));
}

TEST_F(CrossingSummariesTest, CountsLevelsAndChildrenOfRangesAlone) {
  EXPECT_EQ(
      cellsOf("nvtx_gpu_proj_sum",
              {"Range", "Total Proj Time (ns)", "Total GPU Ops", "Avg Range Lvl", "Avg Num Child"}),
      (Cells{{":forward", whole(247 + 7), whole(3), 0.0, 1.0},
             {"mine:forward", whole(247), whole(2), 1.0, 0.0},
             {":async", whole(50), whole(1), 1.0, 0.0}}));
}

TEST_F(CrossingSummariesTest, EndsALaunchWithTheLaterOfCallAndKernel) {
  EXPECT_EQ(
      cellsOf("cuda_kern_exec_sum", {"PID", "TID", "Count", "QCount", "TMin (ns)", "TMax (ns)"}),
      (Cells{{whole(10), whole(11), whole(2), whole(1), whole(10), whole(100)},
             {whole(10), whole(11), whole(1), whole(1), whole(307), whole(307)}}));
}

TEST_F(CrossingSummariesTest, NamesTheSourceOfMpiCalls) {
  EXPECT_EQ(cellsOf("mpi_event_sum", {"Source", "Name", "Instances", "Total Time (ns)"}),
            (Cells{{"collectives", "MPI_Allreduce", whole(1), whole(40)},
                   {"p2p", "MPI_Isend", whole(1), whole(30)},
                   {"start_wait", "MPI_Waitall", whole(1), whole(20)},
                   {"other", "MPI_Init", whole(1), whole(10)}}));
  EXPECT_EQ(cellsOf("osrt_sum", {"Name", "Num Calls", "Total Time (ns)"}),
            (Cells{{"read", whole(1), whole(10)}}));
}

TEST_F(CrossingSummariesTest, KnowsCopiesOfManagedMemory) {
  EXPECT_EQ(cellsOf("cuda_gpu_mem_time_sum", {"Operation", "Total Time (ns)"}),
            (Cells{{"[CUDA memcpy Unified Host-to-Device]", whole(5)}}));
}

// Each row of a plan as "PARENT detail", if a loop is inside the previous one with that parent.
std::vector<std::pair<std::int64_t, std::string>> planOf(const store::Database& trace,
                                                         const std::string& query) {
  store::Statement rows = test::must(trace.prepare("EXPLAIN QUERY PLAN " + query));
  std::vector<std::pair<std::int64_t, std::string>> plan;
  while (test::must(rows.step()))
    plan.emplace_back(rows.integer(1), rows.text(3));
  return plan;
}

// Otherwise a table takes quadratic time in its launches.
TEST_F(CrossingSummariesTest, ReadsNoTableInsideALoop) {
  const store::Database trace = test::must(store::openTrace(folder_ / "t.sonde"));
  std::vector<SummarySpec> specs = summarySpecs();
  for (SummarySpec& limited : summarySpecs(Interval{0, 1'000'000}))
    specs.push_back(std::move(limited));
  for (const SummarySpec& spec : specs) {
    test::must(summarise(trace, spec.name));  // makes what the query reads
    std::set<std::int64_t> loops;             // by parent
    for (const auto& [parent, step] : planOf(trace, spec.query)) {
      const bool isScan = step.starts_with("SCAN ");
      if (!isScan && !step.starts_with("SEARCH "))
        continue;
      EXPECT_FALSE(isScan && loops.count(parent) > 0) << spec.name << ": " << step;
      EXPECT_EQ(step.find("AUTOMATIC"), std::string::npos) << spec.name << ": " << step;
      loops.insert(parent);
    }
    EXPECT_FALSE(loops.empty()) << spec.name;
  }
}

// Ranges whose arguments are one text, as in an import of Chrome's JSON.
void writeImported(const std::string& path) {
  test::TraceBuilder trace(path);
  HostWriter host(trace, "a");
  std::int64_t begin = 0;
  for (const char* const args : {R"({"domain": "mine", "x": 1})", R"({"x": 1})", "{\"x\": NaN}"}) {
    const auto range =
        host.slice(SliceKind::Operation, "nvtx", "forward", {begin, begin + 10}, {0, 0});
    trace.add(model::Arg{.ownerId = range.value, .keyId = trace.name("args"), .value = args});
    begin += 10;
  }
  trace.finish();
}

class ImportedSummariesTest : public SummariesFixture {
 protected:
  ImportedSummariesTest() : SummariesFixture(writeImported) {}
};

TEST_F(ImportedSummariesTest, FindsTheDomainInATextOfAllArguments) {
  std::map<SummaryCell, SummaryCell> instances;
  for (const auto& row : rowsOf("nvtx_sum"))
    instances[row.at("Range")] = row.at("Instances");
  EXPECT_EQ(
      instances,
      (std::map<SummaryCell, SummaryCell>{{"mine:forward", whole(1)}, {":forward", whole(2)}}));
}

// On one thread the range "a" from 0 to 20 and "b" from 10 to 30, a launch of 10 ns at 5, across
// b's begin, and two ranges of one extent from 30 to 40, with a launch as long as they are. On
// another thread a range in the same time.
void writeEdges(const std::string& path) {
  test::TraceBuilder trace(path);
  HostWriter host(trace, "a");
  host.slice(SliceKind::Range, "nvtx", "a", {0, 20});
  host.slice(SliceKind::Range, "nvtx", "b", {10, 30}, {0, 1});
  host.slice(SliceKind::Range, "nvtx", "outer", {30, 40});
  host.slice(SliceKind::Range, "nvtx", "inner", {30, 40}, {1, 0});
  host.launch(5, 1, {50, 51});
  host.launch(30, 2, {60, 62});
  HostWriter other(trace, "b");
  other.slice(SliceKind::Range, "nvtx", "other", {0, 100});
  other.launch(10, 1, {70, 74});
  trace.finish();
}

class EdgeSummariesTest : public CrossingSummariesTest {
 protected:
  EdgeSummariesTest() : CrossingSummariesTest(writeEdges) {}
};

TEST_F(EdgeSummariesTest, ARangeHoldsWhatItsThreadBeganAndEndedInIt) {
  EXPECT_EQ(cellsOf("nvtx_kern_sum", {"NVTX Range", "Kern Inst", "Total Time (ns)"}),
            (Cells{{":a", whole(1), whole(1)},
                   {":outer", whole(1), whole(2)},
                   {":inner", whole(1), whole(2)},
                   {":other", whole(1), whole(4)}}));
  EXPECT_EQ(
      cellsOf("nvtx_gpu_proj_sum", {"Range", "Avg Range Lvl", "Avg Num Child"}),
      (Cells{{":a", 0.0, 0.0}, {":outer", 0.0, 1.0}, {":inner", 1.0, 0.0}, {":other", 0.0, 0.0}}));
}

}  // namespace
}  // namespace sonde::engine::metrics
