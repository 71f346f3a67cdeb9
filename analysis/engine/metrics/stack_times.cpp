#include "analysis/engine/metrics/stack_times.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/iterations/iterations.h"
#include "analysis/model/words.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/statement.h"
#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace sonde::engine::metrics {
namespace {

bool contains(const Intervals& intervals, std::int64_t ns) {
  const auto next = std::partition_point(
      intervals.begin(), intervals.end(), [&](const Interval& one) { return one.end <= ns; });
  return next != intervals.end() && next->begin <= ns;
}

// "'phase', 'operation', …"
std::string scopeKinds() {
  std::string words;
  for (int kind = 1; model::isScope(static_cast<model::SliceKind>(kind)); ++kind)
    words += fmt::format(
        "{}'{}'", kind == 1 ? "" : ", ", model::word(static_cast<model::SliceKind>(kind)));
  return words;
}

// When one operation was open, and when any scope was.
class Whereabouts {
 public:
  Result<void> read(const store::Database& trace, const std::string& operation);
  bool isIn(std::int64_t process, std::int64_t thread, std::int64_t ns) const;

 private:
  struct Thread {
    std::int64_t process = 0;
    Intervals inside;
    Intervals scopes;
  };
  std::map<std::int64_t, Thread> threads_;
  std::map<std::int64_t, Intervals> shared_;  // by process: for threads without scopes
};

Result<void> Whereabouts::read(const store::Database& trace, const std::string& operation) {
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare(fmt::format(
          "SELECT t.process_id, s.thread_id, s.start_ns, {}, n.text = ?1 FROM slice s"
          " JOIN thread t ON t.id = s.thread_id JOIN string n ON n.id = s.name_id"
          " WHERE s.kind IN ({}) AND (n.text = ?1 OR s.scope_id IS NULL OR s.scope_how <> 'own')",
          store::drawnSql("s"),
          scopeKinds())));
  rows.bindAll(operation);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      break;
    Thread& thread = threads_[rows.integer(1)];
    thread.process = rows.integer(0);
    const std::int64_t end = rows.isNull(3) ? std::numeric_limits<std::int64_t>::max()
                                            : rows.integer(2) + rows.integer(3);
    thread.scopes.push_back({rows.integer(2), end});
    if (rows.integer(4) != 0)
      thread.inside.push_back({rows.integer(2), end});
  }
  std::map<std::int64_t, Intervals> inside;
  std::map<std::int64_t, Intervals> outside;
  for (auto& [id, thread] : threads_) {
    thread.inside = normalise(std::move(thread.inside));
    thread.scopes = normalise(std::move(thread.scopes));
    inside[thread.process] = unite(inside[thread.process], thread.inside);
    outside[thread.process] =
        unite(outside[thread.process], subtract(thread.scopes, thread.inside));
  }
  for (const auto& [process, intervals] : inside)
    shared_[process] = subtract(intervals, outside[process]);
  return {};
}

bool Whereabouts::isIn(std::int64_t process, std::int64_t thread, std::int64_t ns) const {
  const auto own = threads_.find(thread);
  if (own != threads_.end() && contains(own->second.scopes, ns))
    return contains(own->second.inside, ns);
  const auto shared = shared_.find(process);
  return shared != shared_.end() && contains(shared->second, ns);
}

Result<std::vector<std::string>> textsOf(const store::Database& trace, const std::string& sql) {
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(sql));
  std::vector<std::string> texts;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return texts;
    texts.emplace_back(rows.text(0));
  }
}

Result<bool> hasRows(const store::Database& trace, const std::string& sql) {
  SONDE_TRY_ASSIGN(const std::vector<std::string> texts, textsOf(trace, sql + " LIMIT 1"));
  return !texts.empty();
}

Result<void> checkOperation(const store::Database& trace, const std::string& operation) {
  SONDE_TRY_ASSIGN(
      const std::vector<std::string> known,
      textsOf(trace,
              fmt::format("SELECT DISTINCT n.text FROM slice s JOIN string n ON n.id = s.name_id"
                          " WHERE s.kind IN ({})",
                          scopeKinds())));
  if (std::find(known.begin(), known.end(), operation) != known.end())
    return {};
  const std::string nearest = nearestWord(operation, known);
  return Error{ErrorCode::InvalidArgument,
               fmt::format("there is no operation '{}': {}",
                           operation,
                           nearest.empty() ? "'sonde report' lists them"
                                           : fmt::format("did you mean '{}'?", nearest))};
}

