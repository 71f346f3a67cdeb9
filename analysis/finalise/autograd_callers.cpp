#include "analysis/finalise/autograd_callers.h"

#include "analysis/store/each_row.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace sonde::store {
namespace {

// Slices without a scope on their thread.
constexpr std::string_view kNamed =
    "SELECT t.process_id, s.thread_id, count(*) FROM slice s JOIN thread t ON t.id = s.thread_id "
    "WHERE "
    "s.scope_how = 'none' AND s.name_id IN (SELECT id FROM string WHERE text GLOB "
    "'autograd::engine::evaluate_function*') GROUP BY s.thread_id";

constexpr std::string_view kLinks =
    "SELECT t.process_id, b.thread_id, b.start_ns, f.thread_id FROM link l JOIN slice f ON f.id = "
    "l.from_id JOIN slice b ON b.id = l.to_id JOIN thread t ON t.id = b.thread_id JOIN thread o ON "
    "o.id = f.thread_id WHERE l.kind = 'fwdbwd' AND l.from_owner = 'slice' AND l.to_owner = "
    "'slice' AND f.thread_id <> b.thread_id AND o.process_id = t.process_id";

// Whether a node of autograd has no scope on its thread.
constexpr std::string_view kAnySequence =
    "SELECT 1 FROM slice s JOIN arg a ON a.owner_id = s.id AND a.owner = 'slice' WHERE s.kind = "
    "'operator' AND s.scope_how = 'none' AND (a.value GLOB '*\"Fwd thread id\": [1-9]*' OR a.value "
    "GLOB '*\"Fwd thread id\":[1-9]*') LIMIT 1";

// kineto's arguments: a node of autograd has the sequence number of the operator that created it.
constexpr std::string_view kSequences =
    "SELECT t.process_id, s.thread_id, s.start_ns, json_extract(a.value, '$.\"Sequence number\"') "
    "AS seq, json_extract(a.value, '$.\"Fwd thread id\"') AS forward FROM slice s JOIN thread t ON "
    "t.id = s.thread_id JOIN arg a ON a.owner_id = s.id AND a.owner = 'slice' WHERE s.kind = "
    "'operator' AND a.value GLOB '*\"Sequence number\"*' AND json_valid(a.value)";

// Threads with annotations: the number of slices without a scope, and whether there are iterations.
constexpr std::string_view kAnnotated =
    "SELECT t.process_id, s.thread_id, sum(s.scope_how = 'none'), max(s.kind = 'iteration') FROM "
    "slice s JOIN thread t ON t.id = s.thread_id WHERE s.kind IN ('phase', 'operation', "
    "'iteration', 'micro_step', 'forward', 'backward', 'optimizer', 'data_load', 'checkpoint', "
    "'evaluation') GROUP BY s.thread_id";

}  // namespace

Result<void> AutogradCallers::readNames(const Database& trace) {
  return forEachRow(trace, kNamed, [&](const Statement& row) -> Result<void> {
    Worker& worker = workers_[row.integer(1)];
    worker.process = row.integer(0);
    worker.alone = row.integer(2);
    return {};
  });
}

Result<void> AutogradCallers::readLinks(const Database& trace) {
  return forEachRow(trace, kLinks, [&](const Statement& row) -> Result<void> {
    Worker& worker = workers_[row.integer(1)];
    worker.process = row.integer(0);
    worker.hints.emplace_back(row.integer(2), row.integer(3));
    return {};
  });
}

// Only for an import without such links: this reads all arguments of operators.
Result<void> AutogradCallers::readSequences(const Database& trace) {
  const bool isTold = std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
    return !worker.second.hints.empty();
  });
  SONDE_TRY_ASSIGN(const std::int64_t isImport,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM host WHERE boot_id IS NULL)"));
  if (isTold || isImport == 0)
    return {};
  SONDE_TRY_ASSIGN(Statement any, trace.prepare(kAnySequence));
  SONDE_TRY_ASSIGN(const bool hasNumbers, any.step());
  if (!hasNumbers)
    return {};
  using Key = std::pair<std::int64_t, std::int64_t>;  // process, sequence number
  struct Backward {
    Key key;
    std::int64_t thread;
    std::int64_t startNs;
  };
  std::map<Key, std::int64_t> forward;
  std::vector<Backward> backward;
  SONDE_TRY(forEachRow(trace, kSequences, [&](const Statement& row) -> Result<void> {
    const Key key{row.integer(0), row.integer(3)};
    if (row.isNull(3) || key.second < 0)
      return {};
    if (row.integer(4) > 0)
      backward.push_back({key, row.integer(1), row.integer(2)});
    else
      forward.try_emplace(key, row.integer(1));
    return {};
  }));
  for (const Backward& each : backward) {
    const auto made = forward.find(each.key);
    if (made == forward.end() || made->second == each.thread)
      continue;
    Worker& worker = workers_[each.thread];
    worker.process = each.key.first;
    worker.hints.emplace_back(each.startNs, made->second);
  }
  return {};
}

Result<void> AutogradCallers::readThreads(const Database& trace) {
  if (workers_.empty())
    return {};
  return forEachRow(trace, kAnnotated, [&](const Statement& row) -> Result<void> {
    const bool hasIterations = row.integer(3) != 0;
    const auto worker = workers_.find(row.integer(1));
    if (worker != workers_.end()) {
      const auto hints = static_cast<std::int64_t>(worker->second.hints.size());
      if (!hasIterations && row.integer(2) <= worker->second.alone + hints)
        return {};
      workers_.erase(worker);
    }
    Process& process = callers_[row.integer(0)];
    (hasIterations ? process.withIterations : process.withAnnotations).push_back(row.integer(1));
    return {};
  });
}

Result<AutogradCallers> AutogradCallers::read(const Database& trace) {
  AutogradCallers callers;
  SONDE_TRY(callers.readNames(trace));
  SONDE_TRY(callers.readLinks(trace));
  SONDE_TRY(callers.readSequences(trace));
  SONDE_TRY(callers.readThreads(trace));
  for (auto& [thread, worker] : callers.workers_) {
    std::sort(worker.hints.begin(), worker.hints.end());
    callers.processes_.insert(worker.process);
  }
  return callers;
}

std::vector<std::int64_t> AutogradCallers::callersOf(std::int64_t threadId,
                                                     std::int64_t startNs,
                                                     std::int64_t endNs) const {
  const auto worker = workers_.find(threadId);
  if (worker == workers_.end())
    return {};
  std::vector<std::int64_t> threads;
  const std::vector<Hint>& hints = worker->second.hints;
  auto hint = std::lower_bound(hints.begin(), hints.end(), Hint{startNs, 0});
  if (hint != hints.end() && hint->first <= endNs)
    threads.push_back(hint->second);
  else if (hint != hints.begin())
    threads.push_back(std::prev(hint)->second);
  const auto process = callers_.find(worker->second.process);
  if (process == callers_.end())
    return threads;
  const auto& [withIterations, withAnnotations] = process->second;
  threads.insert(threads.end(), withIterations.begin(), withIterations.end());
  threads.insert(threads.end(), withAnnotations.begin(), withAnnotations.end());
  return threads;
}

}  // namespace sonde::store
