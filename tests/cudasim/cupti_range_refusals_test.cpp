// The stand-in for CUPTI's range profiler refuses what CUPTI would refuse: a wrong order, wrong
// parameters, invalid images.
#include "tests/cudasim/client/range_client.h"
#include "tests/cudasim/cupti_rig.h"

namespace {

using cudasim_client::profilerCupti;
using cudasim_client::RangeClient;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kInst = "smsp__inst_executed.sum";
constexpr const char* kTime = "gpu__time_duration.sum";

class CuptiRangeRefusals : public cudasim_test::CuptiRig {};

#define OK(call) ASSERT_EQ(call, CUPTI_SUCCESS) << #call
#define REFUSED(call) EXPECT_EQ(call, CUPTI_ERROR_INVALID_OPERATION) << #call
#define INVALID(call) EXPECT_EQ(call, CUPTI_ERROR_INVALID_PARAMETER) << #call

TEST_F(CuptiRangeRefusals, NothingBeforeInitialize) {
  inProcess({}, [&] {
    RangeClient range;
    EXPECT_EQ(range.host(), CUPTI_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(range.enable(context(0)), CUPTI_ERROR_NOT_INITIALIZED);
    CUDASIM_PARAMS(CUpti_Profiler_DeInitialize, params);
    EXPECT_EQ(profilerCupti().ProfilerDeInitialize(&params), CUPTI_ERROR_NOT_INITIALIZED);
    OK(range.prepare(context(0), {kTime}));
    REFUSED(profilerCupti().ProfilerDeInitialize(&params));
    OK(range.disable());
    OK(profilerCupti().ProfilerDeInitialize(&params));
    EXPECT_EQ(range.enable(context(0)), CUPTI_ERROR_NOT_INITIALIZED);
    OK(range.prepare(context(0), {kTime}));
    CUPTI(Finalize());
    EXPECT_EQ(range.start(), CUPTI_ERROR_NOT_INITIALIZED);
    OK(range.initialise());
    REFUSED(range.start());
  });
}

TEST_F(CuptiRangeRefusals, AnotherOrderIsRefused) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.initialise());
    OK(range.host());
    REFUSED(range.makeConfig()) << "no metrics";
    OK(range.addMetrics({kTime}));
    OK(range.makeConfig());
    OK(range.enable(context(0)));
    REFUSED(RangeClient(range).enable(context(0))) << "twice";
    REFUSED(RangeClient(range).host()) << "counter availability while profiling";
    CUDASIM_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
    params.pRangeProfilerObject = range.profiler;
    REFUSED(profilerCupti().RangeProfilerCounterDataImageInitialize(&params)) << "of what size";
    OK(range.makeImage(8));
    REFUSED(range.start()) << "not configured";
    OK(range.setConfig(8));
    REFUSED(range.push("range")) << "not started";
    REFUSED(range.pop());
    REFUSED(range.stop());
    REFUSED(range.decode());
    OK(range.start());
    REFUSED(range.start());
    REFUSED(range.setConfig(8));
    REFUSED(range.decode());
    REFUSED(range.disable());
    REFUSED(range.pop()) << "none is open";
    OK(range.push("range"));
    REFUSED(range.push("nested"));
    REFUSED(range.stop()) << "a range is open";
    OK(range.pop());
    OK(range.stop());
    OK(range.decode());
    OK(range.disable());
    REFUSED(range.start()) << "disabled";
    REFUSED(range.disable());
    OK(range.hostEnd());
    INVALID(range.hostEnd());
    OK(range.enable(context(0)));
  });
}

TEST_F(CuptiRangeRefusals, ParametersAreChecked) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTime}));
    CUDASIM_PARAMS(CUpti_RangeProfiler_Start, start);
    start.pRangeProfilerObject = range.profiler;
    INVALID(profilerCupti().RangeProfilerStart(nullptr));
    start.structSize -= 1;
    INVALID(profilerCupti().RangeProfilerStart(&start));
    start.structSize += 1;
    start.pPriv = &start;
    INVALID(profilerCupti().RangeProfilerStart(&start));
    start.pPriv = nullptr;
    start.pRangeProfilerObject = nullptr;
    INVALID(profilerCupti().RangeProfilerStart(&start));
    start.structSize = 1000;  // as a later CUPTI has it
    start.pRangeProfilerObject = range.profiler;
    OK(profilerCupti().RangeProfilerStart(&start));
    INVALID(range.push(nullptr));
    OK(range.stop());

    INVALID(RangeClient().enable(nullptr));
    INVALID(range.addMetrics({nullptr}));
    INVALID(range.addMetrics({}));
    EXPECT_EQ(range.addMetrics({"sm__unknown.sum"}), CUPTI_ERROR_INVALID_METRIC_NAME);
    EXPECT_THAT(range.values(kInst), IsEmpty());
    INVALID(range.setConfig(0));
    CUDASIM_PARAMS(CUpti_Profiler_Host_Initialize, host);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pCounterAvailabilityImage = range.availability.data();
    for (const char* chip : {"gh100", "", static_cast<const char*>(nullptr)}) {
      host.pChipName = chip;
      INVALID(profilerCupti().ProfilerHostInitialize(&host));
    }
  });
}

TEST_F(CuptiRangeRefusals, ImagesThatAreWrongOrTooSmallAreRefused) {
  inProcess({}, [&] {
    RangeClient range;
    OK(range.prepare(context(0), {kTime}));
    const std::vector<uint8_t> config = range.config;
    const std::vector<uint8_t> image = range.image;
    range.config.pop_back();
    INVALID(range.setConfig(8)) << "cut off";
    range.config = config;
    range.config[40] ^= 1;
    INVALID(range.setConfig(8)) << "changed";
    range.config = image;
    INVALID(range.setConfig(8)) << "of another kind";
    range.config = config;
    range.image.pop_back();
    INVALID(range.setConfig(8)) << "cut off";
    range.image.assign(image.size(), 0);
    INVALID(range.setConfig(8)) << "not initialised";
    range.image = image;
    OK(range.addMetrics({kInst}));
    OK(range.makeConfig());
    INVALID(range.setConfig(8)) << "made for other metrics";
    OK(range.makeImage(8));
    OK(range.setConfig(8));
    OK(range.start());
    OK(range.push("range"));
    OK(range.pop());
    OK(range.stop());
    OK(range.decode());
    EXPECT_THAT(range.values(kInst), SizeIs(1));
    EXPECT_THAT(range.values("sm__cycles_active.sum"), IsEmpty()) << "not in the image";
    range.image.back() ^= 1;
    EXPECT_THAT(range.ranges(), IsEmpty());
  });
}

TEST_F(CuptiRangeRefusals, EnableAnswersTheErrorThatIsGiven) {
  inProcess({}, [&] {
    setenv("CUDASIM_RANGE_ERROR", "35", 1);
    RangeClient range;
    EXPECT_EQ(range.prepare(context(0), {kTime}), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    EXPECT_EQ(range.passes, 1U) << "it was the first to fail";
    EXPECT_EQ(range.profiler, nullptr);
  });
}

}  // namespace
