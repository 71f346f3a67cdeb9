// Waits between devices and threads: a launching thread owes 100 ns from 200 on, so all that
// depends on it is 100 ns earlier.
#include "tests/engine/correction/recorded_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::correction {
namespace {

class RecordedDevicesTest : public RecordedRig {
 protected:
  RecordedDevicesTest() {
    device_ = trace_.add(model::Device{.hostId = host_, .kind = "gpu"});
    stream_ = stream(process_);
  }

  model::StreamId stream(model::ProcessId of) {
    return trace_.add(model::Stream{.processId = of, .deviceId = device_, .number = ++streams_});
  }
  model::KernelId kernel(model::StreamId on, model::ThreadId by, Time launch, Time time) {
    model::Kernel kernel;
    kernel.work.streamId = on;
    kernel.work.nameId = trace_.name("k");
    kernel.work.startNs = time.first;
    kernel.work.durNs = time.second - time.first;
    kernel.work.launchSliceId = trace_.slice(by, SliceKind::Api, "cudaLaunchKernel", launch);
    return trace_.add(kernel);
  }
  model::SyncId sync(model::SyncKind kind,
                     model::StreamId on,
                     std::int64_t at,
                     model::SyncId waitsFor = {},
                     std::int64_t correlation = 0) {
    model::Sync row;
    row.processId = process_;
    row.streamId = on;
    row.kind = kind;
    row.waitsForId = waitsFor;
    row.startNs = at;
    row.durNs = 0;
    if (correlation != 0)
      row.correlationId = correlation;
    return trace_.add(row);
  }
  void call(std::string_view name, Time time, std::int64_t correlation, std::int64_t depth = 0) {
    model::Slice row;
    row.threadId = main_;
    row.kind = SliceKind::Api;
    row.category = "cuda_runtime";
    row.nameId = trace_.name(name);
    row.startNs = time.first;
    row.durNs = time.second - time.first;
    row.correlationId = correlation;
    row.depth = depth;
    trace_.add(row);
  }
  std::int64_t onStream(model::StreamId of, std::int64_t ns) {
    return correction().times.ofStream(of.value, ns);
  }

