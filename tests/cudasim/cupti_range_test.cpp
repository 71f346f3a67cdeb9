// The stand-in for CUPTI's range profiler: its values match the kernels that ran in a range.
#include "tests/cudasim/client/range_client.h"
#include "tests/cudasim/cupti_rig.h"

#include <cmath>
#include <thread>

namespace {

using cudasim_client::RangeClient;
using cudasim_test::CuptiRig;
using nlohmann::json;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kInst = "smsp__inst_executed.sum";
constexpr const char* kTime = "sim__kernel_time.sum";
constexpr const char* kRangeTime = "gpu__time_duration.sum";
constexpr const char* kElapsed = "sm__cycles_elapsed.sum";
constexpr const char* kWarpsPct = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kCyclesPct = "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTwoPasses = "sim__two_passes.sum";
constexpr uint64_t kLongNs = 400'000'000;

// CuptiRig::launch's kernels have 24 blocks of 64 threads.
constexpr double kWarps = 48;

class CuptiRange : public CuptiRig {
 protected:
  // The truth's sum of a counter over the kernels with that name.
  double truthOf(const std::string& kernel, const char* counter) const {
    double sum = 0;
    for (const json& line : truth()) {
      if (line["kind"] == "kernel" && line["name"] == kernel) {
        sum += line.value("counters", json::object()).value(counter, 0.);
      }
    }
    return sum;
  }

  // Whether the truth has counters, by kernel.
  std::map<std::string, bool> counted() const {
    std::map<std::string, bool> counted;
    for (const json& line : truth()) {
      if (line["kind"] == "kernel") {
        counted[line["name"]] = line.contains("counters");
      }
    }
    return counted;
  }

  static void launchTimes(int count) {
    for (int i = 0; i < count; ++i) {
      launch(nullptr, "replayed", 1'000);
    }
  }
};

#define OK(call) ASSERT_EQ(call, CUPTI_SUCCESS) << #call

TEST_F(CuptiRange, ARangeHasTheSumsOfItsKernels) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kInst, kTime, kWarpsPct}));
    EXPECT_EQ(range.passes, 1U);
    launch(nullptr, "before", 1'000'000);
    OK(range.start());
    launch(nullptr, "outside", 1'000'000);
    CU(cuCtxSynchronize());
    OK(range.push("forward"));
    launch(nullptr, "f1", 1'000'000);
    launch(nullptr, "f2", 2'000'000);
    CU(cuCtxSynchronize());
    OK(range.pop());
    launch(nullptr, "between", 1'000'000);
    CU(cuCtxSynchronize());
    OK(range.push("backward"));
    launch(nullptr, "b", 5'000'000);
    CU(cuCtxSynchronize());
    OK(range.pop());
    OK(range.stop());
    EXPECT_TRUE(range.allPasses);
    OK(range.decode());
    EXPECT_EQ(range.dropped, 0U);
    EXPECT_THAT(range.ranges(), ElementsAre("forward", "backward"));
    EXPECT_THAT(range.values(kInst), ElementsAre(2 * 100 * kWarps, 100 * kWarps));
    EXPECT_THAT(range.values(kTime), ElementsAre(3e6, 5e6));
    // 24 of 132 multiprocessors are used, by two warps each.
    EXPECT_THAT(range.values(kWarpsPct),
                ElementsAre(DoubleEq(100. * 2 / 64), DoubleEq(100. * 2 / 64)));
    OK(range.disable());
    OK(range.hostEnd());
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records("kernel"), SizeIs(6));
    expectTruth();
    EXPECT_EQ(truthOf("f1", kTime) + truthOf("f2", kTime), 3e6);
    EXPECT_EQ(truthOf("b", kInst), 100 * kWarps);
  });
}

