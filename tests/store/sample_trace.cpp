#include "tests/store/sample_trace.h"

#include <fmt/format.h>

#include <string>

namespace sonde::store {
namespace {

constexpr std::int64_t kOriginNs = 1'700'000'000'000'000'000;
constexpr std::int64_t kIterationNs = 1'000'000;
constexpr std::int64_t kBytes = 4096;

struct Rank {
  model::ProcessId process;
  model::ThreadId main;
  model::ThreadId autograd;
  model::CommunicatorId communicator;
  model::ChannelId channel;
};

Result<Rank> writeRank(TraceWriter& writer, model::HostId host, std::int64_t number) {
  Rank rank;
  model::Process process;
  process.hostId = host;
  process.pid = 100 + number;
  process.rank = number;
  process.localRank = number;
  process.worldSize = 2;
  process.command = "python3 train.py";
  process.startNs = kOriginNs;
  process.endNs = kOriginNs + 1'000'000'000;
  process.exitStatus = 0;
  process.state = model::ProcessState::Exited;
  SONDE_TRY_ASSIGN(rank.process, writer.add(process));
  SONDE_TRY_ASSIGN(rank.main,
                   writer.add(model::Thread{{}, rank.process, process.pid, "python3", {}, {}}));
  SONDE_TRY_ASSIGN(rank.autograd,
                   writer.add(model::Thread{{}, rank.process, 200 + number, "autograd", {}, {}}));
  SONDE_TRY_ASSIGN(rank.communicator,
                   writer.add(model::Communicator{{}, rank.process, "gloo:0", 2, number, "gloo"}));
  for (std::int64_t member = 0; member < 2; ++member)
    SONDE_TRY(writer.add(model::CommunicatorMember{rank.communicator, member, member, {}}));
  const std::string local = number == 0 ? "10.0.0.1:1000" : "10.0.0.2:2000";
  const std::string remote = number == 0 ? "10.0.0.2:2000" : "10.0.0.1:1000";
  SONDE_TRY_ASSIGN(rank.channel,
                   writer.add(model::Channel{{},
                                             rank.process,
                                             model::ChannelKind::Tcp,
                                             local,
                                             remote,
                                             model::ChannelId{2 - number},
                                             false,
                                             kOriginNs}));
  SONDE_TRY(writer.add(model::ClockSync{host, rank.process, 1000, 2000, kOriginNs}));
  return rank;
}

Result<model::SliceId> writeSlice(TraceWriter& writer, model::Slice slice, std::string_view name) {
  SONDE_TRY_ASSIGN(slice.nameId, writer.intern(name));
  return writer.add(slice);
}

Result<void> writeCommunication(TraceWriter& writer,
                                const Rank& rank,
                                std::int64_t number,
                                std::int64_t startNs) {
  model::Collective collective;
  collective.processId = rank.process;
  collective.communicatorId = rank.communicator;
  collective.seq = number;
  collective.dtype = model::DataType::Float32;
  collective.bytes = kBytes;
  collective.startNs = startNs;
  collective.durNs = 100'000;
  SONDE_TRY_ASSIGN(const auto id, writer.add(collective));
  for (const auto direction : {model::Direction::Send, model::Direction::Receive})
    SONDE_TRY(writer.add(model::Transfer{{},
                                         rank.channel,
                                         rank.autograd,
                                         direction,
                                         number * kBytes,
                                         kBytes,
                                         true,
                                         startNs,
                                         50'000,
                                         id,
                                         {},
                                         {}}));
  return {};
}

Result<void> writeIteration(TraceWriter& writer, const Rank& rank, std::int64_t number) {
  const std::int64_t start = kOriginNs + (number + 1) * kIterationNs;
  model::Slice slice{writer.reserveSliceId(),
                     rank.main,
                     model::SliceKind::Iteration,
                     "torch",
                     {},
                     start,
                     kIterationNs};
  const model::SliceId iteration = slice.id;
  SONDE_TRY(writeSlice(writer, slice, "iteration"));
  SONDE_TRY(writer.add(
      model::Iteration{{}, rank.process, number, start, kIterationNs, 63, 32, {}, {}, iteration}));
  const model::SliceKind kinds[] = {
      model::SliceKind::Forward, model::SliceKind::Backward, model::SliceKind::Optimizer};
  slice.parentId = slice.scopeId = iteration;
  slice.depth = 1;
  slice.scopeHow = model::ScopeHow::Own;
  slice.durNs = kIterationNs / 4;
  for (std::int64_t part = 0; part < 3; ++part) {
    slice.id = {};
    slice.kind = kinds[part];
    slice.startNs = start + part * kIterationNs / 4;
    SONDE_TRY_ASSIGN(const auto id, writeSlice(writer, slice, model::word(slice.kind)));
    SONDE_TRY_ASSIGN(const auto key, writer.intern("part"));
    SONDE_TRY(writer.add(model::Arg{model::Owner::Slice, id.value, key, part}));
  }
  const std::int64_t backward = start + kIterationNs / 4;
  slice = {{}, rank.autograd, model::SliceKind::Api, "gloo", {}, backward + 1000, 100'000};
  SONDE_TRY(writeSlice(writer, slice, "allreduce"));
  SONDE_TRY(writeCommunication(writer, rank, number, backward + 1000));
  SONDE_TRY_ASSIGN(const auto loss, writer.intern("loss"));
  return writer.add(model::Scalar{
      rank.process, number, loss, 1.0 / static_cast<double>(number + 1), start + 900'000});
}

// One counter of the machine, and a growing one of a thread.
Result<void> writeCounters(TraceWriter& writer, model::HostId host) {
  SONDE_TRY_ASSIGN(const auto cpu, writer.intern("cpu"));
  SONDE_TRY_ASSIGN(const auto gauge, writer.add(model::Counter{{}, host, {}, {}, {}, cpu, "%"}));
  SONDE_TRY(writer.add(model::Sample{gauge, kOriginNs, 50.0}));
  for (const model::ThreadId thread : {model::ThreadId(), model::ThreadId{1}}) {
    SONDE_TRY_ASSIGN(
        const auto total,
        writer.add(model::Counter{{}, host, {}, thread, {}, cpu, "ns", model::CounterKind::Total}));
    SONDE_TRY(writer.add(model::Sample{total, kOriginNs, 1000}));
    SONDE_TRY(writer.add(model::Sample{total, kOriginNs + 1000, 1500}));
  }
  return {};
}

}  // namespace

Result<void> writeSample(TraceWriter& writer, int iterations) {
  SONDE_TRY(writer.begin());
  SONDE_TRY(writer.add(model::Meta{"job", "sample"}));
  SONDE_TRY_ASSIGN(const auto host,
                   writer.add(model::Host{{}, "node0", "boot-0", "Linux", {}, 8, {}}));
  for (std::int64_t number = 0; number < 2; ++number) {
    SONDE_TRY_ASSIGN(const Rank rank, writeRank(writer, host, number));
    for (int i = 0; i < iterations; ++i)
      SONDE_TRY(writeIteration(writer, rank, i));
    SONDE_TRY(writer.add(model::Loss{"nvtx", "scope", 3, "spool full", rank.process}));
  }
  SONDE_TRY(writeCounters(writer, host));
  SONDE_TRY(writer.add(
      model::Overhead{"annotation", "scope", 25.0, 1.0, 1000, "micro-loop", {}, 12.0, 1.5, 0.9}));
  SONDE_TRY(writer.add(model::OverheadCovariance{"annotation", "net", 0.001}));
  SONDE_TRY(writer.add(model::Note{{}, kOriginNs, {}, model::Severity::Info, "recorder", "began"}));
  SONDE_TRY(writer.database().exec(
      fmt::format("INSERT INTO storing(host_id, start_ns, dur_ns) VALUES({}, {}, 2000000)",
                  host.value,
                  kOriginNs)));
  return writer.commit();
}

}  // namespace sonde::store
