#include "tests/export/export_rig.h"

#include "analysis/store/trace_file.h"
#include "tests/support/trace_builder.h"

#include <fstream>
#include <iterator>

namespace sonde::test {
namespace {

using model::SliceKind;

struct Places {
  model::ProcessId process{};
  model::ThreadId thread{};
  model::StreamId stream{};
  model::HostId host{};
};

Places addPlaces(TraceBuilder& trace) {
  Places places;
  model::Host host;
  host.name = "node1";
  places.host = trace.add(host);
  model::Process process;
  process.hostId = places.host;
  process.pid = 10;
  process.rank = 3;
  process.worldSize = 4;
  process.command = "python \"train\".py";
  process.startNs = kZeroNs;
  process.endNs = kZeroNs + 2000;
  places.process = trace.add(process);
  model::Thread thread;
  thread.processId = places.process;
  thread.tid = 11;
  thread.name = "main";
  places.thread = trace.add(thread);
  model::Device device;
  device.hostId = places.host;
  device.kind = "gpu";
  device.name = "H100";
  device.memoryBytes = 80'000'000'000;
  model::Stream stream;
  stream.processId = places.process;
  stream.deviceId = trace.add(device);
  stream.number = 7;
  places.stream = trace.add(stream);
  return places;
}

model::Slice sliceOf(TraceBuilder& trace,
                     const Places& places,
                     SliceKind kind,
                     std::string_view name,
                     std::pair<std::int64_t, std::int64_t> time) {
  model::Slice slice;
  slice.threadId = places.thread;
  slice.kind = kind;
  slice.category = "annotation";
  slice.nameId = trace.name(name);
  slice.startNs = kZeroNs + time.first;
  slice.durNs = time.second - time.first;
  return slice;
}

void addSlices(TraceBuilder& trace, const Places& places) {
  model::Slice iteration = sliceOf(trace, places, SliceKind::Iteration, "step", {0, 1000});
  iteration.id = trace.add(iteration);
  model::Iteration number;
  number.processId = places.process;
  number.number = 7;
  number.startNs = kZeroNs;
  number.durNs = 1000;
  number.sliceId = iteration.id;
  trace.add(number);
  model::Slice operation = sliceOf(trace, places, SliceKind::Operation, "launch", {100, 400});
  operation.parentId = iteration.id;
  operation.depth = 1;
  operation.id = trace.add(operation);
  trace.add(model::Arg{model::Owner::Slice, operation.id.value, trace.name("batch"), 32});
  model::Slice range = sliceOf(trace, places, SliceKind::Range, "overlaps", {150, 950});
  range.lane = 1;
  trace.add(range);
  model::Slice call = sliceOf(trace, places, SliceKind::Api, "cudaLaunchKernel", {200, 300});
  call.category = "cuda_runtime";
  call.parentId = operation.id;
  call.depth = 2;
  call.correlationId = 42;
  call.id = trace.add(call);
  model::Slice mark = sliceOf(trace, places, SliceKind::Mark, "here", {500, 500});
  mark.parentId = iteration.id;
  mark.depth = 1;
  trace.add(mark);
  model::Slice lost = sliceOf(trace, places, SliceKind::Operation, "lost", {1010, 1010});
  lost.durNs.reset();
  lost.id = trace.add(lost);
  trace.add(model::Arg{
      model::Owner::Slice, lost.id.value, trace.name(model::kAtMostKey), std::int64_t{90}});
  model::Slice cut = sliceOf(trace, places, SliceKind::Operation, "cut", {1200, 1200});
  cut.durNs.reset();
  trace.add(cut);
  model::Kernel kernel;
  kernel.work.streamId = places.stream;
  kernel.work.nameId = trace.name("gemm");
  kernel.work.startNs = kZeroNs + 350;
  kernel.work.durNs = 550;
  kernel.work.correlationId = 42;
  kernel.work.launchSliceId = call.id;
  kernel.grid = {8, 2, 1};
  trace.add(kernel);
  kernel.work.startNs = kZeroNs + 600;
  kernel.work.durNs = 100;
  kernel.work.correlationId.reset();
  kernel.work.launchSliceId = {};
  kernel.staticSharedBytes = 1024;
  kernel.dynamicSharedBytes = 64;
  kernel.localBytes = 8;
  trace.add(kernel);
}

void addCounters(TraceBuilder& trace, const Places& places) {
  model::Counter counter;
  counter.hostId = places.host;
  counter.processId = places.process;
  counter.nameId = trace.name("power");
  counter.unit = "W";
  const auto power = trace.add(counter);
  trace.add(model::Sample{power, kZeroNs + 100, 12.5});
  trace.add(model::Sample{power, kZeroNs + 200, 13});
  model::Scalar loss;
  loss.processId = places.process;
  loss.iteration = 7;
  loss.nameId = trace.name("loss");
  loss.value = 0.25;
  loss.tsNs = kZeroNs + 900;
  trace.add(loss);
}

}  // namespace

void writeViewersTrace(const std::string& path) {
  TraceBuilder trace(path);
  const Places places = addPlaces(trace);
  addSlices(trace, places);
  addCounters(trace, places);
  trace.finish();
}

std::string exported(const std::string& trace, const std::string& output, const Exporter& write) {
  const store::Database opened = must(store::openTrace(trace));
  exports::OutputFile file = must(exports::OutputFile::create(output, true));
  must(write(opened, file));
  must(file.finish());
  std::ifstream bytes(output, std::ios::binary);
  return {std::istreambuf_iterator<char>(bytes), std::istreambuf_iterator<char>()};
}

}  // namespace sonde::test
