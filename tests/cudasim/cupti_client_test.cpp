// Permitted uses of the stand-in for CUPTI, and their results.
#include "tests/cudasim/cupti_rig.h"

#include <pthread.h>
#include <unistd.h>

namespace {

using cudasim_test::CuptiRig;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CuptiClient : public CuptiRig {};

struct Seen {
  std::vector<std::string> calls;
  std::vector<uint32_t> correlations;
  std::vector<uint32_t> resources;
  std::string symbol;
};

void callback(void* userdata,
              CUpti_CallbackDomain domain,
              CUpti_CallbackId cbid,
              const void* cbdata) {
  auto* seen = static_cast<Seen*>(userdata);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    seen->resources.push_back(cbid);
    return;
  }
  const auto* data = static_cast<const CUpti_CallbackData*>(cbdata);
  seen->calls.push_back((data->callbackSite == CUPTI_API_ENTER ? "+" : "-") +
                        std::string(data->functionName));
  seen->correlations.push_back(data->correlationId);
  seen->symbol = data->symbolName ? data->symbolName : seen->symbol;
}

TEST_F(CuptiClient, CallbacksHaveTheRecordsCorrelation) {
  inProcess({CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    Seen seen;
    CUpti_SubscriberHandle subscriber = nullptr;
    CUPTI(Subscribe(&subscriber, callback, &seen));
    CUPTI(EnableCallback(
        1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    launch(nullptr, "gemm", 1'000);
    CU(cuCtxSynchronize());
    CUPTI(Unsubscribe(subscriber));
    launch(nullptr, "unheard", 1'000);
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(seen.calls, ElementsAre("+cuLaunchKernel", "-cuLaunchKernel"));
    EXPECT_EQ(seen.symbol, "gemm");
    for (const json& kernel : records("kernel")) {
      if (kernel["name"] == "gemm") {
        EXPECT_THAT(seen.correlations, ElementsAre(kernel["correlation"], kernel["correlation"]));
      }
    }
    expectTruth();
  });
}

TEST_F(CuptiClient, ThereIsOneSubscriber) {
  inProcess({}, [&] {
    CUpti_SubscriberHandle first = nullptr;
    CUpti_SubscriberHandle second = nullptr;
    Seen seen;
    CUPTI(Subscribe(&first, callback, &seen));
    EXPECT_EQ(cupti().Subscribe(&second, callback, &seen),
              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    EXPECT_EQ(cupti().EnableDomain(1, second, CUPTI_CB_DOMAIN_DRIVER_API),
              CUPTI_ERROR_INVALID_PARAMETER);
    CUPTI(Unsubscribe(first));
    CUPTI(Subscribe(&second, callback, &seen));
  });
}

TEST_F(CuptiClient, ContextsComeAndGo) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    Seen seen;
    CUpti_SubscriberHandle subscriber = nullptr;
    CUPTI(Subscribe(&subscriber, callback, &seen));
    CUPTI(EnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE));
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CU(cuCtxCreate_v4(&context, nullptr, 0, 1));
    CU(cuStreamCreate(&stream, 0));
    CU(cuCtxDestroy_v2(context));
    EXPECT_THAT(seen.resources,
                ElementsAre(CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                            CUPTI_CBID_RESOURCE_STREAM_CREATED,
                            CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING));
  });
}

TEST_F(CuptiClient, CallsAreTracedOneByOne) {
  inProcess({CUPTI_ACTIVITY_KIND_DRIVER}, [&] {
    CUPTI(ActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, 0));
    CUcontext context = nullptr;
    CU(cuCtxGetCurrent(&context));
    launch(nullptr, "kernel", 1'000);
    CUPTI(ActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER));
    CUPTI(ActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, 1));
    CU(cuCtxGetCurrent(&context));
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    std::vector<uint32_t> calls;
    for (const json& call : records("driver")) {
      calls.push_back(call["cbid"]);
    }
    ASSERT_GE(calls.size(), 2U);
    EXPECT_THAT(std::vector(calls.end() - 2, calls.end()),
                ElementsAre(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                            CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent));
    expectTruth();
  });
}

