// The records of the stand-in for CUPTI match the simulated device's work.
#include "tests/cudasim/cupti_rig.h"

#include <thread>

namespace {

using cudasim_test::CuptiRig;
using nlohmann::json;
using testing::IsEmpty;
using testing::SizeIs;

class CuptiRecords : public CuptiRig {};

uint64_t startOf(const json& record) {
  return record["start"].get<uint64_t>();
}
uint64_t endOf(const json& record) {
  return record["end"].get<uint64_t>();
}

TEST_F(CuptiRecords, TwoDevicesOfFourStreams) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
             CUPTI_ACTIVITY_KIND_DRIVER,
             CUPTI_ACTIVITY_KIND_MEMCPY,
             CUPTI_ACTIVITY_KIND_STREAM},
            [&] {
              for (int device = 0; device < 2; ++device) {
                CU(cuCtxSetCurrent(context(device)));
                CUdeviceptr memory = 0;
                CU(cuMemAlloc_v2(&memory, 1 << 20));
                for (int i = 0; i < 4; ++i) {
                  CUstream stream = nullptr;
                  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
                  launch(stream, "first", 3'000'000);
                  CU(cuMemcpyDtoDAsync_v2(memory, memory, 1 << 16, stream));
                  launch(stream, "second", 2'000'000);
                }
              }
              CU(cuCtxSynchronize());
              CU(cuCtxSetCurrent(context(0)));
              CU(cuCtxSynchronize());
              CUPTI(ActivityFlushAll(0));
              expectTruth();
              ASSERT_THAT(records("kernel"), SizeIs(16));
              EXPECT_THAT(records("memcpy"), SizeIs(8));
              EXPECT_THAT(records("stream"), SizeIs(10));  // including the default streams
              std::map<std::pair<int, int>, std::vector<json>> byStream;
              for (const json& kernel : records("kernel")) {
                byStream[{kernel["device"], kernel["stream"]}].push_back(kernel);
              }
              ASSERT_THAT(byStream, SizeIs(8));
              for (const auto& [stream, kernels] : byStream) {
                ASSERT_THAT(kernels, SizeIs(2));
                EXPECT_GE(startOf(kernels[1]), endOf(kernels[0])) << "a stream runs in order";
                EXPECT_EQ(endOf(kernels[0]) - startOf(kernels[0]), 3'000'000U);
              }
              EXPECT_EQ(records("kernel")[0]["grid"], json({2, 3, 4}));
            });
}

TEST_F(CuptiRecords, AStreamWaitsForAnotherDevicesEvent) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
             CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
             CUPTI_ACTIVITY_KIND_CUDA_EVENT},
            [&] {
              CUevent event = nullptr;
              CU(cuEventCreate(&event, 0));
              launch(nullptr, "producer", 4'000'000);
              CU(cuEventRecord(event, nullptr));
              CU(cuCtxSetCurrent(context(1)));
              CU(cuStreamWaitEvent(nullptr, event, 0));
              launch(nullptr, "consumer", 1'000);
              CU(cuStreamSynchronize(nullptr));
              CUPTI(ActivityFlushAll(0));
              expectTruth();
              const auto kernels = records("kernel");
              ASSERT_THAT(kernels, SizeIs(2));
              const bool first = kernels[0]["name"] == "producer";
              EXPECT_GE(startOf(kernels[first ? 1 : 0]), endOf(kernels[first ? 0 : 1]));
              ASSERT_THAT(records("cuda_event"), SizeIs(1));
              const auto waits = records("synchronization");
              ASSERT_THAT(waits, SizeIs(2));
              EXPECT_EQ(waits[0]["type"], CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
              EXPECT_EQ(waits[0]["event"], records("cuda_event")[0]["event"]);
              EXPECT_EQ(waits[1]["type"], CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
              EXPECT_GE(endOf(waits[1]), endOf(kernels[first ? 1 : 0])) << "it really waited";
            });
}

TEST_F(CuptiRecords, CopiesSetsAndMemory) {
  inProcess({CUPTI_ACTIVITY_KIND_MEMCPY,
             CUPTI_ACTIVITY_KIND_MEMCPY2,
             CUPTI_ACTIVITY_KIND_MEMSET,
             CUPTI_ACTIVITY_KIND_MEMORY2,
             CUPTI_ACTIVITY_KIND_MEMORY_POOL},
            [&] {
              CUdeviceptr memory = 0;
              void* pinned = nullptr;
              char pageable[64];
              CU(cuMemAllocAsync(&memory, 4096, nullptr));
              CU(cuMemAllocHost_v2(&pinned, 4096));
              CU(cuMemcpyHtoD_v2(memory, pageable, 64));
              CU(cuMemcpyDtoHAsync_v2(pinned, memory, 4096, nullptr));
              CU(cuMemcpyPeerAsync(memory, context(1), memory, context(0), 100, nullptr));
              CU(cuMemsetD32Async(memory, 7, 16, nullptr));
              CU(cuMemFreeAsync(memory, nullptr));
              CUmemPoolProps properties{};
              CUmemoryPool pool = nullptr;
              CU(cuMemPoolCreate(&pool, &properties));
              CU(cuMemPoolTrimTo(pool, 512));
              CU(cuMemPoolDestroy(pool));
              CU(cuCtxSynchronize());
              CUPTI(ActivityFlushAll(0));
              expectTruth();
              const auto copies = records("memcpy");
              ASSERT_THAT(copies, SizeIs(2));
              EXPECT_EQ(copies[0]["src_kind"], CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
              EXPECT_EQ(copies[1]["dst_kind"], CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
              EXPECT_EQ(copies[1]["type"], CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
              ASSERT_THAT(records("memcpy2"), SizeIs(1));
              EXPECT_EQ(records("memcpy2")[0]["dst_device"], 1);
              ASSERT_THAT(records("memset"), SizeIs(1));
              EXPECT_EQ(records("memset")[0]["bytes"], 64);
              EXPECT_THAT(records("memory2"), SizeIs(3));
              EXPECT_THAT(records("memory_pool"), SizeIs(3));
            });
}

TEST_F(CuptiRecords, NodesOfAGraph) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    CUgraph graph = nullptr;
    CU(cuGraphCreate(&graph, 0));
    CUgraphNode nodes[3] = {};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = cudasimFunction("node", 1'000'000);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    CU(cuGraphAddKernelNode_v2(&nodes[0], graph, nullptr, 0, &params));
    CU(cuGraphAddKernelNode_v2(&nodes[1], graph, nodes, 1, &params));
    CU(cuGraphAddKernelNode_v2(&nodes[2], graph, nodes, 1, &params));
    CUgraphExec executable = nullptr;
    CU(cuGraphInstantiateWithFlags(&executable, graph, 0));
    CU(cuGraphLaunch(executable, nullptr));
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    expectTruth();
    auto kernels = records("kernel");
    ASSERT_THAT(kernels, SizeIs(3));
    std::sort(kernels.begin(), kernels.end(), [](const json& a, const json& b) {
      return a["graph_node"] < b["graph_node"];
    });
    EXPECT_GT(kernels[0]["graph"], 0);
    EXPECT_EQ(startOf(kernels[1]), endOf(kernels[0]));
    EXPECT_EQ(startOf(kernels[2]), startOf(kernels[1])) << "branches overlap";
  });
}

TEST_F(CuptiRecords, UnfinishedWorkIsDeliveredOnlyByForce) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    launch(nullptr, "long", 200'000'000);
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records("kernel"), IsEmpty());
    CUPTI(ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    ASSERT_THAT(records("kernel"), SizeIs(1));
    EXPECT_EQ(records("kernel")[0]["end"], 0);
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records("kernel"), SizeIs(1)) << "once";
    expectTruth();
  });
}

