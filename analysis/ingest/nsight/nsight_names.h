// The texts of an export, which its rows name by number (table StringIds).
//
// Looked up as they are met, so that those that nothing refers to cost nothing. Owned by one
// importer, on one thread; memory grows with the names that are used.
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
    std::string text;  // "[unknown]": the file does not say
    model::StringId id{};
  };

  // Requires: all three outlive it.
  NsightNames(const NsightFile& file, store::TraceWriter& writer, ImportedFile& account)
      : file_(file), writer_(writer), account_(account) {}

  // Once, before all others.
  Result<void> open();

  // The name of this number. A number that the file does not have is counted. The version that
  // Nsight puts behind CUDA's calls ("cudaLaunchKernel_v7000") is left out. Valid until it goes.
  Result<const Name*> find(model::OptionalInt number);
  Result<model::StringId> id(model::OptionalInt number);

 private:
  Result<void> numberRows();
  Result<std::optional<std::string>> lookUp(std::int64_t number);

  const NsightFile& file_;
  store::TraceWriter& writer_;
  ImportedFile& account_;
  std::optional<store::Statement> find_;
  std::unordered_map<std::int64_t, std::int64_t> rows_;  // by number, where that is not the key
  bool numbered_ = false;
  std::unordered_map<std::int64_t, Name> names_;
  Name unknown_;
};

}  // namespace sonde::ingest
