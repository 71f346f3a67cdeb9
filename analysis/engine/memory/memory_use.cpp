#include "analysis/engine/memory/memory_use.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/intervals/time_range.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

struct Scope {
  std::int64_t around = 0;  // the scope around it; 0: none
  std::string_view kind;    // of Scopes::words_
  std::int64_t nameId = 0;
  Interval time{};
  bool isInSame = false;  // inside a scope of the same kind and name
};

constexpr std::string_view kScopeSql =
    "SELECT s.id, s.scope_id, s.kind, s.name_id, s.start_ns, s.start_ns + s.dur_ns, n.text FROM "
    "thread t CROSS JOIN slice s ON s.thread_id = t.id LEFT JOIN string n ON n.id = s.name_id "
    "WHERE t.process_id = ?1 AND s.kind NOT IN ('api', 'collective', 'io', 'wait', 'python', "
    "'range', 'mark')";

// The scopes of one process.
class Scopes {
 public:
  static Result<Scopes> read(const store::Database& trace, std::int64_t processId) {
    Scopes scopes;
    SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kScopeSql));
    rows.bind(1, processId);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        break;
      Scope scope;
      scope.around = rows.integer(1);
      scope.kind = scopes.words_.try_emplace(std::string(rows.text(2))).first->first;
      scope.nameId = rows.integer(3);
      scope.time = {rows.integer(4), rows.isNull(5) ? INT64_MAX : rows.integer(5)};
      scopes.names_.try_emplace(scope.nameId, rows.text(6));
      scopes.all_.emplace(rows.integer(0), scope);
    }
    for (auto& [id, scope] : scopes.all_)
      scopes.eachAround(scope, [&scope = scope](const Scope& around) {
        scope.isInSame |= around.kind == scope.kind && around.nameId == scope.nameId;
      });
    return scopes;
  }

  const std::unordered_map<std::int64_t, Scope>& all() const { return all_; }
  const std::string& nameOf(const Scope& scope) const { return names_.at(scope.nameId); }
  const Scope* find(std::int64_t id) const {
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : &found->second;
  }
  // From the inside out. A damaged file may have scopes that contain each other.
  template <typename Use>
  void eachAround(const Scope& scope, Use use) const {
    constexpr int kDeepest = 1000;
    const Scope* around = find(scope.around);
    for (int depth = 0; around != nullptr && depth < kDeepest; ++depth) {
      use(*around);
      around = find(around->around);
    }
  }

 private:
  std::unordered_map<std::int64_t, Scope> all_;
  std::unordered_map<std::int64_t, std::string> names_;
  std::map<std::string, int> words_;
};

// Bytes freed up to an instant.
class Freed {
 public:
  explicit Freed(const std::vector<MemoryBlock>& blocks) {
    for (const MemoryBlock& block : blocks)
      if (block.freeNs)
        at_.push_back({*block.freeNs, block.bytes});
    std::sort(at_.begin(), at_.end(), [](const MemoryLevel& a, const MemoryLevel& b) {
      return a.ns < b.ns;
    });
    for (std::size_t i = 1; i < at_.size(); ++i)
      at_[i].bytes += at_[i - 1].bytes;
  }
  std::int64_t in(Interval time) const { return before(time.end) - before(time.begin); }

 private:
  std::int64_t before(std::int64_t ns) const {
    const auto found =
        std::lower_bound(at_.begin(), at_.end(), ns, [](const MemoryLevel& each, std::int64_t at) {
          return each.ns < at;
        });
    return found == at_.begin() ? 0 : std::prev(found)->bytes;
  }
  std::vector<MemoryLevel> at_;  // bytes: total up to that instant
};

using OperationKey = std::pair<std::string_view, std::int64_t>;  // kind, name

bool isIn(std::int64_t ns, Interval range) {
  return range.begin <= ns && ns < range.end;
}

// `range`: by the clock of the process's host.
std::vector<MemoryOperation> operationsOf(const MemoryLog& log,
                                          const std::vector<MemoryLevel>& levels,
                                          const Scopes& scopes,
                                          Interval range) {
  std::map<OperationKey, MemoryOperation> rows;
  const HighestLevel highest(levels, log.baseBytes);
  const Freed freed(log.blocks);
  for (const auto& [id, scope] : scopes.all()) {
    if (!sharesTime(scope.time, range))
      continue;
    const Interval time{std::max(scope.time.begin, range.begin),
                        std::min(scope.time.end, range.end)};
    MemoryOperation& row = rows[{scope.kind, scope.nameId}];
    ++row.count;
    row.kind = scope.kind;
    row.name = scopes.nameOf(scope);
    row.peakBytes = std::max(row.peakBytes, highest.in(time));
    if (!scope.isInSame)
      row.freedBytes += freed.in(time);
  }
  for (const MemoryBlock& block : log.blocks) {
    const Scope* const innermost = scopes.find(block.scopeId);
    if (innermost == nullptr || !isIn(block.allocNs, range))
      continue;
    const auto add = [&](const Scope& scope) {
      if (scope.isInSame)
        return;
      MemoryOperation& row = rows[{scope.kind, scope.nameId}];
      row.kind = scope.kind;
      row.name = scopes.nameOf(scope);
      ++row.blocks;
      row.allocatedBytes += block.bytes;
      row.keptBytes += !block.freeNs || *block.freeNs > scope.time.end ? block.bytes : 0;
    };
    add(*innermost);
    scopes.eachAround(*innermost, add);
  }
  std::vector<MemoryOperation> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) {
    const bool isDetail = row.kind == "module" || row.kind == "operator";
    if (!isDetail || row.blocks > 0 || row.freedBytes > 0)
      sorted.push_back(std::move(row));
  }
  std::sort(sorted.begin(), sorted.end(), [](const MemoryOperation& a, const MemoryOperation& b) {
    return std::tie(b.peakBytes, b.allocatedBytes, a.kind, a.name) <
           std::tie(a.peakBytes, a.allocatedBytes, b.kind, b.name);
  });
  return sorted;
}