TEST_F(CuptiRecords, ThePeriodDeliversFullBuffers) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    cudasim_client::setBufferSize(1024);
    CUPTI(ActivityFlushPeriod(1));
    for (int i = 0; i < 100; ++i) {
      launch(nullptr, "short", 1'000);
    }
    CU(cuCtxSynchronize());
    while (records("kernel").size() < 80) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_LT(records("kernel").size(), 100U) << "the last buffer is not full";
    CUPTI(ActivityFlushAll(0));
    expectTruth();
  });
}

uint64_t thrice() {
  uint64_t real = 0;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  real = static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  return real * 3;
}

TEST_F(CuptiRecords, TimesAreOfTheClientsClock) {
  inProcess({}, [&] {
    CUPTI(ActivityRegisterTimestampCallback(thrice));
    CUPTI(ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    CUPTI(ActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    const uint64_t before = thrice();
    for (int i = 0; i < 4; ++i) {
      launch(nullptr, "kernel", 9'000'000);
      CU(cuCtxSynchronize());
    }
    const uint64_t after = thrice();
    CUPTI(ActivityFlushAll(0));
    expectTruth();
    ASSERT_THAT(records("kernel"), SizeIs(4));
    ASSERT_THAT(records("driver"), SizeIs(8));
    for (const json& kernel : records("kernel")) {
      EXPECT_GT(startOf(kernel), before);
      EXPECT_LT(endOf(kernel), after);
      const double ticks = static_cast<double>(endOf(kernel) - startOf(kernel));
      EXPECT_NEAR(ticks, 27e6, 27e6 / 50);  // the simulation's clock is steered, not measured
    }
    uint64_t timestamp = 0;
    CUPTI(GetTimestamp(&timestamp));
    EXPECT_GE(timestamp, after);
  });
}

TEST_F(CuptiRecords, ContextsPrevailOverAll) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    CUPTI(ActivityDisableContext(context(0), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch(nullptr, "unseen", 1'000);
    CU(cuCtxSynchronize());
    CU(cuCtxSetCurrent(context(1)));
    launch(nullptr, "seen", 1'000);
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    ASSERT_THAT(records("kernel"), SizeIs(1));
    EXPECT_EQ(records("kernel")[0]["name"], "seen");
    expectTruth();
  });
}

TEST_F(CuptiRecords, ADestroyedContextLosesItsRecords) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    launch(nullptr, "lost", 1'000);
    CU(cuCtxDestroy_v2(context(0)));
    CU(cuCtxSetCurrent(context(1)));
    launch(nullptr, "kept", 1'000);
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    ASSERT_THAT(records("kernel"), SizeIs(1));
    EXPECT_EQ(records("kernel")[0]["name"], "kept");
    expectTruth();
  });
}

TEST_F(CuptiRecords, RecordsWithoutABufferAreCounted) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    cudasim_client::setBufferSize(0);
    for (int i = 0; i < 5; ++i) {
      launch(nullptr, "refused", 1'000);
    }
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records(), IsEmpty());
    size_t dropped = 0;
    CUPTI(ActivityGetNumDroppedRecords(nullptr, 0, &dropped));
    EXPECT_EQ(dropped, 5U);
    CUPTI(ActivityGetNumDroppedRecords(nullptr, 0, &dropped));
    EXPECT_EQ(dropped, 0U);
    expectTruth();
  });
}

}  // namespace
