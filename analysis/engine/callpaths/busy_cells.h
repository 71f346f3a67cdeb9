// When in an iteration the job was busy, for all iterations: a matrix that shows repeated patterns
// and the iterations that differ.
//
// Source: Martin Spier and Brendan Gregg, FlameScope, 2018, with iterations instead of seconds.
#pragma once

#include "analysis/engine/callpaths/path_filter.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::callpaths {

struct CellColumn {
  std::int64_t number = 0;   // of the iteration
  std::int64_t beginNs = 0;  // job time
  std::int64_t endNs = 0;
};

struct BusyCells {
  static constexpr std::int64_t kAfterEnd = -1;
  std::vector<CellColumn> columns;  // by time
  std::size_t rows = 0;             // the last one of the longest iteration ends at its end
  std::int64_t cellNs = 0;          // length of a row
  // By row, then by column: the time of all threads, streams or samples in it, in ns, or bytes.
  // kAfterEnd: the iteration had ended.
  std::vector<std::int64_t> values;

  [[nodiscard]] metrics::Interval timeOf(std::size_t row, std::size_t column) const;
};

// The columns are the iterations of the filter's rank, else of the lowest rank that has some. The
// values are of all that the filter selects; its range is ignored.
//
// Slices: threads are busy inside of slices, except iterations, micro steps and phases, which only
// group others, and except waits. DeviceWork: the time of kernels and copies. Samples: their time,
// at their instant; waits over their length.
//
// No columns: the trace has no iterations that ended. Errors as callPaths(). Requires: rows > 0.
Result<BusyCells> busyCells(const store::Database& trace,
                            PathSource source,
                            const PathFilter& filter,
                            std::size_t rows = 50);

}  // namespace sonde::engine::callpaths
