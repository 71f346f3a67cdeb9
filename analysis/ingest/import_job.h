// Files that other profilers wrote, as one trace. Each file is a host of its own.
//
// Owned by one import, on one thread.
#pragma once

#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/input/file_format.h"
#include "analysis/store/trace_writer.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde::ingest {

struct ImportSummary {
  std::map<std::string, std::uint64_t> read;     // events by the file's own category
  std::map<std::string, std::uint64_t> dropped;  // by reason
  std::uint64_t kept = 0;                        // events that became rows
  std::vector<std::string> warnings;             // one line each, with the file's name
};

class ImportJob {
 public:
  // A new trace at `part`. Intermediate data goes beside it.
  static Result<ImportJob> create(const std::filesystem::path& part, Progress progress);

  // Requires: all files that will be added, for the progress. NotFound, Io: it cannot be read.
  // Unsupported: it contradicts a file before it (a rank twice, another world size). Corrupt:
  // nothing in it can be read. Errors name the file.
  Result<void> add(const std::vector<std::filesystem::path>& files);

  // Kernels that communicate besides those that are known to; kept in the trace.
  void setCommunication(std::vector<std::string> patterns) { communication_ = std::move(patterns); }

  // The trace, which is not finished yet.
  Result<store::Database> release();
  const ImportSummary& summary() const noexcept { return summary_; }

 private:
  ImportJob(store::TraceWriter writer, std::filesystem::path scratch, Progress progress);

  Result<void> addFile(const std::filesystem::path& file);
  Result<ImportedFile> importFile(const std::filesystem::path& file, FileFormat format);
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
  std::uint64_t bytesBefore_ = 0;           // of the files that are done
  std::uint64_t bytesInAll_ = 0;
  std::map<std::int64_t, std::filesystem::path> ranks_;
  std::map<std::filesystem::path, std::int64_t> ranksInNames_;
  model::OptionalInt worldSize_{};
  struct Span {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::filesystem::path file;
  };
  std::vector<Span> spans_;
  std::int64_t lastProcess_ = 0;  // of the files that are done
};

}  // namespace sonde::ingest
