// The kernels, copies and synchronisation of an imported trace, joined to the API calls that
// launched them, and waits for an event to its record.
//
// Staged by correlation, so that memory does not grow with the trace. Owned by one importer, on one
// thread.
#pragma once

#include "analysis/ingest/import/host_slices.h"
#include "analysis/ingest/import/stream_overlaps.h"
#include "analysis/ingest/input/external_sorter.h"
#include "analysis/model/device_work.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <variant>
#include <vector>

namespace sonde::ingest {

class DeviceEvents {
 public:
  using Work = std::variant<model::Kernel, model::Copy>;

  // Intermediate data goes to files in `folder`.
  explicit DeviceEvents(const std::filesystem::path& folder);

  // Ids are given by the caller; launch and scope are not read. `process`: whose correlations and
  // external ids they are. `externalId` counts where there is no correlation.
  Result<void> add(const Work& work, model::ProcessId process, model::OptionalInt externalId = {});
  // `recordCorrelation`: of the call that recorded the event that is waited for. `waitsForId` is
  // not read.
  Result<void> add(const model::Sync& sync,
                   model::ProcessId process,
                   model::OptionalInt recordCorrelation = {});

  // Stores everything, `shiftNs` later. A launch is looked up by correlation; of several calls with
  // the same one the first is taken. Where calls of several processes have it, it is the one that
  // began before the work, if the others did not; else there is none. By external id the first work
  // is of the first call, the second of the second, and what comes after the last call's of that.
  // It leaves out work outside of `window`. Requires: a transaction is open, and
  // `slices.finish()`, whose launches this takes.
  Result<void> finish(store::TraceWriter& writer,
                      HostSlices& slices,
                      std::int64_t shiftNs,
                      const TimeWindow& window = {});

  // Ids of the rows that finish() left out.
  struct LeftOut {
    std::vector<std::int64_t> kernels;
    std::vector<std::int64_t> copies;
    std::vector<std::int64_t> syncs;
  };
  const LeftOut& leftOut() const noexcept { return leftOut_; }

  // After finish() and when places are stored: lines on kernels that lie over later ones.
  Result<std::vector<std::string>> overlaps(store::TraceWriter& writer, std::int64_t shiftNs) {
    return overlaps_.describe(writer, shiftNs);
  }
  // Number of events whose correlation calls of several processes share, and nothing tells which.
  std::uint64_t ambiguous() const noexcept { return ambiguous_; }

 private:
  struct Staged {
    LaunchKey key;
    std::int64_t startNs;
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
  struct ByLaunch {
    bool operator()(const Staged& a, const Staged& b) const noexcept;
  };
  struct RecordsFirst {
    bool operator()(const StagedSync& a, const StagedSync& b) const noexcept;
  };

  Result<void> storeWork(store::TraceWriter& writer,
                         HostSlices& slices,
                         std::int64_t shiftNs,
                         const TimeWindow& window);
  Result<void> storeSyncs(store::TraceWriter& writer,
                          std::int64_t shiftNs,
                          const TimeWindow& window);
  bool isLeftOut(const Staged& staged, const TimeWindow& window);

  ExternalSorter<Staged, ByLaunch> staged_;
  ExternalSorter<StagedSync, RecordsFirst> syncs_;
  std::int64_t count_ = 0;
  std::uint64_t ambiguous_ = 0;
  StreamOverlaps overlaps_;
  LeftOut leftOut_;
};

}  // namespace sonde::ingest
