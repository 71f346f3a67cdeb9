// Imports files of other profilers into one trace. Each file is a host of its own.
//
// Owned by one import, on one thread.
#pragma once

#include "analysis/ingest/flight_recorder/flight_groups.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import_summary.h"
#include "analysis/ingest/input/file_format.h"
#include "analysis/ingest/operations/operation_layout.h"
#include "analysis/store/trace_writer.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde::ingest {

class ImportJob {
 public:
  // Creates a trace at `part`. Intermediate data goes beside it.
  static Result<ImportJob> create(const std::filesystem::path& part, Progress progress);

  // Requires: `files` are all files to add, for the progress. NotFound, Io: a file cannot be read.
  // Unsupported: a file contradicts an earlier one (a rank twice, another world size), or is an
  // operation-level trace beside others. InvalidArgument: a layout was set, and contradicts the
  // file. Corrupt: nothing in a file is readable. Errors name the file.
  Result<void> add(const std::vector<std::filesystem::path>& files);

  // Patterns for further kernels that communicate; stored in the trace.
  void setCommunication(std::vector<std::string> patterns) { communication_ = std::move(patterns); }

  // The layout of the job of an operation-level trace whose thread names lack the stages.
  void setLayout(const std::optional<OperationLayout>& layout) { layout_ = layout; }

  // The trace, not yet finished.
  Result<store::Database> release();
  const ImportSummary& summary() const noexcept { return summary_; }

 private:
  ImportJob(store::TraceWriter writer, std::filesystem::path scratch, Progress progress);

  Result<void> addFile(const std::filesystem::path& file);
  Result<ImportedFile> importFile(const std::filesystem::path& file, FileFormat format);
  Result<ImportedFile> importOperations(const std::filesystem::path& file,
                                        const BytesRead& bytesRead);
  Result<ImportedFile> importDump(const std::filesystem::path& file,
                                  FileFormat format,
                                  const BytesRead& bytesRead);
  Result<bool> holdsOperations(const std::filesystem::path& file, FileFormat format) const;
  Result<void> checkRanks(const std::filesystem::path& file,
                          const std::set<std::int64_t>& ranks,
                          model::OptionalInt worldSize);
  Result<void> noteSpan(const std::filesystem::path& file);
  void warnOfGap();

  store::TraceWriter writer_;
  std::filesystem::path scratch_;
  Progress progress_;
  ImportSummary summary_;
  std::vector<std::string> communication_;  // patterns
  std::optional<OperationLayout> layout_;
  std::size_t files_ = 0;
  std::uint64_t bytesBefore_ = 0;  // of completed files
  std::uint64_t bytesInAll_ = 0;
  std::map<std::int64_t, std::filesystem::path> ranks_;
  std::map<std::filesystem::path, std::int64_t> ranksInNames_;
  model::OptionalInt worldSize_{};
  JobGroups groups_;  // of flight-recorder dumps
  struct Span {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::filesystem::path file;
  };
  std::vector<Span> spans_;
  std::int64_t lastProcess_ = 0;  // of completed files
};

}  // namespace sonde::ingest
