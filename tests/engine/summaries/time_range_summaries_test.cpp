// Summary tables of a range of time.
#include "tests/engine/summaries/summaries_fixture.h"

#include <optional>

namespace sonde::engine::metrics {
namespace {

// A range "step" from 0 to 1000 with a call from 100 to 200 that launches a kernel from 300 to 500
// and a copy of 1000 bytes from 600 to 700, and another call from 800 to 900 with a kernel from 850
// to 2000.
void writeRangeTrace(const std::string& path) {
  using model::SliceKind;
  test::TraceBuilder trace(path);
  const auto host = trace.add(model::Host{.name = "h"});
  const auto process = trace.add(model::Process{.hostId = host, .pid = 10});
  const auto thread = trace.add(model::Thread{.processId = process, .tid = 10});
  const auto stream = trace.add(model::Stream{.processId = process, .number = 7});
  const auto step = trace.slice(thread, SliceKind::Operation, "step", {0, 1000}, {}, "nvtx");
  const auto launch = [&](std::pair<std::int64_t, std::int64_t> time) {
    return trace.slice(thread, SliceKind::Api, "cudaLaunchKernel", time, step, "cuda_runtime");
  };
  const auto addKernel = [&](model::SliceId call, std::int64_t begin, std::int64_t end) {
    model::Kernel kernel;
    kernel.work.streamId = stream;
    kernel.work.nameId = trace.name("gemm");
    kernel.work.startNs = begin;
    kernel.work.durNs = end - begin;
    kernel.work.launchSliceId = call;
    trace.add(kernel);
  };
  const auto first = launch({100, 200});
  addKernel(first, 300, 500);
  model::Copy copy;
  copy.work.streamId = stream;
  copy.work.nameId = trace.name("copy");
  copy.work.startNs = 600;
  copy.work.durNs = 100;
  copy.work.bytes = 1000;
  copy.kind = model::CopyKind::HostToDevice;
  trace.add(copy);
  addKernel(launch({800, 900}), 850, 2000);
  trace.finish();
}

class TimeRangeSummariesTest : public SummariesFixture {
 protected:
  TimeRangeSummariesTest() : SummariesFixture(writeRangeTrace) {}

  // The value of the only row; unset: there is no row, or no value.
  SummaryCell valueOf(std::string_view table, std::string_view title, Interval within) {
    const store::Database trace = test::must(store::openTrace(folder_ / "t.sonde"));
    const SummaryTable found = test::must(summarise(trace, table, within));
    EXPECT_LE(found.rows.size(), 1U);
    for (std::size_t at = 0; at < found.columns.size() && !found.rows.empty(); ++at)
      if (found.columns[at].title == title)
        return found.rows[0][at];
    return {};
  }
};

TEST_F(TimeRangeSummariesTest, ClipsTimesAndCountsWhatOverlaps) {
  EXPECT_EQ(valueOf("cuda_gpu_kern_sum", "Instances", {400, 900}), whole(2));
  EXPECT_EQ(valueOf("cuda_gpu_kern_sum", "Total Time (ns)", {400, 900}), whole(100 + 50));
  EXPECT_EQ(valueOf("cuda_gpu_kern_sum", "Max (ns)", {400, 900}), whole(100));
  EXPECT_EQ(valueOf("cuda_gpu_kern_sum", "Instances", {500, 850}), SummaryCell());
  EXPECT_EQ(valueOf("cuda_api_sum", "Total Time (ns)", {150, 850}), whole(100));
  EXPECT_EQ(valueOf("nvtx_sum", "Total Time (ns)", {900, 5000}), whole(100));
  EXPECT_EQ(valueOf("cuda_gpu_mem_time_sum", "Total Time (ns)", {650, 660}), whole(10));
}

TEST_F(TimeRangeSummariesTest, BytesAreNotClipped) {
  EXPECT_EQ(valueOf("cuda_gpu_mem_size_sum", "Total (MB)", {650, 660}), SummaryCell(0.001));
  EXPECT_EQ(valueOf("cuda_gpu_mem_size_sum", "Count", {700, 800}), SummaryCell());
}

TEST_F(TimeRangeSummariesTest, PartsOfALaunchAreClippedOneByOne) {
  const Interval within{850, 1000};
  EXPECT_EQ(valueOf("cuda_kern_exec_sum", "Count", within), whole(1));
  EXPECT_EQ(valueOf("cuda_kern_exec_sum", "TMax (ns)", within), whole(150));
  EXPECT_EQ(valueOf("cuda_kern_exec_sum", "AMax (ns)", within), whole(50));
  EXPECT_EQ(valueOf("cuda_kern_exec_sum", "KMax (ns)", within), whole(150));
  EXPECT_EQ(valueOf("cuda_kern_exec_sum", "Count", {400, 450}), whole(1));
  EXPECT_EQ(valueOf("cuda_kern_exec_sum", "AMax (ns)", {400, 450}), SummaryCell());
}

TEST_F(TimeRangeSummariesTest, WorkCountsWhereverItsLaunchIs) {
  EXPECT_EQ(valueOf("nvtx_kern_sum", "Total Time (ns)", {1500, 1600}), whole(100));
  EXPECT_EQ(valueOf("nvtx_gpu_proj_sum", "Total Proj Time (ns)", {400, 900}), whole(500));
  EXPECT_EQ(valueOf("nvtx_gpu_proj_sum", "Total Range Time (ns)", {400, 900}), whole(500));
  EXPECT_EQ(valueOf("nvtx_gpu_proj_sum", "Total Range Time (ns)", {1500, 1600}), SummaryCell());
}

}  // namespace
}  // namespace sonde::engine::metrics
