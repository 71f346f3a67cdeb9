#include "analysis/engine/footprint/memory_rows.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

namespace sonde::engine::footprint {
namespace {

using store::Statement;

// From the inside out. A damaged file may have scopes that contain each other.
constexpr const char* kOperation =
    "WITH RECURSIVE around(id, depth) AS (SELECT ?1, 0 UNION ALL SELECT s.scope_id, a.depth + 1 "
    "FROM around a JOIN slice s ON s.id = a.id WHERE s.scope_id IS NOT NULL AND a.depth < 1000) "
    "SELECT n.text FROM around a JOIN slice s ON s.id = a.id JOIN string n ON n.id = s.name_id "
    "WHERE s.kind NOT IN ('module', 'operator') ORDER BY a.depth LIMIT 1";

Result<void> nameProcess(const store::Database& trace, std::int64_t processId, MemoryRow& row) {
  SONDE_TRY_ASSIGN(Statement process, trace.prepare("SELECT rank, pid FROM process WHERE id = ?1"));
  SONDE_TRY(process.bindAll(processId).step());
  row.rank = process.optionalInteger(0);
  row.process =
      row.rank ? fmt::format("rank {}", *row.rank) : fmt::format("process {}", process.integer(1));
  return {};
}

}  // namespace

Result<std::vector<MemoryRow>> memoryRows(const store::Database& trace,
                                          const std::vector<HeldMemory>& held) {
  std::vector<MemoryRow> rows;
  SONDE_TRY_ASSIGN(Statement operation, trace.prepare(kOperation));
  for (const HeldMemory& each : held) {
    MemoryRow& row = rows.emplace_back();
    SONDE_TRY(nameProcess(trace, each.place.processId, row));
    row.place = each.place.place;
    row.allocator = each.place.allocator;
    row.peakBytes = each.peak.bytes;
    row.baseBytes = each.baseBytes;
    row.iteration = each.iteration;
    row.node = each.node;
    SONDE_TRY_ASSIGN(const bool isKnown, operation.bindAll(each.scopeId).step());
    if (isKnown)
      row.operation = operation.text(0);
    operation.reset();
  }
  return rows;
}

}  // namespace sonde::engine::footprint
