// Imports an SQLite export of Nsight Systems as the rows of one host, like those of a recording or
// a torch.profiler file.
//
// Reads each table once (NVTX_EVENTS twice), in row order. A missing table counts as empty. Owned
// by one import, on one thread. Memory: buffers of fixed size, the names in use, the collectives.
#pragma once

#include "analysis/ingest/import/imported_file.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <filesystem>

namespace sonde::ingest {

class NsightFile;
class NsightContext;

class NsightImporter {
 public:
  // Intermediate data goes to files in `scratch`.
  NsightImporter(store::TraceWriter& writer, std::filesystem::path scratch, BytesRead bytesRead);

  // The rank to use if the file has none.
  void setRankInName(model::OptionalInt rank) noexcept { rankInName_ = rank; }

  // Call once. Requires: an open transaction. Errors are NsightFile::open()'s; Corrupt: nothing in
  // the file is readable.
  Result<ImportedFile> import(const std::filesystem::path& file);

 private:
  Result<void> readAll(NsightContext& context) const;
  static void sayWhatIsMissing(NsightContext& context);

  store::TraceWriter& writer_;
  std::filesystem::path scratch_;
  BytesRead bytesRead_;
  model::OptionalInt rankInName_{};
};

}  // namespace sonde::ingest
