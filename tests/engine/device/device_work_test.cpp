#include "analysis/engine/device/device_work.h"

#include "analysis/engine/device/device_summary.h"
#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <string>

namespace sonde::engine::device {
namespace {

using test::must;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DeviceWorkOf : public test::DeviceTrace {};

TEST_F(DeviceWorkOf, KernelsOfCollectivesAreThoseByNameAndThoseThatOneNames) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  kernel(main, "gemm", {0, 10});
  kernel(main, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", {10, 20});
  kernel(main, "ncclKernel_AllGather_RING_LL", {20, 30});
  const auto custom = kernel(main, "one_shot_all_reduce", {30, 40});
  trace_->add(
      model::Collective{.processId = one.process, .kernelId = custom, .startNs = 25, .durNs = 15});
  copy(main, "Memcpy HtoD (Pinned -> Device)", {40, 50}, 1000);
  const auto trace = open();
  const auto devices = must(readDevices(trace, one.process.value));
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_EQ(devices[0].name, "gpu 0");
  std::string kinds;
  for (const Work& work : devices[0].streams.at(0).work)
    kinds += std::string(word(work.kind)) + " ";
  EXPECT_EQ(kinds, "compute communication communication communication copy ");
  const Work& copied = devices[0].streams[0].work.back();
  EXPECT_EQ(copied.copyKind, "host_to_device");
  EXPECT_EQ(copied.pinned, true);
  EXPECT_EQ(copied.bytes, 1000);
}

TEST_F(DeviceWorkOf, StreamsWithoutWorkAndOtherProcessesAreLeftOut) {
  const Rank one = rank(0);
  const Rank two = rank(1);
  stream(one, 7);
  const auto side = stream(one, 9);
  kernel(side, "late", {50, 60});
  kernel(side, "early", {10, 20});
  kernel(stream(two, 7), "other", {0, 5});
  const auto trace = open();
  const auto devices = must(readDevices(trace, one.process.value));
  ASSERT_THAT(devices, SizeIs(1));
  ASSERT_THAT(devices[0].streams, SizeIs(1));
  EXPECT_EQ(devices[0].streams[0].number, 9);
  EXPECT_EQ(devices[0].streams[0].work.front().begin, 10);
  EXPECT_THAT(must(readDevices(trace, 999)), IsEmpty());
}

TEST_F(DeviceWorkOf, WhatNeverEndedOrEndedBeforeItBeganTakesNoTime) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  kernel(main, "backwards", {30, 10});
  model::Kernel open;
  open.work = work(main, "open", {40, 40}, {});
  open.work.durNs.reset();
  trace_->add(open);
  const auto trace = this->open();
  const auto devices = must(readDevices(trace, one.process.value));
  ASSERT_THAT(devices.at(0).streams.at(0).work, SizeIs(2));
  for (const Work& work : devices[0].streams[0].work)
    EXPECT_EQ(work.begin, work.end);
}

TEST_F(DeviceWorkOf, WaitsAreReadFromRowsAndFromWhatTorchProfilerSays) {
  const Rank one = rank(0);
  const auto main = stream(one, 7);
  const auto side = stream(one, 20);
  kernel(main, "a", {100, 200}, call(one, "cudaLaunchKernel", {0, 5}));
  kernel(side, "b", {200, 300}, call(one, "cudaLaunchKernel", {30, 35}));
  model::Sync record;
  record.processId = one.process;
  record.streamId = main;
  record.kind = model::SyncKind::Record;
  record.startNs = 10;
  record.durNs = 0;
  const auto recorded = trace_->add(record);
  model::Sync wait = record;
  wait.streamId = side;
  wait.kind = model::SyncKind::Wait;
  wait.startNs = 20;
  wait.waitsForId = recorded;
  trace_->add(wait);
  // The other wait names the call, by its correlation and the stream's number.
  model::Slice recording;
  recording.threadId = one.thread;
  recording.kind = model::SliceKind::Api;
  recording.category = "cuda_runtime";
  recording.nameId = trace_->name("cudaEventRecord");
  recording.startNs = 12;
  recording.durNs = 1;
  recording.correlationId = 77;
  trace_->add(recording);
  wait.waitsForId = {};
  wait.startNs = 21;
  trace_->add(model::Arg{.owner = model::Owner::Sync,
                         .ownerId = trace_->add(wait).value,
                         .keyId = trace_->name("args"),
                         .value = std::string_view(
                             R"({"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 77})")});
  const auto trace = open();
  const auto devices = must(readDevices(trace, one.process.value));
  const StreamWork& waiting = devices.at(0).streams.at(1);
  ASSERT_THAT(waiting.waits, SizeIs(2));
  EXPECT_EQ(waiting.waits[0].calledNs, 20);
  EXPECT_EQ(waiting.waits[0].recordedNs, 10);
  EXPECT_EQ(waiting.waits[0].recordStream, main.value);
  EXPECT_EQ(waiting.waits[1].calledNs, 21);
  EXPECT_EQ(waiting.waits[1].recordedNs, 12);
  EXPECT_EQ(waiting.waits[1].recordStream, main.value);
}

TEST_F(DeviceWorkOf, ASummaryHasEveryStepOfEveryDevice) {
  const Rank one = rank(0);
  step(one, 0, {0, 100});
  step(one, 1, {100, 200});
  const auto main = stream(one, 7);
  kernel(main, "gemm", {50, 120}, call(one, "cudaLaunchKernel", {10, 20}));
  kernel(main, "ncclDevKernel_AllReduce", {120, 180}, call(one, "cudaLaunchKernelExC", {30, 40}));
  const auto trace = open();
  const JobSummary job = must(summarise(trace, must(metrics::readRanks(trace))));
  const DeviceSummary& gpu = job.ranks.at(0).devices.at(0);
  EXPECT_EQ(gpu.time.computeNs(), 70);
  EXPECT_EQ(gpu.time.commNs(), 60);
  ASSERT_THAT(gpu.steps, SizeIs(2));
  EXPECT_EQ(gpu.steps[0].time.computeNs(), 50);
  EXPECT_EQ(gpu.steps[0].time.idleNs(), 50);
  EXPECT_EQ(gpu.steps[1].time.commNs(), 60);
  EXPECT_EQ(job.nameOf(gpu.kernels.at(0).nameId), "gemm");
  EXPECT_EQ(job.nameOf(gpu.launches.at(0).callNameId), "cudaLaunchKernel");
  EXPECT_EQ(job.nameOf(987654), "unknown");
}

}  // namespace
}  // namespace sonde::engine::device
