#include "analysis/ingest/spool/memory_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::ingest {
namespace {

// Pools of two devices may have one address. The key combines both: addresses of a process have at
// most 56 bits.
std::int64_t keyOf(const wire::DeviceMemory& record) {
  constexpr int kAddressBits = 56;
  const std::uint64_t address = record.pool & ((std::uint64_t{1} << kAddressBits) - 1);
  const std::uint64_t device = record.header.subject - 1;
  return static_cast<std::int64_t>(device << kAddressBits | address);
}

}  // namespace

void MemoryRows::add(const wire::DeviceMemory& record) {
  using wire::DeviceMemoryKind;
  const std::int64_t ns = time_.toNs(record.beginTicks);
  const auto kind = static_cast<DeviceMemoryKind>(record.header.detail);
  if (kind == DeviceMemoryKind::Free || kind == DeviceMemoryKind::Allocate)
    free(record.address, ns);  // a reused address was freed, even if no record reported it
  if (kind == DeviceMemoryKind::Allocate)
    allocate(record, ns);
  if (record.pool != 0 && record.header.subject != 0)
    sample(record, ns);
}

void MemoryRows::free(std::uint64_t address, std::int64_t ns) {
  const auto open = allocations_.find(address);
  if (open == allocations_.end())
    return;
  open->second.freeNs = std::max(ns, open->second.allocNs);
  sink_.update(open->second);
  allocations_.erase(open);
}

void MemoryRows::allocate(const wire::DeviceMemory& record, std::int64_t ns) {
  model::Allocation row;
  row.processId = process_.row.id;
  if (record.header.subject != 0)
    row.deviceId = devices_.deviceOf(record.header.subject - 1);
  row.address = static_cast<std::int64_t>(record.address);
  row.bytes = static_cast<std::int64_t>(record.value);
  row.allocNs = ns;
  if (record.pool != 0)
    row.pool = static_cast<std::int64_t>(record.pool);
  if (record.correlation != 0)
    row.correlationId = record.correlation;
  row.id = sink_.add(row);
  allocations_.emplace(record.address, row);
}

// A pool shared by another process has no size.
void MemoryRows::sample(const wire::DeviceMemory& record, std::int64_t ns) {
  const bool isGone =
      record.header.detail == static_cast<std::uint8_t>(wire::DeviceMemoryKind::PoolDestroy);
  if (record.poolBytes == 0 && record.poolUsedBytes == 0 && !isGone &&
      !pools_.contains(keyOf(record)))
    return;
  Pool& pool = poolOf(record, ns);
  const auto bytes = [&](std::uint64_t value) { return isGone ? 0.0 : static_cast<double>(value); };
  sink_.add(model::Sample{pool.size, ns, bytes(record.poolBytes)});
  sink_.add(model::Sample{pool.used, ns, bytes(record.poolUsedBytes)});
  if (!isGone)
    return;
  pool.goneNs = ns;
  sink_.setState(spool_, kPoolSize, keyOf(record), std::int64_t{0});
  sink_.setState(spool_, kPoolUsed, keyOf(record), std::int64_t{0});
}

// The first pool of a device, mostly the default one, has no number in its names. Records are
// unordered: one from before a pool's end belongs to that pool.
MemoryRows::Pool& MemoryRows::poolOf(const wire::DeviceMemory& record, std::int64_t ns) {
  const std::int64_t key = keyOf(record);
  Pool& pool = pools_[key];
  if (pool.goneNs && ns > *pool.goneNs)
    pool = {};
  if (pool.size && pool.used)
    return pool;
  const model::DeviceId device = devices_.deviceOf(record.header.subject - 1);
  const std::int64_t others = poolsOf(device);
  const std::string number = others == 0 ? "" : fmt::format(" {}", others + 1);
  pool.size = addCounter(device, fmt::format("CUDA memory pool{} size", number));
  sink_.setState(spool_, kPoolSize, key, pool.size.value);
  pool.used = addCounter(device, fmt::format("CUDA memory pool{} used", number));
  sink_.setState(spool_, kPoolUsed, key, pool.used.value);
  return pool;
}

std::int64_t MemoryRows::poolsOf(model::DeviceId device) {
  auto rows = sink_.writer().database().prepare(
      "SELECT count(*) FROM counter c JOIN string n ON n.id = c.name_id WHERE c.process_id = ?1 "
      "AND c.device_id = ?2 AND n.text GLOB 'CUDA memory pool* size'");
  if (!rows)
    return 0;
  const auto found = rows->bindAll(process_.row.id, device).step();
  return found && *found ? rows->integer(0) : 0;
}

model::CounterId MemoryRows::addCounter(model::DeviceId device, std::string_view name) {
  model::Counter row;
  row.hostId = process_.row.hostId;
  row.processId = process_.row.id;
  row.deviceId = device;
  row.nameId = sink_.intern(name);
  row.unit = "bytes";
  return sink_.add(row);
}

void MemoryRows::restorePool(std::string_view kind, std::int64_t pool, model::CounterId counter) {
  if (!counter)  // for a destroyed pool
    return;
  Pool& known = pools_[pool];
  (kind == kPoolSize ? known.size : known.used) = counter;
}

Result<void> MemoryRows::restoreAllocations() {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   sink_.writer().database().prepare(
                       "SELECT id, device_id, address, bytes, alloc_ns, pool, correlation_id FROM "
                       "allocation WHERE process_id = ?1 AND free_ns IS NULL AND "
                       "allocator = 'cuda' ORDER BY id"));
  rows.bindAll(process_.row.id);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    model::Allocation open;
    open.id = rows.id<model::AllocationId>(0);
    open.processId = process_.row.id;
    open.deviceId = rows.id<model::DeviceId>(1);
    open.address = rows.integer(2);
    open.bytes = rows.integer(3);
    open.allocNs = rows.integer(4);
    if (!rows.isNull(5))
      open.pool = rows.integer(5);
    if (!rows.isNull(6))
      open.correlationId = rows.integer(6);
    allocations_.insert_or_assign(static_cast<std::uint64_t>(open.address), open);
  }
}

}  // namespace sonde::ingest
