// The kernels, copies and synchronisation of an imported trace. Joins work to the API calls that
// launched it, and waits for events to the events' records.
//
// Staged by correlation, so memory does not grow with the trace. Owned by one importer, on one
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

  // The caller assigns ids; launch and scope are ignored. `process`: owner of the correlations and
  // external ids. `externalId` is used if there is no correlation.
  Result<void> add(const Work& work, model::ProcessId process, model::OptionalInt externalId = {});
  // `recordCorrelation`: of the call that recorded the awaited event. `waitsForId` is ignored.
  Result<void> add(const model::Sync& sync,
                   model::ProcessId process,
                   model::OptionalInt recordCorrelation = {});

  // Stores everything inside `window`, shifted by `shiftNs`. A launch is found by its correlation;
  // if several calls have it, the first counts. If calls of several processes have it, the launch
  // is the only one that began before the work; if that is not unique, there is none. By external
  // id the first work belongs to the first call, the second to the second, and all further work to
  // the last call. Requires: an open transaction, and `slices.finish()`, whose launches this reads.
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

  // After finish(), once places are stored: one line per kernel that overlaps later ones.
  Result<std::vector<std::string>> overlaps(store::TraceWriter& writer, std::int64_t shiftNs) {
    return overlaps_.describe(writer, shiftNs);
  }
  // Number of events with a correlation that calls of several processes share, without a way to
  // decide.
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
