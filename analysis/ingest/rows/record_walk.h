// Iterates over the untrusted records of a slot. Stateless; any thread.
#pragma once

#include "collector/wire/device_records.h"
#include "collector/wire/memory_records.h"
#include "collector/wire/nccl_records.h"
#include "collector/wire/stack_records.h"
#include "collector/wire/tensor_records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sonde::ingest {

inline constexpr std::uint16_t kNoRecord = 0xffff;  // for a kind that this version does not know

// The minimum size of each kind of record; a later version may append to it.
inline constexpr std::array<std::uint16_t, static_cast<std::size_t>(wire::RecordKind::Count)>
    kRecordBytes = {0,
                    sizeof(wire::ScopeBegin),
                    sizeof(wire::ScopeEnd),
                    sizeof(wire::Call),
                    sizeof(wire::RangeBegin),
                    sizeof(wire::RangeEnd),
                    sizeof(wire::Mark),
                    sizeof(wire::Scalar),
                    sizeof(wire::IterationInfo),
                    sizeof(wire::Arg),
                    sizeof(wire::Collective),
                    sizeof(wire::Transfer),
                    sizeof(wire::ClockSync),
                    sizeof(wire::ThreadEnd),
                    sizeof(wire::Fork),
                    sizeof(wire::Exec),
                    sizeof(wire::DeviceCall),
                    sizeof(wire::Kernel),
                    sizeof(wire::DeviceCopy),
                    sizeof(wire::DeviceSync),
                    sizeof(wire::DeviceMemory),
                    sizeof(wire::CollectiveEnd),
                    sizeof(wire::DeviceMetric),
                    sizeof(wire::FileAccess),
                    sizeof(wire::Message),
                    sizeof(wire::Handoff),
                    sizeof(wire::StackSample),
                    sizeof(wire::TensorStatistics),
                    sizeof(wire::CounterValue),
                    sizeof(wire::Note),
                    sizeof(wire::Allocation),
                    sizeof(wire::Release)};

struct WalkCount {
  std::uint64_t records = 0;  // visited
  std::uint64_t skipped =
      0;  // unknown kinds or too short; a broken size counts once for the whole rest
};

template <typename Record>
Record loadRecord(const std::byte* at) noexcept {
  Record record;
  std::memcpy(&record, at, sizeof record);
  return record;
}

// Calls visit(header, bytes) for each complete record of a known kind; `bytes` has at least that
// kind's size.
template <typename Visit>
WalkCount walkRecords(std::span<const std::byte> bytes, Visit&& visit) {
  WalkCount count;
  while (bytes.size() >= sizeof(wire::RecordHeader)) {
    const auto header = loadRecord<wire::RecordHeader>(bytes.data());
    if (header.size < sizeof header || header.size % 8 != 0 || header.size > bytes.size()) {
      ++count.skipped;
      return count;
    }
    const auto kind = static_cast<std::size_t>(header.kind);
    if (kind == 0 || kind >= kRecordBytes.size() || header.size < kRecordBytes[kind]) {
      ++count.skipped;
    } else {
      ++count.records;
      visit(header, bytes.data());
    }
    bytes = bytes.subspan(header.size);
  }
  return count;
}

}  // namespace sonde::ingest