MemoryHolder holderOf(const MemoryBlock& block, const Scopes& scopes) {
  MemoryHolder holder;
  const Scope* const innermost = scopes.find(block.scopeId);
  if (innermost == nullptr)
    return holder;
  holder.scopeKind = innermost->kind;
  holder.scope = scopes.nameOf(*innermost);
  const auto take = [&](const Scope& scope) {
    if (!holder.operationKind.empty() || scope.kind == "module" || scope.kind == "operator")
      return;
    holder.operationKind = scope.kind;
    holder.operation = scopes.nameOf(scope);
  };
  take(*innermost);
  scopes.eachAround(*innermost, take);
  return holder;
}

// The names of stacks.
using Sites = std::unordered_map<std::int64_t, std::string>;

// `sites`: names of stacks; nullptr: blocks of one scope are one holder.
std::vector<MemoryHolder> holdersAt(std::int64_t ns,
                                    const MemoryLog& log,
                                    const Scopes& scopes,
                                    const Sites* sites = nullptr) {
  std::map<std::pair<std::int64_t, std::int64_t>, MemoryHolder> byScope;
  for (const MemoryBlock& block : log.blocks) {
    if (!block.isHeldAt(ns))
      continue;
    const std::int64_t stack = sites == nullptr ? 0 : block.stackId;
    const auto [holder, isNew] = byScope.try_emplace({block.scopeId, stack});
    if (isNew) {
      holder->second = holderOf(block, scopes);
      if (sites != nullptr && sites->contains(stack))
        holder->second.site = sites->at(stack);
    }
    holder->second.bytes += block.bytes;
    ++holder->second.blocks;
  }
  const auto nameOf = [](const MemoryHolder& each) {
    return std::tie(each.operationKind, each.operation, each.scopeKind, each.scope, each.site);
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>,
           MemoryHolder>
      byName;
  for (const auto& [id, holder] : byScope) {
    const auto [sum, isNew] = byName.try_emplace(nameOf(holder), holder);
    if (isNew)
      continue;
    sum->second.bytes += holder.bytes;
    sum->second.blocks += holder.blocks;
  }
  std::vector<MemoryHolder> sorted;
  sorted.reserve(byName.size());
  for (auto& [name, holder] : byName)
    sorted.push_back(std::move(holder));
  std::stable_sort(sorted.begin(), sorted.end(), [](const MemoryHolder& a, const MemoryHolder& b) {
    return a.bytes > b.bytes;
  });
  return sorted;
}

constexpr std::string_view kFrameSql =
    "WITH RECURSIVE up(id, parent_id, frame_id, depth) AS (SELECT id, parent_id, frame_id, 0 FROM "
    "stack WHERE id = ?1 UNION ALL SELECT s.id, s.parent_id, s.frame_id, up.depth + 1 FROM up JOIN "
    "stack s ON s.id = up.parent_id WHERE up.depth < 200) SELECT f.kind = 'python', n.text, "
    "p.text, "
    "f.line FROM up JOIN frame f ON f.id = up.frame_id JOIN string n ON n.id = f.name_id LEFT JOIN "
    "string p ON p.id = f.path_id ORDER BY up.depth";

// The innermost function in Python. Without one, the caller of the allocating function.
Result<std::string> siteOf(const store::Database& trace, std::int64_t stackId) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kFrameSql));
  rows.bind(1, stackId);
  std::string caller;
  for (int depth = 0;; ++depth) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return caller;
    const bool isPython = rows.integer(0) != 0;
    if (!isPython && depth > 1)
      continue;
    caller = rows.text(1);
    if (!isPython)
      continue;
    const std::string path(rows.text(2));
    if (!path.empty())
      caller += fmt::format(" ({}:{})", path.substr(path.rfind('/') + 1), rows.integer(3));
    return caller;
  }
}

Result<Sites> sitesAt(const store::Database& trace, const MemoryLog& log, std::int64_t ns) {
  Sites sites;
  for (const MemoryBlock& block : log.blocks)
    if (block.stackId != 0 && block.isHeldAt(ns) && !sites.contains(block.stackId)) {
      SONDE_TRY_ASSIGN(sites[block.stackId], siteOf(trace, block.stackId));
    }
  return sites;
}

