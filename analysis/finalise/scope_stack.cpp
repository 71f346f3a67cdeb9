#include "analysis/finalise/scope_stack.h"

#include "analysis/store/open_slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sonde::store {

Result<ScopeStack> ScopeStack::read(const Database& trace, std::int64_t threadId) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(fmt::format(
          "SELECT id, start_ns, start_ns + {}, scope_id FROM slice s WHERE thread_id = ? AND "
          "kind IN ('phase', 'operation', 'iteration', 'micro_step', 'forward', 'backward', "
          "'optimizer', 'data_load', 'checkpoint', 'evaluation', 'module', 'operator') "
          "ORDER BY start_ns, depth, id",
          drawnSql("s"))));
  rows.bindAll(threadId);
  ScopeStack stack;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return stack;
    stack.places_.emplace(rows.integer(0), stack.scopes_.size());
    stack.scopes_.push_back(
        {rows.integer(0),
         rows.integer(1),
         rows.isNull(2) ? std::numeric_limits<std::int64_t>::max() : rows.integer(2),
         rows.integer(3)});
  }
}

std::int64_t ScopeStack::innermostAt(std::int64_t ns) const {
  const auto later = std::upper_bound(
      scopes_.begin(), scopes_.end(), ns, [](std::int64_t time, const Scope& scope) {
        return time < scope.startNs;
      });
  if (later == scopes_.begin())
    return 0;
  auto place = static_cast<std::size_t>(later - scopes_.begin()) - 1;
  while (scopes_[place].endNs <= ns) {
    const auto outer = places_.find(scopes_[place].outer);
    if (outer == places_.end())
      return 0;
    place = outer->second;
  }
  return scopes_[place].id;
}

}  // namespace sonde::store
