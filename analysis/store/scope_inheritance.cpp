#include "analysis/store/scope_inheritance.h"

#include "analysis/store/open_slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace sonde::store {
namespace {

struct Scope {
  std::int64_t id = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t outer = 0;  // id of the scope it is in
};

// Begins and ends of the backward passes of one process.
struct Backward {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t latestEndNs = 0;  // of this one and all that began before it
};
using Process = std::vector<Backward>;

constexpr auto kForever = std::numeric_limits<std::int64_t>::max();

// The scopes of one thread, by start.
class ScopeStack {
 public:
  static Result<ScopeStack> read(const Database& trace, std::int64_t threadId) {
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
      stack.scopes_.push_back({rows.integer(0),
                               rows.integer(1),
                               rows.isNull(2) ? kForever : rows.integer(2),
                               rows.integer(3)});
    }
  }

  // The innermost scope open at `ns`; 0: none.
  std::int64_t innermostAt(std::int64_t ns) const {
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

 private:
  std::vector<Scope> scopes_;
  std::map<std::int64_t, std::size_t> places_;  // by id
};

// The backward that is open at `ns` on a thread other than `threadId` and began last.
const Backward* backwardAt(const Process& process, std::int64_t threadId, std::int64_t ns) {
  auto place = std::upper_bound(
      process.begin(), process.end(), ns, [](std::int64_t time, const Backward& backward) {
        return time < backward.startNs;
      });
  while (place != process.begin() && std::prev(place)->latestEndNs > ns) {
    --place;
    if (place->threadId != threadId && place->endNs > ns)
      return &*place;
  }
  return nullptr;
}

Result<std::map<std::int64_t, Process>> readBackwards(const Database& trace) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare(fmt::format(
          "SELECT t.process_id, s.thread_id, s.start_ns, s.start_ns + {} FROM slice s "
          "JOIN thread t ON t.id = s.thread_id WHERE s.kind = 'backward' ORDER BY s.start_ns",
          drawnSql("s"))));
  std::map<std::int64_t, Process> processes;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return processes;
    Process& process = processes[rows.integer(0)];
    const std::int64_t end = rows.isNull(3) ? kForever : rows.integer(3);
    const std::int64_t latest = process.empty() ? end : std::max(end, process.back().latestEndNs);
    process.push_back({rows.integer(1), rows.integer(2), end, latest});
  }
}

class ProcessPass {
 public:
  ProcessPass(Database& trace, const Process& backwards) : trace_(trace), backwards_(backwards) {}

  Result<void> run(std::int64_t processId) {
    for (const Backward& backward : backwards_) {
      if (stacks_.count(backward.threadId) != 0)
        continue;
      SONDE_TRY_ASSIGN(ScopeStack stack, ScopeStack::read(trace_, backward.threadId));
      stacks_.emplace(backward.threadId, std::move(stack));
    }
    SONDE_TRY_ASSIGN(const auto heirs, findHeirs(processId));
    SONDE_TRY_ASSIGN(
        Statement update,
        trace_.prepare("UPDATE slice SET scope_id = ?2, scope_how = 'inherited' WHERE id = ?1"));
    for (const auto& [slice, scope] : heirs)
      SONDE_TRY(update.bindAll(slice, scope).run());
    return {};
  }

 private:
  // Slices that inherit, each with its scope. Marks of managed memory are of no thread's doing.
  Result<std::vector<std::pair<std::int64_t, std::int64_t>>> findHeirs(std::int64_t processId) {
    SONDE_TRY_ASSIGN(
        Statement rows,
        trace_.prepare("SELECT s.id, s.thread_id, s.start_ns FROM thread t JOIN slice s ON "
                       "s.thread_id = t.id WHERE "
                       "t.process_id = ? AND s.scope_how = 'none' AND s.kind <> 'backward' AND "
                       "s.category IS NOT 'unified_memory'"));
    rows.bindAll(processId);
    std::vector<std::pair<std::int64_t, std::int64_t>> heirs;
    for (;;) {
      SONDE_TRY_ASSIGN(const bool more, rows.step());
      if (!more)
        return heirs;
      const std::int64_t startNs = rows.integer(2);
      const Backward* backward = backwardAt(backwards_, rows.integer(1), startNs);
      if (backward == nullptr)
        continue;
      if (const std::int64_t scope = stacks_.at(backward->threadId).innermostAt(startNs);
          scope != 0)
        heirs.emplace_back(rows.integer(0), scope);
    }
  }

  Database& trace_;
  const Process& backwards_;
  std::map<std::int64_t, ScopeStack> stacks_;  // by thread
};

}  // namespace

Result<void> inheritScopes(Database& trace) {
  SONDE_TRY_ASSIGN(const auto processes, readBackwards(trace));
  for (const auto& [processId, backwards] : processes)
    SONDE_TRY(ProcessPass(trace, backwards).run(processId));
  constexpr std::pair<std::string_view, std::string_view> kOfCalls[] = {
      {"kernel", "launch_slice_id"}, {"copy", "launch_slice_id"}, {"allocation", "slice_id"}};
  for (const auto& [table, call] : kOfCalls)
    SONDE_TRY(trace.exec(
        fmt::format("UPDATE {0} SET scope_id = (SELECT s.scope_id FROM slice s WHERE s.id = {1}) "
                    "WHERE scope_id IS NULL AND {1} IS NOT NULL",
                    table,
                    call)));
  return {};
}

}  // namespace sonde::store
