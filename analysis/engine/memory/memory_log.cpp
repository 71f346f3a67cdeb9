#include "analysis/engine/memory/memory_log.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

constexpr std::string_view kHost = "host";

constexpr std::string_view kAllocationSql =
    "SELECT a.process_id, a.device_id, coalesce(d.kind || ' ' || d.ordinal, 'host'), a.allocator, "
    "a.alloc_ns, a.free_ns, a.bytes, a.scope_id, coalesce(a.thread_id, s.thread_id), a.stack_id "
    "FROM allocation a LEFT JOIN device d ON d.id = a.device_id LEFT JOIN slice s ON s.id = "
    "a.slice_id";

// Marks of torch.profiler. Arguments that are not JSON are ignored.
constexpr std::string_view kMarkSql =
    "SELECT t.process_id, s.start_ns, s.scope_id, json_extract(a.value, '$.\"Device Type\"'), "
    "json_extract(a.value, '$.\"Device Id\"'), json_extract(a.value, '$.Addr'), "
    "json_extract(a.value, '$.Bytes'), json_extract(a.value, '$.\"Total Allocated\"'), t.id "
    "FROM slice s CROSS JOIN thread t ON t.id = s.thread_id CROSS JOIN arg a ON a.owner_id = s.id "
    "AND a.owner = 'slice' CROSS JOIN string k ON k.id = a.key_id AND k.text = 'args' WHERE s.kind "
    "= 'mark' AND s.name_id = ?1 AND json_valid(a.value) ORDER BY s.start_ns, s.id";

// The devices of each process, by the number that its streams use.
using Devices =
    std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::string>>;

Result<Devices> readDevices(const store::Database& trace) {
  Devices devices;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT DISTINCT s.process_id, d.ordinal, d.id, d.kind || ' ' || d.ordinal FROM stream s "
      "JOIN device d ON d.id = s.device_id",
      [&](const Statement& row) -> Result<void> {
        devices.try_emplace(std::pair(row.integer(0), row.integer(1)),
                            std::pair(row.integer(2), std::string(row.text(3))));
        return {};
      }));
  return devices;
}

// Joins marks to blocks: an allocation and the mark that frees its address.
class Marks {
 public:
  Marks(MemoryLogs& logs, Devices devices) : logs_(logs), devices_(std::move(devices)) {}

  // `row`: of kMarkSql.
  void add(const Statement& row) {
    if (row.isNull(5) || row.integer(6) == 0)
      return;
    const auto [entry, isNew] = logs_.try_emplace(placeOf(row));
    Open& open = open_[entry->first];
    const std::int64_t ns = row.integer(1);
    const std::int64_t bytes = row.integer(6);
    MemoryLog& log = entry->second;
    if (isNew && !row.isNull(7))
      log.baseBytes = std::max<std::int64_t>(row.integer(7) - bytes, 0);
    const auto held = open.find(row.integer(5));
    if (held != open.end()) {
      log.blocks[held->second].freeNs = ns;
      log.blocks[held->second].freeThreadId = row.integer(8);
      open.erase(held);
    } else if (bytes < 0) {
      log.blocks.push_back({kBefore, ns, -bytes, 0, 0, row.integer(8)});
    }
    if (bytes <= 0)
      return;
    open[row.integer(5)] = log.blocks.size();
    log.blocks.push_back({ns, {}, bytes, row.integer(2), row.integer(8)});
  }

  // Blocks that were held before the first mark and freed later are part of the base.
  void finish() {
    for (auto& [place, open] : open_) {
      MemoryLog& log = logs_.at(place);
      std::int64_t first = INT64_MAX;
      for (const MemoryBlock& block : log.blocks)
        first = std::min(first, block.allocNs == kBefore ? *block.freeNs : block.allocNs);
      for (MemoryBlock& block : log.blocks) {
        if (block.allocNs != kBefore)
          continue;
        block.allocNs = first;
        log.baseBytes = std::max<std::int64_t>(log.baseBytes - block.bytes, 0);
      }
    }
  }

 private:
  using Open = std::map<std::int64_t, std::size_t>;  // places in `blocks`, by address
  static constexpr std::int64_t kBefore = INT64_MIN;

  MemoryPlace placeOf(const Statement& row) const {
    MemoryPlace place{row.integer(0), {}, std::string(kHost), "torch"};
    const std::int64_t number = row.integer(4);
    if (row.integer(3) == 0 || number < 0)
      return place;
    const auto device = devices_.find({place.processId, number});
    place.place = device == devices_.end() ? fmt::format("gpu {}", number) : device->second.second;
    if (device != devices_.end())
      place.deviceId = device->second.first;
    return place;
  }

  MemoryLogs& logs_;
  Devices devices_;
  std::map<MemoryPlace, Open> open_;
};

Result<void> readMarks(const store::Database& trace, MemoryLogs& logs) {
  SONDE_TRY_ASSIGN(Statement name, trace.prepare("SELECT id FROM string WHERE text = '[memory]'"));
  SONDE_TRY_ASSIGN(const bool isThere, name.step());
  if (!isThere)
    return {};
  SONDE_TRY_ASSIGN(Devices devices, readDevices(trace));
  Marks marks(logs, std::move(devices));
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kMarkSql));
  rows.bind(1, name.integer(0));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    marks.add(rows);
  }
  marks.finish();
  return {};
}

}  // namespace

Result<MemoryLogs> readMemoryLogs(const store::Database& trace) {
  MemoryLogs logs;
  SONDE_TRY(store::forEachRow(trace, kAllocationSql, [&](const Statement& row) -> Result<void> {
    MemoryPlace place{
        row.integer(0), row.optionalInteger(1), std::string(row.text(2)), std::string(row.text(3))};
    logs[std::move(place)].blocks.push_back({row.integer(4),
                                             row.optionalInteger(5),
                                             std::max<std::int64_t>(row.integer(6), 0),
                                             row.integer(7),
                                             row.integer(8),
                                             0,
                                             row.integer(9)});
    return {};
  }));
  SONDE_TRY(readMarks(trace, logs));
  for (auto& [place, log] : logs)
    std::stable_sort(
        log.blocks.begin(), log.blocks.end(), [](const MemoryBlock& a, const MemoryBlock& b) {
          return a.allocNs < b.allocNs;
        });
  return logs;
}

}  // namespace sonde::engine::metrics
