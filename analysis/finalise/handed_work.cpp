#include "analysis/finalise/handed_work.h"

#include "analysis/store/statement.h"

#include <algorithm>

namespace sonde::store {

Result<HandedWork> HandedWork::read(const Database& trace) {
  HandedWork work;
  SONDE_TRY_ASSIGN(const std::int64_t any,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM handoff)"));
  if (any == 0)
    return work;
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(
          "SELECT t.process_id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns,"
          " iif(h.certain, h.waker_thread_id, NULL), h.waker_ns FROM slice s"
          " JOIN thread t ON t.id = s.thread_id JOIN string n ON n.id = s.name_id"
          " LEFT JOIN handoff h ON h.slice_id = s.id WHERE s.kind = 'wait' AND s.category = 'sync'"
          " AND n.text IN ('pthread_cond_wait', 'pthread_cond_clockwait', 'sem_wait', "
          "'sem_timedwait', 'sem_clockwait', 'futex')"
          " ORDER BY s.thread_id, s.start_ns"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return work;
    work.processes_.insert(rows.integer(0));
    // A hand-off without a time: assumes the latest possible one.
    const std::int64_t endNs = rows.integer(3);
    work.waits_[rows.integer(1)].push_back(
        {rows.integer(2), endNs, rows.integer(4), rows.optionalInteger(5).value_or(endNs)});
  }
}

const Handing* HandedWork::workOf(std::int64_t threadId, std::int64_t ns) const {
  const auto found = waits_.find(threadId);
  if (found == waits_.end())
    return nullptr;
  const auto& waits = found->second;
  const auto later =
      std::upper_bound(waits.begin(), waits.end(), ns, [](std::int64_t time, const Handing& wait) {
        return time < wait.beginNs;
      });
  if (later == waits.begin())
    return nullptr;
  const Handing& last = *(later - 1);
  return last.endNs <= ns && last.wakerId != 0 ? &last : nullptr;
}

}  // namespace sonde::store