TEST_F(CuptiRange, EveryMetricFollowsFromTheTruth) {
  inProcess({}, [&] {
    const std::vector<const char*> sums = {kInst,
                                           kTime,
                                           "sm__cycles_active.sum",
                                           "sm__warps_active.sum",
                                           "sm__inst_executed_pipe_tensor.sum",
                                           "dram__bytes_read.sum",
                                           "dram__bytes_write.sum",
                                           "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_hadd_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_hmul_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_hfma_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_dadd_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_dmul_pred_on.sum",
                                           "sm__sass_thread_inst_executed_op_dfma_pred_on.sum"};
    RangeClient range;
    OK(range.prepare(context(0), sums));
    EXPECT_EQ(range.passes, 3U) << "nine of sass, three a pass";
    for (size_t pass = 0; pass < range.passes; ++pass) {
      OK(range.start());
      OK(range.push("all"));
      launch(nullptr, pass == 0 ? "measured" : "again", 3'000'000);
      CU(cuCtxSynchronize());
      OK(range.pop());
      OK(range.stop());
    }
    OK(range.decode());
    for (const char* metric : sums) {
      EXPECT_THAT(range.values(metric), ElementsAre(truthOf("measured", metric))) << metric;
      EXPECT_GT(truthOf("measured", metric), 0) << metric;
    }
  });
}

TEST_F(CuptiRange, TimeAndCyclesElapsedAreOfTheRangeAndItsIdleParts) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kRangeTime, kElapsed, kCyclesPct}));
    OK(range.start());
    OK(range.push("all"));
    launch(nullptr, "measured", 3'000'000);
    CU(cuCtxSynchronize());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    OK(range.pop());
    OK(range.stop());
    OK(range.decode());
    const double elapsed = range.values(kElapsed).at(0);
    EXPECT_GE(range.values(kRangeTime).at(0), 5e6);
    EXPECT_EQ(elapsed, 2 * 132 * range.values(kRangeTime).at(0));
    EXPECT_THAT(range.values(kCyclesPct),
                ElementsAre(DoubleEq(100 * truthOf("measured", "smsp__cycles_active.sum") /
                                     (4 * elapsed))));
  });
}

TEST_F(CuptiRange, KernelsOfTheDeviceWhoeverLaunchesThem) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTime}));
    CUstream stream = nullptr;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUcontext other = nullptr;
    CU(cuCtxCreate_v4(&other, nullptr, 0, 0));
    CUgraph graph = nullptr;
    CUgraphNode nodes[2] = {};
    CUgraphExec executable = nullptr;
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = cudasimFunction("node", 1'500);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode_v2(&nodes[0], graph, nullptr, 0, &params));
    CU(cuGraphAddKernelNode_v2(&nodes[1], graph, nodes, 1, &params));
    CU(cuGraphInstantiateWithFlags(&executable, graph, 0));

    OK(range.start());
    OK(range.push("range"));
    CU(cuGraphLaunch(executable, stream));
    std::thread([&] {
      CU(cuCtxSetCurrent(other));
      launch(nullptr, "other context", 10'000);
      CU(cuCtxSynchronize());
      CU(cuCtxSetCurrent(context(1)));
      launch(nullptr, "other device", 100'000);
      CU(cuCtxSynchronize());
    }).join();
    CU(cuStreamSynchronize(stream));
    OK(range.pop());
    OK(range.stop());
    OK(range.decode());
    EXPECT_THAT(range.values(kTime), ElementsAre(13'000));
  });
}

TEST_F(CuptiRange, WithoutSynchronisationKernelsAreOfTheRangeInWhichTheyRun) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTime}));
    OK(range.start());
    launch(nullptr, "blocker", kLongNs);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it has begun
    OK(range.push("launches"));
    launch(nullptr, "late", 1'000);
    OK(range.pop());
    OK(range.push("waits"));
    CU(cuCtxSynchronize());
    OK(range.pop());
    OK(range.stop());
    OK(range.decode());
    EXPECT_THAT(range.ranges(), ElementsAre("launches", "waits"));
    EXPECT_THAT(range.values(kTime), ElementsAre(0, 1'000));
  });
}

TEST_F(CuptiRange, AKernelFromBeforeTheStartCountsWhereItRuns) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTime}));
    launch(nullptr, "blocker", kLongNs);
    launch(nullptr, "queued", 7'000);
    OK(range.start());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    OK(range.push("range"));
    CU(cuCtxSynchronize());
    OK(range.pop());
    OK(range.stop());
    OK(range.decode());
    EXPECT_THAT(range.values(kTime), ElementsAre(7'000));
  });
}

size_t passesOf(const RangeClient::Names& metrics) {
  RangeClient range;
  if (range.host() != CUPTI_SUCCESS || range.addMetrics(metrics) != CUPTI_SUCCESS ||
      range.makeConfig() != CUPTI_SUCCESS) {
    return 0;
  }
  return range.passes;
}

