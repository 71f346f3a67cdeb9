// Traces for tests of the window, written through the store as the recorder writes them.
#pragma once

#include "tests/support/trace_builder.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::gui::testing {

// Writes rows; aborts the test program if the store refuses one.
class SampleTrace {
 public:
  explicit SampleTrace(const std::filesystem::path& path);

  model::HostId addHost(std::string_view name);
  struct Life {
    std::int64_t startNs = 1'000'000'000;
    std::int64_t endNs = 3'000'000'000;
    std::optional<std::int64_t> exitStatus{};
  };
  model::ProcessId addProcess(std::int64_t pid,
                              std::optional<std::int64_t> rank,
                              std::string_view command,
                              const Life& life);
  model::ProcessId addProcess(std::int64_t pid,
                              std::optional<std::int64_t> rank,
                              std::string_view command) {
    return addProcess(pid, rank, command, Life());
  }
  model::ThreadId addThread(model::ProcessId process, std::int64_t tid, std::string_view name);
  struct SliceSpec {
    model::ThreadId thread{};
    model::SliceKind kind = model::SliceKind::Operation;
    std::string_view name{};
    std::int64_t startNs = 0;
    std::optional<std::int64_t> durNs{};
    std::int64_t depth = 0;
    model::SliceId parent{};
    std::int64_t lane = 0;
    model::SliceId scope{};
    std::string_view category = "annotation";
    std::optional<std::int64_t> correlation{};
  };
  model::SliceId addSlice(const SliceSpec& spec);
  void addIteration(model::ProcessId process,
                    std::int64_t number,
                    std::int64_t startNs,
                    std::int64_t durNs);
  model::ChannelId addChannel(model::ProcessId process,
                              std::string_view local,
                              std::string_view remote,
                              model::ChannelId peer = {});
  model::TransferId addTransfer(model::ChannelId channel,
                                model::Direction direction,
                                std::int64_t startNs,
                                std::int64_t durNs,
                                std::int64_t bytes);
  model::DeviceId addDevice(std::int64_t ordinal, std::string_view name);
  model::StreamId addStream(model::ProcessId process, model::DeviceId device, std::int64_t number);
  struct WorkSpec {
    model::StreamId stream{};
    std::string_view name{};
    std::int64_t startNs = 0;
    std::optional<std::int64_t> durNs{};
    model::SliceId launch{};  // its correlation is the work's
    std::optional<std::int64_t> correlation{};
    model::SliceId scope{};
  };
  model::KernelId addKernel(const WorkSpec& spec);
  model::CopyId addCopy(const WorkSpec& spec, model::CopyKind kind, std::int64_t bytes);
  model::SyncId addSync(const WorkSpec& spec, model::SyncKind kind);
  struct CounterSpec {
    std::string_view name{};
    std::string_view unit{};
    model::ProcessId process{};  // none: of the machine, or of the device
    model::DeviceId device{};
    model::CounterKind kind = model::CounterKind::Gauge;
  };
  model::CounterId addCounter(const CounterSpec& spec);
  void addSample(model::CounterId counter, std::int64_t ns, double value);
  store::TraceWriter& writer() { return trace_.writer(); }

  // Finishes the trace; nothing may be added afterwards.
  void finish() { trace_.finish(); }
  // Leaves the trace in the state of a killed recorder.
  void abandon() { test::must(trace_.writer().commit()); }

 private:
  test::TraceBuilder trace_;
  model::HostId host_;
  std::int64_t offset_ = 0;
};

// The processes of an interpreter that is found by a chain of small programs, as in pyenv: they
// fork and run others, and do nothing else.
void writeShims(SampleTrace& trace, int images, std::optional<std::int64_t> rank);

// One rank on gpu 3: a thread that launches on streams 7 (kernels of two names, a copy before
// them), 84 (an all-reduce) and 22 (a set), and waits for stream 7. Origin 1 s. The ids are those
// of linked rows.
struct DeviceWork {
  model::SliceId forward;     // the scope of all of it: 1.100 s, 40 ms
  model::SliceId copyCall;    // cudaMemcpyAsync: 1.101 s, 20 µs
  model::CopyId copy;         // 1 MiB: 1.1011 s, 100 µs
  model::SliceId kernelCall;  // cudaLaunchKernel: 1.102 s, 10 µs
  model::KernelId kernel;     // 1.103 s, 4 ms
  model::SliceId graphCall;   // cudaGraphLaunch: 1.108 s, 50 µs
  model::KernelId firstNode;  // of `nodes` kernels from 1.110 s on, 20 µs each
  model::SliceId waitCall;    // cudaStreamSynchronize: 1.120 s, 8 ms
  model::SyncId wait;
};
[[nodiscard]] DeviceWork writeDeviceWork(const std::filesystem::path& path, int nodes = 5);

// Two ranks of a small training run: iterations with loading, forward, backward, all-reduces and an
// optimizer step, worker processes with pipes, TCP between the ranks. Origin 1 s; iterations of
// about 40 ms.
void writeTraining(const std::filesystem::path& path, int iterations = 24);

}  // namespace sonde::gui::testing
