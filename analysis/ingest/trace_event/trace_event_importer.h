// Imports one file of the Trace Event Format, mainly torch.profiler's dialect, as the rows of one
// host.
//
// Owned by one import, on one thread. Memory: buffers of fixed size, the names, the collectives and
// the iterations.
#pragma once

#include "analysis/ingest/import/device_events.h"
#include "analysis/ingest/import/event_kinds.h"
#include "analysis/ingest/import/host_slices.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/trace_event/counter_events.h"
#include "analysis/ingest/trace_event/device_row_names.h"
#include "analysis/ingest/trace_event/event_reader.h"
#include "analysis/ingest/trace_event/nccl_collectives.h"
#include "analysis/ingest/trace_event/open_events.h"
#include "analysis/store/trace_writer.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

class TraceEventImporter : private EventReader::Visitor {
 public:
  // Intermediate data goes to files in `scratch`. `storing`: progress after the reading.
  TraceEventImporter(store::TraceWriter& writer,
                     const std::filesystem::path& scratch,
                     std::string hostName,
                     BytesRead bytesRead,
                     Progress storing = {});

  // The rank to use if the file has none and is mainly of one process.
  void setRankInName(model::OptionalInt rank) noexcept { rankInName_ = rank; }

  // Call once. Requires: an open transaction. Corrupt: nothing in the file is readable.
  Result<ImportedFile> import(ByteSource source);

 private:
  Result<void> event(const TraceEvent& event) override;
  Result<void> member(std::string_view key, std::string_view json) override;
  void progress(std::uint64_t fileBytesRead) override;

  using Handler = Result<void> (TraceEventImporter::*)(const TraceEvent&);
  static Handler handlerOf(char phase) noexcept;

  Result<void> span(const TraceEvent& event);
  bool hasNoTime(const TraceEvent& event, EventTable table) const noexcept;
  Result<void> begin(const TraceEvent& event);
  Result<void> end(const TraceEvent& event);
  Result<void> counter(const TraceEvent& event);
  Result<void> instant(const TraceEvent& event);
  Result<void> flow(const TraceEvent& event);
  Result<void> metadata(const TraceEvent& event);

  Result<OpenEvent> beginSlice(const TraceEvent& event, model::SliceKind kind);
  Result<void> endSlice(OpenEvent open, model::OptionalInt durNs, std::string_view args);
  Result<void> kernel(const TraceEvent& event, std::int64_t durNs);
  Result<void> copy(const TraceEvent& event, std::int64_t durNs);
  Result<void> sync(const TraceEvent& event, std::int64_t durNs);
  Result<model::DeviceWork> workOf(const TraceEvent& event, std::int64_t durNs);
  std::size_t processOf(const TraceEvent& event);
  model::ProcessId launcherOf(const TraceEvent& event);
  struct StreamPlace {
    std::int64_t device = 0;
    std::int64_t stream = 0;
  };
  StreamPlace placeOf(const TraceEvent& event) const;
  EventTable tableOfEvent(const TraceEvent& event);
  static model::OptionalInt externalIdOf(const TraceEvent& event) noexcept;
  Result<void> addArgs(model::Owner owner, std::int64_t id, std::string_view json);
  void noteUnreadable(const TraceEvent& event, ValueUse use);
  Result<void> unreadable(const TraceEvent& event, std::string_view why);
  Result<void> unsupported(const TraceEvent& event);
  Result<void> read(ByteSource source);
  std::uint64_t lost() const noexcept;
  Error nothingIn(const std::string& file) const;
  Result<void> pairOpen();
  Result<void> noteBase();
  Result<void> finishIterations(const TimeWindow& window);
  Result<void> dropArgs();
  Result<void> finish();
  void noteRanks();
  void describeDevices();
  void noteDevices();

  store::TraceWriter& writer_;
  BytesRead bytesRead_;
  Progress storing_;
  const EventReader* reader_ = nullptr;  // set while it reads
  ImportedPlaces places_;
  HostSlices slices_;
  DeviceEvents device_;
  CounterEvents counters_;
  OpenEvents open_;
  TimeCensus census_;
  DeviceRowNames rows_;
  const DeviceRow* row_ = nullptr;  // of the current event, if it has no category
  std::uint64_t repeats_ = 0;       // events of rows that repeat others
  std::map<std::size_t, NcclCollectives> collectives_;  // by process
  std::vector<std::pair<ImportedPlaces::Track, model::Iteration>> iterations_;
  model::StringId argsKey_{};
  std::set<char> unsupported_;  // phases
  bool hasFractions_ = false;   // of a microsecond
  bool hasNodes_ = false;       // as in PyTorch's execution traces, which also have a schema
  bool hasSchema_ = false;
  bool hasGroups_ = false;  // as in dumps of NCCL's flight recorder, which also have entries
  bool hasEntries_ = false;
  std::uint64_t kept_ = 0;   // events that become rows
  bool isExport_ = false;    // `sonde export` wrote it: device work has its actual process
  std::int64_t baseNs_ = 0;  // added to every time
  model::OptionalInt rankInName_{};
  ImportedFile result_;
};

}  // namespace sonde::ingest
