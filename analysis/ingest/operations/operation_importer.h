// Imports an operation-level trace: a file of the Trace Event Format with a span for each forward,
// backward, send, receive and so on, of all workers of a job.
//
// Owned by one import, on one thread. Memory: buffers of fixed size, the names, the streams and the
// steps.
//
// Source of the format: the artifact of "Understanding Stragglers in Large Model Training Using
// What-if Analysis" (OSDI'25).
#pragma once

#include "analysis/ingest/import/host_slices.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/operations/operation_layout.h"
#include "analysis/ingest/operations/operation_places.h"
#include "analysis/ingest/operations/operation_steps.h"
#include "analysis/ingest/trace_event/event_reader.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sonde::ingest {

class OperationImporter : private EventReader::Visitor {
 public:
  // Intermediate data goes to files in `scratch`.
  OperationImporter(store::TraceWriter& writer,
                    const std::filesystem::path& scratch,
                    std::string hostName,
                    BytesRead bytesRead);

  void setLayout(const std::optional<OperationLayout>& layout) { layout_ = layout; }

  // Call once. Requires: an open transaction. Errors are those of OperationPlaces::formWorkers(),
  // with the file's name; Corrupt: no operation is readable.
  Result<ImportedFile> import(ByteSource source);

 private:
  Result<void> event(const TraceEvent& event) override;
  Result<void> member(std::string_view key, std::string_view json) override;
  void progress(std::uint64_t fileBytesRead) override;

  Result<void> operation(const TraceEvent& event);
  Result<void> addSlice(const TraceEvent& event, std::size_t stream, std::int64_t durNs);
  void nameStream(const TraceEvent& event);
  void noteValues(const TraceEvent& event);
  void countFaults(const FileFaults& faults);
  Result<void> finish(const std::string& file);
  Result<void> noteBase();
  void warnOfOthers();

  store::TraceWriter& writer_;
  std::string hostName_;
  BytesRead bytesRead_;
  const EventReader* reader_ = nullptr;  // set while it reads
  std::optional<OperationLayout> layout_;
  HostSlices slices_;
  OperationPlaces places_;
  OperationSteps steps_;
  ImportedFile account_;
  model::StringId argsKey_{};
  std::uint64_t kept_ = 0;
  std::uint64_t unknown_ = 0;           // operations of types that Sonde does not know
  std::set<std::string> unknownTypes_;  // the first ones
  std::int64_t baseNs_ = 0;             // added to every time
  bool hasFractions_ = false;           // of a microsecond
};

}  // namespace sonde::ingest