TEST_F(CuptiRange, PassesFollowFromTheCountersThatMetricsNeed) {
  inProcess({}, [&] {
    OK(RangeClient().initialise());
    const char* const active = "sm__cycles_active.sum";
    EXPECT_EQ(passesOf({kWarpsPct, kCyclesPct}), 1U);
    EXPECT_EQ(passesOf({kWarpsPct, kCyclesPct, active}), 1U) << "it is one of the percentage's";
    EXPECT_EQ(passesOf({kWarpsPct, kCyclesPct, kElapsed}), 2U);
    EXPECT_EQ(passesOf({kWarpsPct, kCyclesPct, kTime}), 1U);
    EXPECT_EQ(passesOf({"dram__bytes_read.sum", "dram__bytes_write.sum", kWarpsPct}), 1U);
    EXPECT_EQ(passesOf({"sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
                        "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
                        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
                        "sm__sass_thread_inst_executed_op_dfma_pred_on.sum"}),
              2U);
    EXPECT_EQ(passesOf({kTwoPasses}), 2U);
  });
}

TEST_F(CuptiRange, TheRoomOfAPassCanBeGiven) {
  inProcess({}, [&] {
    setenv("CUDASIM_COUNTERS_PER_PASS", "1", 1);
    OK(RangeClient().initialise());
    EXPECT_EQ(passesOf({kWarpsPct, kCyclesPct}), 4U);
  });
}

TEST_F(CuptiRange, APassCollectsItsCountersAlone) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTwoPasses, kInst}));
    for (const bool last : {false, true}) {
      OK(range.start());
      OK(range.push("range"));
      launchTimes(last ? 2 : 1);
      CU(cuCtxSynchronize());
      OK(range.pop());
      OK(range.stop());
      EXPECT_EQ(range.allPasses, last);
      OK(range.decode());
      EXPECT_THAT(range.values(kInst), ElementsAre(100 * kWarps));
      ASSERT_THAT(range.values(kTwoPasses), SizeIs(1));
      EXPECT_EQ(std::isnan(range.values(kTwoPasses)[0]), !last);
    }
    EXPECT_THAT(range.values(kTwoPasses), ElementsAre(kWarps + 2 * 2 * kWarps));
    EXPECT_EQ(range.start(), CUPTI_ERROR_INVALID_OPERATION) << "all passes are done";
    OK(range.setConfig(8, 1));
    OK(range.start());
    OK(range.stop());
    EXPECT_TRUE(range.allPasses);
    EXPECT_EQ(range.setConfig(8, 2), CUPTI_ERROR_INVALID_PARAMETER) << "there is no third pass";
  });
}

void collect(RangeClient& range, const std::vector<const char*>& names) {
  OK(range.start());
  for (const char* name : names) {
    OK(range.push(name));
    OK(range.pop());
  }
  OK(range.stop());
  OK(range.decode());
}

TEST_F(CuptiRange, RangesWithoutRoomAreDroppedAndCounted) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTime}, 2));
    OK(range.setConfig(8));
    collect(range, {"a", "b", "c", "d", "e"});
    EXPECT_THAT(range.ranges(), ElementsAre("a", "b"));
    EXPECT_EQ(range.dropped, 3U);
    OK(range.makeImage(8));
    EXPECT_THAT(range.ranges(), IsEmpty());
    OK(range.setConfig(4));
    collect(range, {"a", "b", "c", "d", "e"});
    EXPECT_THAT(range.ranges(), ElementsAre("a", "b", "c", "d"));
    EXPECT_EQ(range.dropped, 1U);
  });
}

TEST_F(CuptiRange, TheTruthHasCountersOnceThereWasAProfiler) {
  inProcess({}, [&] {
    launch(nullptr, "early", 1'000);
    CU(cuCtxSynchronize());
    RangeClient range;
    OK(range.prepare(context(0), {kTime}));
    OK(range.start());
    OK(range.stop());
    launch(nullptr, "later", 1'000);
    CU(cuCtxSynchronize());
    EXPECT_THAT(counted(),
                ElementsAre(testing::Pair("early", false), testing::Pair("later", true)));
  });
}

}  // namespace
