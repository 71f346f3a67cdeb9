// The operations of all ranks in the report of a job. Pure functions.
#pragma once

#include "cli/report/report_lines.h"
#include "cli/report/report_text.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {

// One operation over all ranks.
struct OperationRow {
  std::int64_t count = 0;
  std::int64_t p50Ns = 0;  // the maximum over ranks
  std::int64_t p95Ns = 0;
  std::int64_t totalNs = 0;
  std::map<std::size_t, std::int64_t> byRank;
};

// By kind and name; the longest first.
using OperationRows = std::vector<std::pair<std::pair<std::string, std::string>, OperationRow>>;

// Leaves out modules, operators and calls, unless `full`.
OperationRows gatherOperations(const JobReport& report, bool full);

// A table with at most `limit` rows; empty without operations.
Lines operationLines(const JobReport& report, const OperationRows& rows, std::size_t limit);

}  // namespace sonde::cli
