// The shared state of the parts of a Trace Event Format import. Owned by the importer, on one
// thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/host_slices.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/trace_event/device_row_names.h"
#include "analysis/ingest/trace_event/event_reader.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace sonde::ingest {

class TraceEventContext {
 public:
  // Intermediate data goes to files in `scratch`.
  TraceEventContext(store::TraceWriter& writer,
                    const std::filesystem::path& scratch,
                    std::string hostName);

  // Call once, before any event. Requires: an open transaction.
  Result<void> begin();

  // Counts the values of the event that have this use and cannot be read.
  void noteUnreadable(const TraceEvent& event, ValueUse use);
  // Stores the arguments of a row, which are JSON text.
  Result<void> addArgs(model::Owner owner, std::int64_t id, std::string_view json);
  // Requires: the file is being read.
  std::uint64_t byteOf(const TraceEvent& event) const noexcept { return reader->byteOf(event); }

  store::TraceWriter& writer;
  const EventReader* reader = nullptr;  // set while it reads
  ImportedFile account;
  ImportedPlaces places;
  HostSlices slices;
  DeviceRowNames rows;
  std::uint64_t kept = 0;   // events that become rows
  bool isExport = false;    // `sonde export` wrote it: device work has its actual process
  std::int64_t baseNs = 0;  // added to every time

 private:
  model::StringId argsKey_{};
};

}  // namespace sonde::ingest