TEST_F(CuptiClient, ThreadsAreGettidOnRequest) {
  inProcess({CUPTI_ACTIVITY_KIND_DRIVER}, [&] {
    CUPTI(SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT));
    launch(nullptr, "kernel", 1'000);
    CUPTI(ActivityFlushAll(0));
    const auto pthread = static_cast<uint32_t>(pthread_self());
    ASSERT_FALSE(records("driver").empty());
    EXPECT_EQ(records("driver").back()["thread"], pthread);
    CUPTI(SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
    launch(nullptr, "kernel", 1'000);
    CUPTI(ActivityFlushAll(0));
    EXPECT_EQ(records("driver").back()["thread"], gettid());
  });
}

TEST_F(CuptiClient, ExternalIdsComeBeforeTheirCall) {
  inProcess({CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION}, [&] {
    const auto kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
    CUPTI(ActivityFlushAll(0));
    const size_t before = records().size();
    CUPTI(ActivityPushExternalCorrelationId(kind, 1));
    CUPTI(ActivityPushExternalCorrelationId(kind, 77));
    launch(nullptr, "kernel", 1'000);
    uint64_t id = 0;
    CUPTI(ActivityPopExternalCorrelationId(kind, &id));
    EXPECT_EQ(id, 77U);
    CUPTI(ActivityPopExternalCorrelationId(kind, &id));
    EXPECT_EQ(cupti().ActivityPopExternalCorrelationId(kind, &id), CUPTI_ERROR_QUEUE_EMPTY);
    CUPTI(ActivityFlushAll(0));
    ASSERT_THAT(records(), SizeIs(before + 2));
    EXPECT_EQ(records()[before]["external_id"], 77);
    EXPECT_EQ(records()[before + 1]["kind"], "driver");
    EXPECT_EQ(records()[before]["correlation"], records()[before + 1]["correlation"]);
  });
}

TEST_F(CuptiClient, FinalizeDetachesAndOneMayComeBack) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    launch(nullptr, "before", 1'000);
    CU(cuCtxSynchronize());
    CUPTI(Finalize());
    launch(nullptr, "between", 1'000);
    CU(cuCtxSynchronize());
    EXPECT_EQ(cupti().ActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
    cudasim_client::listen(kBuffer);
    CUPTI(ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch(nullptr, "after", 1'000);
    CU(cuCtxSynchronize());
    CUPTI(ActivityFlushAll(0));
    ASSERT_THAT(records("kernel"), SizeIs(1));
    EXPECT_EQ(records("kernel")[0]["name"], "after");
    expectTruth();
  });
}

TEST_F(CuptiClient, LateComersAskForWhatThereIs) {
  inProcess({}, [&] {
    CUPTI(ActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE));
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records(), IsEmpty());
    CUPTI(ActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE));
    CUPTI(ActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records("device"), SizeIs(2));
    EXPECT_THAT(records("context"), SizeIs(2));
    expectTruth();
  });
}

TEST_F(CuptiClient, EachFlushIsAnOverhead) {
  inProcess({CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_DRIVER}, [&] {
    CUPTI(ActivityFlushAll(0));
    CUPTI(ActivityFlushAll(0));
    EXPECT_THAT(records("overhead"), SizeIs(1));
  });
}

TEST_F(CuptiClient, NamesVersionsAndAttributes) {
  inProcess({}, [&] {
    int driver = 0;
    CU(cuDriverGetVersion(&driver));
    uint32_t version = 0;
    CUPTI(GetVersion(&version));
    EXPECT_EQ(version, driver / 1000 == 12 ? 24U : 130001U);
    const char* name = nullptr;
    CUPTI(GetCallbackName(
        CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, &name));
    EXPECT_STREQ(name, "cudaLaunchKernel_v7000");
    CUPTI(GetResultString(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, &name));
    EXPECT_STREQ(name, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
    size_t value = 1 << 20;
    size_t size = sizeof value;
    CUPTI(ActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    value = 0;
    CUPTI(ActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    EXPECT_EQ(value, size_t{1} << 20);
    EXPECT_EQ(cupti().ActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_INVALID_KIND);
    EXPECT_EQ(cupti().ActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE) == CUPTI_SUCCESS,
              version >= 130000);
  });
}

TEST_F(CuptiClient, AnUnloadedKernelsNameIsGone) {
  inProcess({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, [&] {
    launch(nullptr, "kernel", 1'000);
    CU(cuCtxSynchronize());
    cudasimUnload(cudasimKernel("kernel", 1'000));
    CUPTI(ActivityFlushAll(0));
    ASSERT_THAT(records("kernel"), SizeIs(1));
    EXPECT_EQ(records("kernel")[0]["name"], "??????");
  });
}

}  // namespace
