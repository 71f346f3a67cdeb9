// The texts of an export that rows refer to by number (table StringIds).
//
// Looked up on first use, so unused texts cost nothing. Owned by one importer, on one thread;
// memory grows with the names in use.
#pragma once

#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/nsight/nsight_file.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace sonde::ingest {

class NsightNames {
 public:
  struct Name {
    std::string text;  // "[unknown]" if the file does not have it
    model::StringId id{};
  };

  // Requires: all three outlive it.
  NsightNames(const NsightFile& file, store::TraceWriter& writer, ImportedFile& account)
      : file_(file), writer_(writer), account_(account) {}

  // Call once, before all others.
  Result<void> open();

  // The name with this number. Counts numbers that the file does not have. Drops the version that
  // Nsight appends to CUDA's calls ("cudaLaunchKernel_v7000"). Valid as long as this object.
  Result<const Name*> find(model::OptionalInt number);
  Result<model::StringId> id(model::OptionalInt number);

 private:
  Result<void> numberRows();
  Result<std::optional<std::string>> lookUp(std::int64_t number);

  const NsightFile& file_;
  store::TraceWriter& writer_;
  ImportedFile& account_;
  std::optional<store::Statement> find_;
  std::unordered_map<std::int64_t, std::int64_t> rows_;  // by number, if that is not the key
  bool numbered_ = false;
  std::unordered_map<std::int64_t, Name> names_;
  Name unknown_;
};

}  // namespace sonde::ingest
