// The kernels, copies and synchronisation of an imported trace, joined to the API calls that
// launched them, and waits for an event to its record.
//
// Staged by correlation, so that memory does not grow with the trace. Owned by one importer, on one
// thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/ingest/host_slices.h"
#include "analysis/ingest/input/external_sorter.h"
#include "analysis/model/device_work.h"
#include "analysis/store/trace_writer.h"

#include <cstdint>
#include <filesystem>
#include <variant>

namespace sonde::ingest {

class DeviceEvents {
 public:
  using Work = std::variant<model::Kernel, model::Copy>;

  // Intermediate data goes to files in `folder`.
  explicit DeviceEvents(const std::filesystem::path& folder);

  // Ids are given by the caller; launch and scope are not read.
  Result<void> add(const Work& work, model::ProcessId process);
  // `recordCorrelation`: of the call that recorded the event that is waited for. `waitsForId` is
  // not read.
  Result<void> add(const model::Sync& sync,
                   model::ProcessId process,
                   model::OptionalInt recordCorrelation = {});

  // Stores everything, `shiftNs` later. A launch is looked up by (process, correlation); of several
  // API calls with the same one the first is taken. Requires: a transaction is open, and
  // `slices.finish()`, whose launches this takes.
  Result<void> finish(store::TraceWriter& writer, HostSlices& slices, std::int64_t shiftNs);

 private:
  struct Staged {
    std::int64_t process;
    std::int64_t correlation;  // kNone: no launch can be found
    std::int64_t order;
    Work work;
  };
  struct StagedSync {
    std::int64_t process;
    std::int64_t correlation;  // of the record that it is or waits for; kNone: neither
    bool isWait;
    std::int64_t order;
    model::Sync row;
  };
  struct ByCorrelation {
    bool operator()(const Staged& a, const Staged& b) const noexcept;
  };
  struct RecordsFirst {
    bool operator()(const StagedSync& a, const StagedSync& b) const noexcept;
  };

  Result<void> storeWork(store::TraceWriter& writer, HostSlices& slices, std::int64_t shiftNs);
  Result<void> storeSyncs(store::TraceWriter& writer, std::int64_t shiftNs);

  ExternalSorter<Staged, ByCorrelation> staged_;
  ExternalSorter<StagedSync, RecordsFirst> syncs_;
  std::int64_t count_ = 0;
};

}  // namespace sonde::ingest
