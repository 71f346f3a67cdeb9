// Selects the newest rows of a trace's events, as temporary tables that stand before the trace's
// own. Within engine/recent. On the databases' thread.
#pragma once

#include "analysis/engine/recent/recent_trace.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::recent {

// The newest iterations of each process, so many, or all from an instant on.
struct Kept {
  std::int64_t iterations = 0;
  std::optional<std::int64_t> fromNs{};
  bool isWhole() const noexcept { return iterations == 0 && !fromNs; }
};

Result<Kept> rowsToKeep(const store::Database& trace, const RecentSize& size);

// Creates the tables in `recent`, a connection to the trace that nothing else uses, and temp.since:
// by process, the instant from which on it is kept. Requires: not kept.isWhole().
Result<void> keepRows(store::Database& recent, const Kept& kept);

}  // namespace sonde::engine::recent
