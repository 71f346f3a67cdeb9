// Makes the rows of table loss from a process's own counters, and from the records in its spool
// that are not stored. Plain values and functions; the trace's thread.
#pragma once

#include "analysis/ingest/rows/row_sink.h"
#include "analysis/model/ids.h"
#include "collector/wire/spool_format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sonde::ingest {

using LossTable = std::array<
    std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::LossReason::Count)>,
               static_cast<std::size_t>(wire::RecordKind::Count)>,
    static_cast<std::size_t>(wire::Probe::Count)>;

// The number of records by probe and kind that were lost for a reason the process does not know.
struct LostRecords {
  bool letGo = false;  // the oldest records were dropped on purpose: ends without a begin are not
                       // losses
  std::string_view reason;
  std::array<std::array<std::uint64_t, static_cast<std::size_t>(wire::RecordKind::Count)>,
             static_cast<std::size_t>(wire::Probe::Count)>
      count{};

  void add(std::span<const std::byte> records);
};

void addLosses(RowSink& sink,
               model::ProcessId process,
               const LossTable& losses,
               const LostRecords& lost);

}  // namespace sonde::ingest