const char* kindsOf(StackClock clock) {
  switch (clock) {
    case StackClock::Cpu:
      return "'cpu'";
    case StackClock::Blocked:
      return "'blocked'";
    case StackClock::Wall:
    case StackClock::Device:
    case StackClock::Allocated:
      break;
  }
  return "'cpu', 'blocked', 'other'";
}

// Process, thread, stack, whether it is cut off, amount, time, and whether it has no stack.
std::string rowsOf(StackClock clock) {
  if (clock == StackClock::Allocated)
    return "WITH cut AS (SELECT DISTINCT thread_id, stack_id, 1 AS yes FROM stack_sample WHERE "
           "truncated = 1 AND kind = 'event') SELECT x.process_id, x.thread_id, x.stack_id, "
           "coalesce(cut.yes, 0), x.bytes, x.alloc_ns, 0 FROM allocation x JOIN process p ON p.id "
           "= "
           "x.process_id LEFT JOIN cut ON cut.thread_id = x.thread_id AND cut.stack_id = "
           "x.stack_id WHERE x.stack_id IS NOT NULL AND (?1 IS NULL OR p.rank = ?1)";
  if (clock == StackClock::Device)
    return "WITH cut AS (SELECT DISTINCT thread_id, stack_id, 1 AS yes FROM stack_sample WHERE "
           "truncated = 1 AND kind = 'event'), work AS (SELECT launch_slice_id, dur_ns FROM kernel "
           "UNION ALL SELECT launch_slice_id, dur_ns FROM copy) SELECT t.process_id, s.thread_id, "
           "s.stack_id, coalesce(cut.yes, 0), coalesce(work.dur_ns, 0), s.start_ns, 0 FROM work "
           "JOIN slice s ON s.id = work.launch_slice_id JOIN thread t ON t.id = s.thread_id JOIN "
           "process p ON p.id = t.process_id LEFT JOIN cut ON cut.thread_id = s.thread_id AND "
           "cut.stack_id = s.stack_id WHERE s.stack_id IS NOT NULL AND (?1 IS NULL OR p.rank = ?1)";
  return fmt::format(
      "SELECT t.process_id, x.thread_id, x.stack_id, x.truncated, x.weight, x.ts_ns,"
      " x.kind = 'other' FROM stack_sample x JOIN thread t ON t.id = x.thread_id"
      " JOIN process p ON p.id = t.process_id"
      " WHERE x.kind IN ({}) AND (?1 IS NULL OR p.rank = ?1)",
      kindsOf(clock));
}

// The rows that the clock needs, and the error if the trace has none.
std::pair<const char*, const char*> needOf(StackClock clock) {
  if (clock == StackClock::Allocated)
    return {"SELECT 1 FROM allocation WHERE stack_id IS NOT NULL",
            "the trace has no stacks of allocations: record it with 'sonde run --sources "
            "+stack,+memory --stacks-at alloc'"};
  if (clock == StackClock::Device)
    return {"SELECT 1 FROM slice WHERE kind = 'api' AND stack_id IS NOT NULL",
            "the trace has no stacks of CUDA calls: record it with 'sonde run --sources +stack "
            "--stacks-at cuda' where 'sonde doctor' reports cuda"};
  return {"SELECT 1 FROM stack_sample",
          "the trace has no stacks: record it with 'sonde run --sources +stack'"};
}

