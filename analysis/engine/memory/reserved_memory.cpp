#include "analysis/engine/memory/reserved_memory.h"

#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::metrics {
namespace {

// A mark of torch.profiler. Arguments that are not JSON are ignored.
struct ReservedMark {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::int64_t number = 0;
  std::int64_t ns = 0;
  std::int64_t reserved = 0;
  std::int64_t inUse = 0;

  SONDE_COLUMNS(processId, rank, pid, number, ns, reserved, inUse)
};
constexpr std::string_view kReservedMarks =
    "SELECT t.process_id, p.rank, p.pid, json_extract(a.value, '$.\"Device Id\"') AS number,"
    " s.start_ns AS ns, json_extract(a.value, '$.\"Total Reserved\"') AS reserved,"
    " json_extract(a.value, '$.\"Total Allocated\"') AS in_use"
    " FROM slice s JOIN string n ON n.id = s.name_id JOIN thread t ON t.id = s.thread_id"
    " JOIN process p ON p.id = t.process_id JOIN arg a ON a.owner = 'slice' AND a.owner_id = s.id"
    " JOIN string k ON k.id = a.key_id WHERE n.text = '[memory]' AND s.kind = 'mark' AND"
    " k.text = 'args' AND json_valid(a.value) AND json_extract(a.value, '$.\"Device Type\"') <> 0"
    " AND json_extract(a.value, '$.\"Total Reserved\"') > 0 ORDER BY s.start_ns";

// The last sample of a counter.
struct AllocatorSample {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::string place;
  std::string name;
  std::int64_t ns = 0;
  double value = 0;

  SONDE_COLUMNS(processId, rank, pid, place, name, ns, value)
};
constexpr std::string_view kAllocatorSamples =
    "SELECT c.process_id, p.rank, p.pid, d.kind || ' ' || d.ordinal AS place, n.text AS name,"
    " max(v.ts_ns) AS ns, v.value FROM counter c JOIN string n ON n.id = c.name_id"
    " JOIN process p ON p.id = c.process_id JOIN device d ON d.id = c.device_id"
    " JOIN sample v ON v.counter_id = c.id WHERE n.text IN ('allocator reserved',"
    " 'allocator in use', 'allocator largest free block') GROUP BY c.id";

struct ReservedSample {
  std::int64_t processId = 0;
  std::string place;
  std::int64_t ns = 0;
  double value = 0;

  SONDE_COLUMNS(processId, place, ns, value)
};
constexpr std::string_view kReservedSamples =
    "SELECT c.process_id, d.kind || ' ' || d.ordinal AS place, v.ts_ns AS ns, v.value FROM counter "
    "c JOIN string n ON n.id = c.name_id JOIN device d ON d.id = c.device_id JOIN sample v ON "
    "v.counter_id = c.id WHERE n.text = 'allocator reserved' AND c.process_id NOTNULL ORDER BY "
    "v.ts_ns";

using Found = std::map<std::pair<std::int64_t, std::string>, ReservedMemory>;

ReservedMemory& entryOf(Found& found,
                        std::int64_t processId,
                        std::optional<std::int64_t> rank,
                        std::int64_t pid,
                        const std::string& place) {
  ReservedMemory& entry = found[{processId, place}];
  entry.processId = processId;
  entry.rank = rank;
  entry.pid = pid;
  entry.place = place;
  return entry;
}

}  // namespace

Result<std::vector<ReservedMemory>> reservedMemory(const store::Database& trace) {
  Found found;
  SONDE_TRY(store::forEach<ReservedMark>(trace, kReservedMarks, [&](const ReservedMark& mark) {
    ReservedMemory& entry =
        entryOf(found, mark.processId, mark.rank, mark.pid, fmt::format("gpu {}", mark.number));
    if (entry.reservedBytes > 0 && mark.inUse <= entry.inUseBytes)
      return;
    entry.ns = mark.ns;
    entry.reservedBytes = mark.reserved;
    entry.inUseBytes = std::min(mark.inUse, mark.reserved);
  }));
  SONDE_TRY(
      store::forEach<AllocatorSample>(trace, kAllocatorSamples, [&](const AllocatorSample& row) {
        ReservedMemory& entry = entryOf(found, row.processId, row.rank, row.pid, row.place);
        const auto bytes = static_cast<std::int64_t>(row.value);
        entry.ns = row.ns;
        if (row.name == kReservedCounter)
          entry.reservedBytes = bytes;
        else if (row.name == kInUseCounter)
          entry.inUseBytes = bytes;
        else
          entry.largestFreeBytes = bytes;
      }));
  std::vector<ReservedMemory> all;
  for (auto& [place, entry] : found)
    if (entry.reservedBytes > 0)
      all.push_back(std::move(entry));
  return all;
}

Result<ReservedLevels> reservedLevels(const store::Database& trace, std::size_t stretches) {
  ReservedLevels levels;
  const auto add = [&](std::int64_t process, const std::string& place, MemoryLevel level) {
    std::vector<MemoryLevel>& of = levels[{process, place}];
    if (of.empty() || of.back().ns < level.ns)
      of.push_back(level);
    else
      of.back().bytes = std::max(of.back().bytes, level.bytes);
  };
  SONDE_TRY(store::forEach<ReservedMark>(trace, kReservedMarks, [&](const ReservedMark& mark) {
    add(mark.processId, fmt::format("gpu {}", mark.number), {mark.ns, mark.reserved});
  }));
  SONDE_TRY(
      store::forEach<ReservedSample>(trace, kReservedSamples, [&](const ReservedSample& sample) {
        add(sample.processId, sample.place, {sample.ns, static_cast<std::int64_t>(sample.value)});
      }));
  for (auto& [place, of] : levels)
    of = thinned(of, stretches);
  return levels;
}

}  // namespace sonde::engine::metrics
