// The device work of a Trace Event Format import: kernels, copies and synchronisation, and the
// collectives of NCCL's kernels. Owned by the importer, on its thread; memory grows with the number
// of collectives.
#pragma once

#include "analysis/ingest/import/device_events.h"
#include "analysis/ingest/import/event_kinds.h"
#include "analysis/ingest/trace_event/nccl_collectives.h"
#include "analysis/ingest/trace_event/trace_event_context.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>

namespace sonde::ingest {

class WorkEvents {
 public:
  // Intermediate data goes to files in `scratch`. Requires: `context` outlives it.
  WorkEvents(TraceEventContext& context, const std::filesystem::path& scratch);

  // The table for an event: from its category; without one, from its row.
  EventTable tableOf(const TraceEvent& event);
  // Adds device work. Requires: tableOf() was called last for this event, and returned its table.
  Result<void> addKernel(const TraceEvent& event, std::int64_t durNs);
  Result<void> addCopy(const TraceEvent& event, std::int64_t durNs);
  Result<void> addSync(const TraceEvent& event, std::int64_t durNs);
  // NcclCollectives::describeGroups() of the file's process.
  void describeGroups(ProcessGroups groups) {
    collectives_[ImportedPlaces::kMain].describeGroups(std::move(groups));
  }

  // Passes the devices of rows on to the places, before those are stored.
  void describeDevices();
  // Stores the work inside `window`. Requires: the places and the slices are stored.
  Result<void> finish(const TimeWindow& window);
  Result<void> finishCollectives(const TimeWindow& window);
  const DeviceEvents::LeftOut& leftOut() const noexcept { return device_.leftOut(); }

 private:
  struct StreamPlace {
    std::int64_t device = 0;
    std::int64_t stream = 0;
  };

  std::size_t processOf(const TraceEvent& event);
  model::ProcessId launcherOf(const TraceEvent& event);
  StreamPlace placeOf(const TraceEvent& event) const;
  Result<model::DeviceWork> workOf(const TraceEvent& event, std::int64_t durNs);
  void warn();

  TraceEventContext& context_;
  DeviceEvents device_;
  std::map<std::size_t, NcclCollectives> collectives_;  // by process
  const DeviceRow* row_ = nullptr;  // of the current event, if it has no category
  std::uint64_t repeats_ = 0;       // events of rows that repeat others
};

}  // namespace sonde::ingest
