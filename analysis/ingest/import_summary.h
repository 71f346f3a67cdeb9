// The account of an import: events read, and those that were left out. Plain values; any thread.
#pragma once

#include "analysis/ingest/import/imported_file.h"

#include <cstdint>
#include <filesystem>
#include <map>
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

// The events of a file that are not in the trace, or lack a part, by `loss.reason`; some are 0.
std::vector<std::pair<const char*, std::uint64_t>> lossesOf(const ImportedFile& imported);

// Adds a file to the summary.
void summarise(ImportSummary& summary,
               const std::filesystem::path& file,
               const ImportedFile& imported);

}  // namespace sonde::ingest
