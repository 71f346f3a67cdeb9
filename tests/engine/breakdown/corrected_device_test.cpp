// Case 12 of reference/rl-scope.md, section 4: the cost of recording a CUDA call while a kernel
// runs. Its seconds are nanoseconds here. 3 are taken inside the call, from its begin on, and 2
// after it.
//
//   0     5    10 13      20 22   30     40
//   |python|framework|cuda_api|framework|python|    recorded
//               [cost]    [cost]
//                     [18 kernel 25]
//
// RL-Scope leaves each event at its recorded time, and cuts 10–13 and 20–22 out of the processor's
// time. So 20–22 becomes time of the GPU alone, in which the processor only recorded, and of 40
// only 3 are subtracted. Sonde moves all that follows a cost to its time without recording: the
// call ends at 17, the framework at 25, everything at 35, and both costs are gone. The kernel still
// begins 8 after its launch; it runs beside the framework, as it would have.
#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using test::must;
using Parts = std::map<std::string, std::int64_t>;

class CorrectedDevice : public ::testing::Test {
 protected:
  CorrectedDevice() {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    process_ = trace_.add(model::Process{.hostId = host_, .pid = 7, .startNs = 0, .endNs = 40});
    const auto thread = trace_.add(model::Thread{.processId = process_, .tid = 7});
    operation_ = trace_.slice(thread, SliceKind::Operation, "op", {0, 40}, {}, "annotation");
    const auto native =
        trace_.slice(thread, SliceKind::Python, "backend", {5, 30}, operation_, "framework");
    launch_ =
        trace_.slice(thread, SliceKind::Api, "cudaLaunchKernel", {10, 20}, native, "cuda_runtime");
    trace_.add(model::Overhead{.probe = "cuda",
                               .api = "launch",
                               .meanNs = 5,
                               .errorNs = 0,
                               .method = "separate runs",
                               .beforeNs = 0,
                               .insideNs = 3});
  }

  void addKernel() {
    const auto device = trace_.add(model::Device{.hostId = host_, .kind = "gpu"});
    model::Kernel kernel;
    kernel.work.streamId = trace_.add(model::Stream{.processId = process_, .deviceId = device});
    kernel.work.nameId = trace_.name("gemm");
    kernel.work.startNs = 18;
    kernel.work.durNs = 7;
    kernel.work.scopeId = operation_;
    kernel.work.launchSliceId = launch_;
    trace_.add(kernel);
  }
  const store::Database& trace() {
    if (!database_) {
      trace_.finish();
      database_.emplace(must(store::openTrace(path_)));
    }
    return *database_;
  }
  Parts resources(bool correct) {
    Parts parts;
    for (const Row& row :
         must(breakDown(trace(), {.by = {.resource = true}, .correct = correct})).rows)
      parts[std::string(word(row.group.resource.value()))] = row.ns;
    return parts;
  }
  Parts categories() {
    Parts parts;
    for (const Row& row : must(breakDown(trace(), {.by = {.category = true}})).rows)
      if (row.ns > 0)
        parts[fmt::format("{}", fmt::join(row.group.categories, "+"))] = row.ns;
    return parts;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  std::optional<store::Database> database_;
  model::HostId host_;
  model::ProcessId process_;
  model::SliceId operation_;
  model::SliceId launch_;
};

TEST_F(CorrectedDevice, Case12WhatRecordingTookIsGoneAndNoHoleOfTheGpuAloneIsLeft) {
  addKernel();
  EXPECT_EQ(resources(false), (Parts{{"cpu", 33}, {"cpu+gpu", 7}}));
  EXPECT_EQ(resources(true), (Parts{{"cpu", 28}, {"cpu+gpu", 7}}));
  EXPECT_EQ(categories(),
            (Parts{{"python", 15}, {"framework", 6}, {"cuda_api", 7}, {"compute+framework", 7}}));
}

// RL-Scope has the same result here.
TEST_F(CorrectedDevice, Case12WithoutTheGpuAllThatRecordingTookIsTheProcessors) {
  EXPECT_EQ(resources(false), (Parts{{"cpu", 40}}));
  EXPECT_EQ(resources(true), (Parts{{"cpu", 35}}));
  EXPECT_EQ(categories(), (Parts{{"python", 15}, {"framework", 13}, {"cuda_api", 7}}));
}

}  // namespace
}  // namespace sonde::engine::breakdown