// Checks that all that the filter names exists.
Result<void> check(const store::Database& trace, const StackFilter& filter) {
  const auto [present, absent] = needOf(filter.clock);
  SONDE_TRY_ASSIGN(const bool any, hasRows(trace, present));
  if (!any)
    return Error{ErrorCode::NotFound, absent};
  if (filter.rank) {
    SONDE_TRY_ASSIGN(
        const std::vector<std::string> ranks,
        textsOf(trace, "SELECT DISTINCT rank FROM process WHERE rank IS NOT NULL ORDER BY 1"));
    if (std::find(ranks.begin(), ranks.end(), std::to_string(*filter.rank)) == ranks.end())
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("there is no rank {}: the trace has {}",
                               *filter.rank,
                               ranks.empty() ? "none" : fmt::format("{}", fmt::join(ranks, ", ")))};
  }
  return filter.operation.empty() ? Result<void>() : checkOperation(trace, filter.operation);
}

// When each process was in one of these iterations. If iterations are nested, the outermost one's
// number decides.
Result<std::map<std::int64_t, Intervals>> iterationsOf(const store::Database& trace,
                                                       std::int64_t first,
                                                       std::int64_t last) {
  SONDE_TRY_ASSIGN(const auto iterations, iterations::Iterations::read(trace));
  std::map<std::int64_t, Intervals> times;
  bool any = false;
  for (const iterations::Iteration& each : iterations.all()) {
    if (each.number < first || each.number > last || each.isInner())
      continue;
    any = true;
    if (each.durNs)
      times[each.processId].push_back({each.startNs, each.endNs()});
  }
  if (!any)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("there is no iteration from {} to {}: 'sonde report' lists the iterations",
                    first,
                    last)};
  for (auto& [process, intervals] : times)
    intervals = normalise(std::move(intervals));
  return times;
}

// The clock of each process's host.
Result<std::map<std::int64_t, align::HostClock>> clocksOf(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare("SELECT id, host_id FROM process"));
  std::map<std::int64_t, align::HostClock> clocks;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return clocks;
    clocks.emplace(rows.integer(0), clock.clockOf(rows.integer(1)));
  }
}

}  // namespace

Result<void> visitStackSamples(const store::Database& trace,
                               const StackFilter& filter,
                               const std::function<void(const StackSampleAt&)>& visit) {
  SONDE_TRY(check(trace, filter));
  Whereabouts whereabouts;
  if (!filter.operation.empty())
    SONDE_TRY(whereabouts.read(trace, filter.operation));
  std::map<std::int64_t, Intervals> iterations;
  if (filter.iterations) {
    SONDE_TRY_ASSIGN(iterations,
                     iterationsOf(trace, filter.iterations->first, filter.iterations->second));
  }
  SONDE_TRY_ASSIGN(const auto clocks, clocksOf(trace));
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(rowsOf(filter.clock)));
  rows.bindAll(filter.rank);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    StackSampleAt sample{rows.integer(0),
                         rows.integer(1),
                         rows.integer(2),
                         rows.integer(3) != 0,
                         rows.integer(6) != 0,
                         rows.integer(4)};
    const std::int64_t hostNs = rows.integer(5);
    if (filter.iterations && !contains(iterations[sample.processId], hostNs))
      continue;
    if (!filter.operation.empty() && !whereabouts.isIn(sample.processId, sample.threadId, hostNs))
      continue;
    const auto clock = clocks.find(sample.processId);
    sample.atNs = clock == clocks.end() ? hostNs : clock->second.toJob(hostNs);
    if (!filter.range || (filter.range->begin <= sample.atNs && sample.atNs < filter.range->end))
      visit(sample);
  }
}

Result<std::vector<model::StackTime>> stackTimes(const store::Database& trace,
                                                 const StackFilter& filter) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool>, model::StackTime>
      times;
  SONDE_TRY(visitStackSamples(trace, filter, [&](const StackSampleAt& sample) {
    model::StackTime& time = times[{
        sample.processId, sample.threadId, sample.stackId, sample.truncated, sample.isOther}];
    time.processId = model::ProcessId{sample.processId};
    time.threadId = model::ThreadId{sample.threadId};
    time.stackId = model::StackId{sample.stackId};
    time.truncated = sample.truncated;
    time.isOther = sample.isOther;
    time.ns += sample.ns;
    ++time.samples;
  }));
  std::vector<model::StackTime> result;
  result.reserve(times.size());
  for (auto& [key, time] : times)
    result.push_back(time);
  return result;
}

}  // namespace sonde::engine::metrics
