#include "analysis/finalise/scope_inheritance.h"

#include "analysis/finalise/autograd_callers.h"
#include "analysis/finalise/handed_work.h"
#include "analysis/finalise/scope_stack.h"
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

// A backward pass of one process.
struct Backward {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t latestEndNs = 0;  // of this one and all that began before it
};
using Process = std::vector<Backward>;

constexpr auto kForever = std::numeric_limits<std::int64_t>::max();

// The backward pass open at `ns` on a thread other than `threadId`; of several, the last begun.
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
  ProcessPass(Database& trace,
              const Process& backwards,
              const AutogradCallers& autograd,
              const HandedWork& handed)
      : trace_(trace), backwards_(backwards), autograd_(autograd), handed_(handed) {}

  Result<void> run(std::int64_t processId) {
    for (const auto& [find, update] : kHeirs)
      SONDE_TRY(run(processId, find, update));
    return {};
  }

 private:
  // Rows without a scope, with thread and time, and how they are updated. Excluded are marks of
  // managed memory, whose thread is unknown, and outermost waits, in which a thread works for
  // nobody. Waits for a lock are not excluded, except Python's for its interpreter lock
  // (pthread_cond_timedwait).
  static constexpr std::pair<std::string_view, std::string_view> kHeirs[] = {
      {"SELECT s.id, s.thread_id, s.start_ns, s.start_ns + s.dur_ns FROM thread t JOIN slice s ON "
       "s.thread_id = t.id "
       "WHERE t.process_id = ? AND s.scope_how = 'none' AND s.kind <> 'backward' AND s.category IS "
       "NOT 'unified_memory' AND NOT (s.kind = 'wait' AND s.category = 'sync' AND s.parent_id IS "
       "NULL AND s.name_id NOT IN (SELECT id FROM string WHERE text GLOB 'pthread_mutex_*' OR text "
       "GLOB 'pthread_rwlock_*' OR text = 'pthread_cond_timedwait'))",
       "UPDATE slice SET scope_id = ?2, scope_how = 'inherited' WHERE id = ?1"},
      {"SELECT id, thread_id, alloc_ns, alloc_ns FROM allocation WHERE process_id = ? AND scope_id "
       "IS NULL "
       "AND "
       "thread_id IS NOT NULL",
       "UPDATE allocation SET scope_id = ?2 WHERE id = ?1"}};

  Result<void> run(std::int64_t processId, std::string_view find, std::string_view change) {
    SONDE_TRY_ASSIGN(const auto heirs, findHeirs(processId, find));
    SONDE_TRY_ASSIGN(Statement update, trace_.prepare(change));
    for (const auto& [row, scope] : heirs)
      SONDE_TRY(update.bindAll(row, scope).run());
    return {};
  }

  // Returns the rows that inherit, each with its scope.
  Result<std::vector<std::pair<std::int64_t, std::int64_t>>> findHeirs(std::int64_t processId,
                                                                       std::string_view find) {
    SONDE_TRY_ASSIGN(Statement rows, trace_.prepare(find));
    rows.bindAll(processId);
    std::vector<std::pair<std::int64_t, std::int64_t>> heirs;
    for (;;) {
      SONDE_TRY_ASSIGN(const bool more, rows.step());
      if (!more)
        return heirs;
      const std::int64_t threadId = rows.integer(1);
      const std::int64_t startNs = rows.integer(2);
      SONDE_TRY_ASSIGN(std::int64_t scope, backwardScope(threadId, startNs));
      if (scope == 0) {
        const std::int64_t endNs = rows.optionalInteger(3).value_or(startNs);
        SONDE_TRY_ASSIGN(scope, autogradScope(threadId, startNs, endNs));
      }
      if (scope == 0) {
        SONDE_TRY_ASSIGN(scope, handedScope(threadId, startNs, kMostHands));
      }
      if (scope != 0)
        heirs.emplace_back(rows.integer(0), scope);
    }
  }

  Result<const ScopeStack*> stackOf(std::int64_t threadId) {
    auto stack = stacks_.find(threadId);
    if (stack == stacks_.end()) {
      SONDE_TRY_ASSIGN(ScopeStack fresh, ScopeStack::read(trace_, threadId));
      stack = stacks_.emplace(threadId, std::move(fresh)).first;
    }
    return &stack->second;
  }

  Result<std::int64_t> ownScope(std::int64_t threadId, std::int64_t ns) {
    SONDE_TRY_ASSIGN(const ScopeStack* const stack, stackOf(threadId));
    return stack->innermostAt(ns);
  }

  Result<std::int64_t> backwardScope(std::int64_t threadId, std::int64_t ns) {
    const Backward* backward = backwardAt(backwards_, threadId, ns);
    return backward == nullptr ? Result<std::int64_t>(0) : ownScope(backward->threadId, ns);
  }

  // The scope of the thread that called the backward pass for which autograd's thread works.
  Result<std::int64_t> autogradScope(std::int64_t threadId,
                                     std::int64_t startNs,
                                     std::int64_t endNs) {
    for (const std::int64_t caller : autograd_.callersOf(threadId, startNs, endNs)) {
      SONDE_TRY_ASSIGN(const std::int64_t scope, ownScope(caller, startNs));
      if (scope != 0 && caller != threadId)
        return scope;
    }
    return 0;
  }

  // The scope of the thread that handed over the work done at `ns`, through at most `hands`
  // threads. A thread with its own scopes is no worker: outside of them it works for itself.
  Result<std::int64_t> handedScope(std::int64_t threadId, std::int64_t ns, int hands) {
    const Handing* handing = hands == 0 ? nullptr : handed_.workOf(threadId, ns);
    if (handing == nullptr)
      return 0;
    SONDE_TRY_ASSIGN(const ScopeStack* const own, stackOf(threadId));
    if (!own->isEmpty())
      return 0;
    SONDE_TRY_ASSIGN(std::int64_t scope, ownScope(handing->wakerId, handing->wakerNs));
    if (scope == 0) {
      SONDE_TRY_ASSIGN(scope, backwardScope(handing->wakerId, handing->wakerNs));
    }
    return scope != 0 ? Result<std::int64_t>(scope)
                      : handedScope(handing->wakerId, handing->wakerNs, hands - 1);
  }

  static constexpr int kMostHands = 4;

  Database& trace_;
  const Process& backwards_;
  const AutogradCallers& autograd_;
  const HandedWork& handed_;
  std::map<std::int64_t, ScopeStack> stacks_;  // by thread
};

}  // namespace

Result<void> inheritScopes(Database& trace) {
  SONDE_TRY_ASSIGN(auto processes, readBackwards(trace));
  SONDE_TRY_ASSIGN(const HandedWork handed, HandedWork::read(trace));
  SONDE_TRY_ASSIGN(const AutogradCallers autograd, AutogradCallers::read(trace));
  for (const auto* const others : {&handed.processes(), &autograd.processes()})
    for (const std::int64_t processId : *others)
      processes.try_emplace(processId);
  for (const auto& [processId, backwards] : processes)
    SONDE_TRY(ProcessPass(trace, backwards, autograd, handed).run(processId));
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
