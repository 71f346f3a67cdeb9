#include "analysis/ingest/rows/losses.h"

#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/model/account.h"

#include <algorithm>

namespace sonde::ingest {
namespace {

wire::Probe probeOf(const wire::RecordHeader& header, const std::byte* at) {
  switch (header.kind) {
    case wire::RecordKind::ScopeBegin:
      return loadRecord<wire::ScopeBegin>(at).probe;
    case wire::RecordKind::Call:
      return loadRecord<wire::Call>(at).probe;
    case wire::RecordKind::RangeBegin:
      return loadRecord<wire::RangeBegin>(at).probe;
    case wire::RecordKind::Mark:
      return loadRecord<wire::Mark>(at).probe;
    case wire::RecordKind::Collective:
      return loadRecord<wire::Collective>(at).probe;
    case wire::RecordKind::Transfer:
      return wire::Probe::Net;
    case wire::RecordKind::CounterValue:
    case wire::RecordKind::Note:
      return wire::Probe::Plugin;
    case wire::RecordKind::Message:
      return wire::Probe::Mpi;
    case wire::RecordKind::FileAccess:
      return wire::Probe::Io;
    case wire::RecordKind::Handoff:
      return wire::Probe::Sync;
    case wire::RecordKind::StackSample:
      return wire::Probe::Stack;
    case wire::RecordKind::Allocation:
    case wire::RecordKind::Release:
      return wire::Probe::Memory;
    case wire::RecordKind::CollectivePart:
      return wire::Probe::Nccl;
    case wire::RecordKind::DeviceCall:
    case wire::RecordKind::Kernel:
    case wire::RecordKind::DeviceCopy:
    case wire::RecordKind::DeviceSync:
    case wire::RecordKind::DeviceMemory:
    case wire::RecordKind::DeviceMetric:
      return wire::Probe::Cuda;
    case wire::RecordKind::ClockSync:
    case wire::RecordKind::ThreadEnd:
    case wire::RecordKind::Fork:
    case wire::RecordKind::Exec:
      return wire::Probe::Process;
    default:
      return wire::Probe::Annotation;
  }
}

}  // namespace

void LostRecords::add(std::span<const std::byte> records) {
  walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
    const auto probe = static_cast<std::size_t>(probeOf(header, at));
    ++count[probe < count.size() ? probe : 0][static_cast<std::size_t>(header.kind)];
  });
}

void addLosses(RowSink& sink,
               model::ProcessId process,
               const LossTable& losses,
               const LostRecords& lost) {
  for (std::size_t probe = 0; probe < losses.size(); ++probe) {
    for (std::size_t kind = 0; kind < losses[probe].size(); ++kind) {
      const auto add = [&](std::uint64_t count, std::string_view reason) {
        if (count > 0)
          sink.add(model::Loss{probeWord(static_cast<wire::Probe>(probe)),
                               recordWord(static_cast<wire::RecordKind>(kind)),
                               signedOf(std::min<std::uint64_t>(count, INT64_MAX)),
                               reason,
                               process});
      };
      for (std::size_t reason = 0; reason < losses[probe][kind].size(); ++reason)
        add(losses[probe][kind][reason], lossWord(static_cast<wire::LossReason>(reason)));
      add(lost.count[probe][kind], lost.reason);
    }
  }
}

}  // namespace sonde::ingest