  model::DeviceId device_;
  model::StreamId stream_;
  std::int64_t streams_ = 0;
};

TEST_F(RecordedDevicesTest, AKernelWaitsForItsLaunchAndACallForItsKernel) {
  annotation(main_, {100, 200});
  kernel(stream_, main_, {400, 410}, {500, 800});
  trace_.slice(main_, SliceKind::Api, "cudaStreamSynchronize", {450, 820});
  EXPECT_EQ(corrected(main_, 410), 310);
  EXPECT_EQ(onStream(stream_, 500), 400);
  EXPECT_EQ(onStream(stream_, 800), 700);
  EXPECT_EQ(corrected(main_, 820), 720);
}

// Another thread's work on another stream ends last within the call, but is unrelated to it.
TEST_F(RecordedDevicesTest, ACallWaitsForItsOwnStream) {
  const auto other = stream(process_);
  annotation(main_, {100, 200});
  kernel(stream_, main_, {400, 410}, {500, 800});
  kernel(other, other_, {20, 30}, {40, 815});
  call("cudaStreamSynchronize", {450, 820}, 77);
  sync(model::SyncKind::Stream, stream_, 450, {}, 77);
  EXPECT_EQ(onStream(other, 815), 815);
  EXPECT_EQ(corrected(main_, 820), 720);
}

TEST_F(RecordedDevicesTest, ACallForADeviceWaitsForAllOfItsStreams) {
  const auto other = stream(process_);
  annotation(main_, {100, 200});
  kernel(stream_, main_, {400, 410}, {500, 800});
  kernel(other, other_, {20, 30}, {40, 790});
  call("cudaDeviceSynchronize", {450, 820}, 77);
  sync(model::SyncKind::Context, {}, 450, {}, 77);
  EXPECT_EQ(corrected(main_, 800), 790);  // not before the other one is done
  EXPECT_EQ(corrected(main_, 820), 810);
}

// Calls of different depths are stored in an order different from that of time.
TEST_F(RecordedDevicesTest, CallsForADeviceAreReadInTheOrderOfTime) {
  annotation(main_, {420, 430});  // which the first call absorbs
  call("cudaDeviceSynchronize", {1450, 1820}, 78);
  kernel(stream_, main_, {400, 410}, {500, 800});
  kernel(stream_, main_, {1400, 1410}, {1500, 1800});
  call("cudaDeviceSynchronize", {550, 820}, 77, 1);
  EXPECT_EQ(corrected(main_, 820), 820);
  EXPECT_EQ(corrected(main_, 1820), 1820);
}

// The event was recorded between two kernels: the call waits for the first one. The second one
// waited for its launch, which is not earlier, and takes 10 ns.
TEST_F(RecordedDevicesTest, ACallForAnEventWaitsForWhatWasBeforeIt) {
  annotation(main_, {100, 200});
  kernel(stream_, main_, {400, 410}, {500, 600});
  const auto record = sync(model::SyncKind::Record, stream_, 420);
  kernel(stream_, other_, {430, 590}, {600, 800});
  call("cudaEventSynchronize", {450, 820}, 77);
  sync(model::SyncKind::Event, stream_, 450, record, 77);
  EXPECT_EQ(onStream(stream_, 800), 800);
  EXPECT_EQ(corrected(main_, 820), 720);
}

// The awaited work was done when the call came: without 100 ns of recording it would have had to
// wait.
TEST_F(RecordedDevicesTest, WorkThatWasDoneBeforeTheCallIsWaitedForOnceTheCallIsEarlier) {
  kernel(stream_, other_, {20, 30}, {40, 430});
  annotation(main_, {100, 200});
  call("cudaStreamSynchronize", {450, 460}, 77);
  sync(model::SyncKind::Stream, stream_, 450, {}, 77);
  EXPECT_EQ(corrected(main_, 450), 430);
  EXPECT_EQ(corrected(main_, 460), 440);
}

// Launches take 60 ns to reach the idle stream. The second one is made just when the first kernel
// ends, and corrected it reaches the stream while that would still run: the time of the launch
// counts.
TEST_F(RecordedDevicesTest, ALaunchIsOnItsWayWhileTheStreamIsBusy) {
  kernel(stream_, other_, {20, 30}, {90, 300});
  annotation(main_, {100, 200});
  kernel(stream_, main_, {310, 320}, {380, 400});
  EXPECT_EQ(corrected(main_, 320), 220);
  EXPECT_EQ(onStream(stream_, 380), 300) << "once the first is done, since 280 is too early";
  EXPECT_EQ(onStream(stream_, 400), 320);
}

TEST_F(RecordedDevicesTest, ACopyThatIsNotAsynchronousIsWaitedFor) {
  annotation(main_, {100, 200});
  const auto copy = [&](std::string_view name, Time launch, Time time) {
    model::Copy row;
    row.work.streamId = stream_;
    row.work.nameId = trace_.name("Memcpy DtoH");
    row.work.startNs = time.first;
    row.work.durNs = time.second - time.first;
    row.work.launchSliceId = trace_.slice(other_, SliceKind::Api, name, launch);
    row.kind = model::CopyKind::DeviceToHost;
    trace_.add(row);
  };
  kernel(stream_, main_, {400, 410}, {500, 800});
  copy("cudaMemcpy", {420, 920}, {800, 900});
  EXPECT_EQ(onStream(stream_, 900), 800);
  EXPECT_EQ(corrected(other_, 920), 820);
}

TEST_F(RecordedDevicesTest, AStreamWaitsForWhatWasBeforeAnEventOnAnother) {
  const auto other = stream(process_);
  annotation(main_, {100, 200});
  kernel(stream_, main_, {400, 410}, {420, 600});
  const auto record = sync(model::SyncKind::Record, stream_, 420);
  sync(model::SyncKind::Wait, other, 425, record);
  kernel(other, other_, {430, 440}, {610, 700});
  EXPECT_EQ(onStream(stream_, 600), 500);
  EXPECT_EQ(onStream(other, 700), 600);
}

// The stream between the two has no work, and the event is recorded on each.
TEST_F(RecordedDevicesTest, AnEventAlsoStandsForWhatItsStreamWaitsFor) {
  const auto between = stream(process_);
  const auto other = stream(process_);
  annotation(main_, {100, 200});
  kernel(stream_, main_, {400, 410}, {420, 600});
  const auto record = sync(model::SyncKind::Record, stream_, 420);
  sync(model::SyncKind::Wait, between, 422, record);
  const auto again = sync(model::SyncKind::Record, between, 423);
  sync(model::SyncKind::Wait, other, 425, again);
  kernel(other, other_, {430, 440}, {610, 700});
  call("cudaStreamSynchronize", {450, 620}, 77);
  sync(model::SyncKind::Stream, between, 450, {}, 77);
  EXPECT_EQ(onStream(other, 700), 600);
  EXPECT_EQ(corrected(main_, 620), 520);
}

TEST_F(RecordedDevicesTest, KernelsOfACollectiveWaitForEachOther) {
  const auto peer = process(9, 1);
  const auto far = thread(peer, 9);
  const auto farStream = stream(peer);
  const auto part = [&](model::ProcessId of, model::KernelId kernel, std::int64_t rank, Time time) {
    const auto group = trace_.add(model::Communicator{
        .processId = of, .jobKey = "g", .size = 2, .position = rank, .backend = "nccl"});
    trace_.add(model::Collective{.processId = of,
                                 .communicatorId = group,
                                 .seq = 32,
                                 .op = model::CollectiveOp::Allreduce,
                                 .kernelId = kernel,
                                 .startNs = time.first,
                                 .durNs = time.second - time.first});
  };
  annotation(main_, {100, 200});
  part(process_, kernel(stream_, main_, {400, 410}, {500, 600}), 0, {500, 600});
  part(peer, kernel(farStream, far, {20, 30}, {40, 605}), 1, {40, 605});
  EXPECT_EQ(onStream(stream_, 500), 400);
  EXPECT_EQ(onStream(farStream, 40), 40);
  EXPECT_EQ(onStream(farStream, 605), 505);
}

}  // namespace
}  // namespace sonde::engine::correction
