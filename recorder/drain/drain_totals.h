// The totals of a recording, read from its trace. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::recorder {

struct DrainTotals {
  std::map<std::string, std::uint64_t> events;   // rows by table
  std::map<std::string, std::uint64_t> dropped;  // by reason, as in table loss
  std::uint64_t skippedRecords = 0;   // damaged, or of a kind that this version does not know
  std::uint64_t bytes = 0;            // of spool data read
  std::vector<std::string> warnings;  // for the reader of the trace, one line each
};

// Fills in the totals from the trace's rows: events, dropped and the recorder's own warnings.
Result<void> countRows(const store::Database& trace, DrainTotals& totals);

}  // namespace sonde::recorder
