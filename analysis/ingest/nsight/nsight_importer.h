// One SQLite export of Nsight Systems as the rows of one host, the same that a recording or a file
// of torch.profiler gives.
//
// Tables are read one after the other, each once (NVTX_EVENTS twice), in the order of their rows;
// a table that is not there has no rows. Owned by one import, on one thread. Memory: buffers of
// fixed size, the names that are used, the collectives.
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

  // The rank of a file that does not say one.
  void setRankInName(model::OptionalInt rank) noexcept { rankInName_ = rank; }

  // Once. Requires: a transaction is open. Errors are
  // NsightFile::open()'s; Corrupt: nothing in the file could be read.
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
