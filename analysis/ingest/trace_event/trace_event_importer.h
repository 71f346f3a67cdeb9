// Imports one file of the Trace Event Format, mainly torch.profiler's dialect, as the rows of one
// host.
//
// Owned by one import, on one thread. Memory: buffers of fixed size, the names, the collectives and
// the iterations.
#pragma once

#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/time_census.h"
#include "analysis/ingest/trace_event/counter_events.h"
#include "analysis/ingest/trace_event/event_reader.h"
#include "analysis/ingest/trace_event/slice_events.h"
#include "analysis/ingest/trace_event/trace_event_context.h"
#include "analysis/ingest/trace_event/work_events.h"
#include "analysis/store/trace_writer.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

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

  Result<void> dispatch(const TraceEvent& event);
  Result<void> span(const TraceEvent& event);
  bool hasNoTime(const TraceEvent& event, EventTable table) const noexcept;
  Result<void> counter(const TraceEvent& event);
  Result<void> metadata(const TraceEvent& event);
  void noteUnreadable(const TraceEvent& event, std::string_view why);
  Result<void> read(ByteSource source);
  std::uint64_t lost() const noexcept;
  Error nothingIn(const std::string& file) const;
  Result<void> noteBase();
  Result<void> dropArgs();
  Result<void> finish();
  void noteRanks();

  BytesRead bytesRead_;
  Progress storing_;
  TraceEventContext context_;
  SliceEvents slices_;
  WorkEvents work_;
  CounterEvents counters_;
  TimeCensus census_;
  std::set<char> unsupported_;  // phases
  bool hasFractions_ = false;   // of a microsecond
  bool hasNodes_ = false;       // as in PyTorch's execution traces, which also have a schema
  bool hasSchema_ = false;
  bool hasGroups_ = false;  // as in dumps of NCCL's flight recorder, which also have entries
  bool hasEntries_ = false;
  model::OptionalInt rankInName_{};
};

}  // namespace sonde::ingest