constexpr Interval kAllTime{INT64_MIN, INT64_MAX};

// `range`: by the clock of the process's host; unset: all time.
MemoryUse useOf(const MemoryPlace& place,
                const MemoryLog& log,
                const Scopes& scopes,
                const std::optional<Interval>& range) {
  MemoryUse use;
  use.processId = place.processId;
  use.deviceId = place.deviceId;
  use.place = place.place;
  use.allocator = place.allocator;
  use.baseBytes = log.baseBytes;
  for (const MemoryBlock& block : log.blocks)
    if (!range || isIn(block.allocNs, *range)) {
      ++use.blocks;
      use.allocatedBytes += block.bytes;
    }
  const std::vector<MemoryLevel> levels = levelsOf(log.blocks, log.baseBytes);
  const std::vector<MemoryLevel> shown = range ? levelsIn(levels, log.baseBytes, *range) : levels;
  use.peak = peakOf(shown);
  use.endBytes = shown.back().bytes;
  use.series = thinned(shown, kMemoryStretches);
  use.holders = holdersAt(use.peak.ns, log, scopes);
  use.operations = operationsOf(log, levels, scopes, range.value_or(kAllTime));
  return use;
}

Result<void> nameProcess(const store::Database& trace,
                         const std::vector<RankProcess>& ranks,
                         std::int64_t processId,
                         MemoryUse& use) {
  for (const RankProcess& rank : ranks) {
    if (rank.processId != processId)
      continue;
    use.rank = rank.rank;
    use.process = rank.name;
    for (const IterationTime& each : rank.iterations)
      if (each.startNs <= use.peak.ns && use.peak.ns < each.startNs + each.durNs)
        use.peakIteration = each.number;
    return {};
  }
  SONDE_TRY_ASSIGN(Statement row, trace.prepare("SELECT rank, pid FROM process WHERE id = ?1"));
  SONDE_TRY(row.bindAll(processId).step());
  use.rank = row.optionalInteger(0);
  use.process = fmt::format("process {}", row.integer(1));
  return {};
}

// For a device, NVML's value for the whole device; for a host, /proc's value for the process.
Result<void> readSampledPeak(const store::Database& trace,
                             const MemoryPlace& place,
                             const std::optional<Interval>& range,
                             MemoryUse& use) {
  const bool ofDevice = place.deviceId.has_value();
  SONDE_TRY_ASSIGN(
      Statement most,
      trace.prepare(fmt::format(
          "SELECT CAST(max(x.value) AS INTEGER) FROM counter c JOIN string n ON n.id = c.name_id "
          "JOIN sample x ON x.counter_id = c.id WHERE n.text = '{}' AND c.thread_id IS NULL AND "
          "c.{} = ?1 AND x.ts_ns >= ?2 AND x.ts_ns < ?3",
          ofDevice ? "GPU memory used" : "resident memory",
          ofDevice ? "device_id" : "process_id")));
  const auto [begin, end] = range.value_or(kAllTime);
  SONDE_TRY(most.bindAll(place.deviceId.value_or(place.processId), begin, end).step());
  if (ofDevice || place.place == "host")
    use.sampledPeakBytes = most.optionalInteger(0);
  return {};
}

}  // namespace

Result<std::vector<MemoryUse>> memoryUses(const store::Database& trace,
                                          const std::vector<RankProcess>& ranks,
                                          const std::optional<Interval>& within) {
  SONDE_TRY_ASSIGN(const MemoryLogs logs, readMemoryLogs(trace));
  SONDE_TRY_ASSIGN(const align::ProcessClocks clocks, align::readProcessClocks(trace));
  std::vector<MemoryUse> uses;
  std::optional<Scopes> scopes;
  std::int64_t scopesOf = 0;
  for (const auto& [place, log] : logs) {
    if (log.blocks.empty())
      continue;
    if (!scopes || scopesOf != place.processId) {
      SONDE_TRY_ASSIGN(scopes, Scopes::read(trace, place.processId));
      scopesOf = place.processId;
    }
    const align::HostClock& clock = clocks.at(place.processId);
    const auto range =
        within ? std::optional(Interval{clock.toHost(within->begin), clock.toHost(within->end)})
               : std::nullopt;
    MemoryUse& use = uses.emplace_back(useOf(place, log, *scopes, range));
    SONDE_TRY(nameProcess(trace, ranks, place.processId, use));
    SONDE_TRY(readSampledPeak(trace, place, range, use));
  }
  return uses;
}

Result<std::vector<MemoryHolder>> memoryHolders(const store::Database& trace,
                                                const MemoryPlace& place,
                                                std::int64_t ns) {
  SONDE_TRY_ASSIGN(const MemoryLogs logs, readMemoryLogs(trace));
  const auto found = logs.find(place);
  if (found == logs.end())
    return std::vector<MemoryHolder>();
  SONDE_TRY_ASSIGN(const Scopes scopes, Scopes::read(trace, place.processId));
  SONDE_TRY_ASSIGN(const Sites sites, sitesAt(trace, found->second, ns));
  return holdersAt(ns, found->second, scopes, &sites);
}

}  // namespace sonde::engine::metrics
