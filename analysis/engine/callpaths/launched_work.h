// The kernels and copies of a part of a trace, each with the call that launched it. Reading uses
// the database's thread. Within engine/callpaths.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/callpaths/call_tree.h"
#include "analysis/engine/callpaths/path_filter.h"
#include "analysis/store/database.h"
#include "analysis/store/statement.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

namespace sonde::engine::callpaths {

struct LaunchedWork {
  Instance event;
  std::int64_t nameId = 0;
  std::int64_t launchId = 0;  // slice; 0: not recorded
  std::int64_t scopeId = 0;   // slice; 0: none
  std::int64_t launchNs = 0;  // job time; the work's begin if the launch was not recorded
};

class WorkReader {
 public:
  using Visit = std::function<Result<void>(const LaunchedWork&)>;

  // Requires: the database and the filter outlive it.
  static Result<WorkReader> prepare(const store::Database& trace, const PathFilter& filter);

  // The work of the filter's processes that shares time with the range, with a known end.
  Result<void> visit(const std::optional<metrics::Interval>& range, const Visit& visit) const;

 private:
  explicit WorkReader(const store::Database& trace) : trace_(&trace) {}
  Result<void> visitTable(Instance::Table table,
                          const std::optional<metrics::Interval>& range,
                          const Visit& visit) const;

  const store::Database* trace_;
  std::unordered_map<std::int64_t, align::HostClock> streams_;  // of the filter's processes
};

}  // namespace sonde::engine::callpaths
