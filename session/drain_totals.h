// What a recording came to, as its trace tells. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <map>
#include <string>

namespace sonde::session {

struct DrainTotals {
  std::map<std::string, std::uint64_t> events;   // rows by table
  std::map<std::string, std::uint64_t> dropped;  // by reason, as in table loss
  std::uint64_t skippedRecords = 0;              // damaged or of a kind this version does not know
  std::uint64_t bytes = 0;                       // of spool data read
};

// Fills in what the rows of the trace say: events and dropped.
Result<void> countRows(const store::Database& trace, DrainTotals& totals);

}  // namespace sonde::session
