// Makes rows of the memory that a process's devices can access: allocations, and the sizes of their
// pools, as counters.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/rows/clock_fit.h"
#include "analysis/ingest/rows/process_row.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/ingest/spool/device_rows.h"
#include "analysis/model/device_work.h"
#include "base/result.h"
#include "collector/wire/device_records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sonde::ingest {

class MemoryRows {
 public:
  // The kinds of state that restorePool() reads; the key is the pool's device and address.
  static constexpr std::string_view kPoolSize = "pool size";
  static constexpr std::string_view kPoolUsed = "pool used";

  // All arguments except the time must outlive the object.
  MemoryRows(RowSink& sink,
             TimeBase time,
             const std::string& spool,
             const ProcessRow& process,
             DeviceRows& devices)
      : sink_(sink), time_(time), spool_(spool), process_(process), devices_(devices) {}

  // Takes the kinds up to PoolDestroy.
  void add(const wire::DeviceMemory& record);

  // Restore the state of an earlier recorder: counters from state, and open allocations.
  void restorePool(std::string_view kind, std::int64_t pool, model::CounterId counter);
  Result<void> restoreAllocations();

 private:
  struct Pool {
    model::CounterId size{};
    model::CounterId used{};
    std::optional<std::int64_t> goneNs;  // end of its life: another pool may reuse the address
  };

  void free(std::uint64_t address, std::int64_t ns);
  void allocate(const wire::DeviceMemory& record, std::int64_t ns);
  void sample(const wire::DeviceMemory& record, std::int64_t ns);
  Pool& poolOf(const wire::DeviceMemory& record, std::int64_t ns);
  std::int64_t poolsOf(model::DeviceId device);
  model::CounterId addCounter(model::DeviceId device, std::string_view name);

  RowSink& sink_;
  TimeBase time_;
  const std::string& spool_;
  const ProcessRow& process_;
  DeviceRows& devices_;
  std::unordered_map<std::uint64_t, model::Allocation> allocations_;  // by address, those not freed
  std::map<std::int64_t, Pool> pools_;                                // by device and address
};

}  // namespace sonde::ingest
