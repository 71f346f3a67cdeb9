#include "analysis/ingest/spool/host_memory_rows.h"

#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/state_codec.h"

#include <algorithm>
#include <cstdlib>

namespace sonde::ingest {
namespace {

// If more releases wait, their allocations were never written, for example dropped by a flight
// recorder. The whole set is stored whenever it changes.
constexpr std::size_t kMostEarly = 1 << 18;

}  // namespace

std::size_t HostMemoryRows::KeyHash::operator()(const Key& key) const noexcept {
  const std::uint64_t mixed = (key.address ^ key.ticks << 20) * 0x9e37'79b9'7f4a'7c15;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

// Does not change the thread's last record: memory is allocated in the middle of other work.
void HostMemoryRows::onAllocation(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Allocation>(at);
  const auto who = allocator(record.header.detail);
  if (!who || *who == model::Allocator::Cuda) {
    ++image_.counts.damaged;
    return;
  }
  model::Allocation row;
  row.processId = image_.process.row.id;
  row.threadId = thread.row.id;
  row.allocator = *who;
  row.address = signedOf(record.address);
  row.bytes = signedOf(record.bytes);
  row.allocNs = image_.advance(thread, record.ticks);
  row.scopeId = thread.track.innermost().scope;
  allocated(record, row);
}

void HostMemoryRows::onRelease(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::Release>(at);
  released(record, image_.advance(thread, record.ticks));
}

void HostMemoryRows::allocated(const wire::Allocation& record, const model::Allocation& row) {
  const Key key{record.address, record.ticks};
  if (const auto early = early_.find(key); early != early_.end()) {
    end(row, early->second);
    early_.erase(early);
    earlyChanged_ = true;
    return;
  }
  open_.insert_or_assign(key, row);
  fresh_.push_back(key);
}

void HostMemoryRows::released(const wire::Release& record, std::int64_t ns) {
  const Key key{record.address, record.sinceTicks};
  if (const auto open = open_.find(key); open != open_.end()) {
    end(open->second, ns);
    open_.erase(open);
  } else if (const auto old = findRestored(record); old != restored_.end()) {
    end(old->second, ns);
    restored_.erase(old);
  } else {
    if (early_.size() >= kMostEarly)
      early_.clear();
    early_.insert_or_assign(key, ns);
    earlyChanged_ = true;
  }
}

void HostMemoryRows::end(model::Allocation row, std::int64_t ns) {
  row.freeNs = std::max(ns, row.allocNs);
  if (row.id)
    image_.sink.update(row);
  else
    image_.sink.add(row);
}

// The trace has times but no ticks, and a time may have been computed with less clock data. So of
// those with one address the nearest is taken. Rows not stored yet are not considered.
HostMemoryRows::Restored::iterator HostMemoryRows::findRestored(const wire::Release& record) {
  constexpr std::int64_t kMostOffNs = 1'000'000;
  const std::int64_t sinceNs = image_.time.toNs(record.sinceTicks);
  const auto [first, last] = restored_.equal_range(record.address);
  auto nearest = restored_.end();
  std::int64_t least = kMostOffNs;
  for (auto at = first; at != last; ++at) {
    const std::int64_t off = std::abs(at->second.allocNs - sinceNs);
    if (off < least) {
      least = off;
      nearest = at;
    }
  }
  return nearest;
}

void HostMemoryRows::save() {
  for (const Key& key : fresh_) {
    const auto open = open_.find(key);
    if (open != open_.end() && !open->second.id)
      open->second.id = image_.sink.add(open->second);
  }
  fresh_.clear();
  if (earlyChanged_)
    saveEarly();
}

void HostMemoryRows::saveEarly() {
  earlyChanged_ = false;
  if (early_.empty()) {
    image_.sink.dropState(image_.spool, kEarlyReleases, 0);
    return;
  }
  std::vector<Early> all;
  all.reserve(early_.size());
  for (const auto& [key, ns] : early_)
    all.push_back({key, ns});
  StatePacker out;
  out.putAll(all);
  image_.sink.setState(image_.spool, kEarlyReleases, 0, std::string_view(out.bytes()));
}

void HostMemoryRows::restoreEarly(std::string_view blob) {
  StateUnpacker in(blob);
  for (const Early& early : in.getAll<Early>())
    early_.emplace(early.key, early.ns);
}

Result<void> HostMemoryRows::restore() {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   image_.sink.writer().database().prepare(
                       "SELECT id, thread_id, allocator, address, bytes, alloc_ns, scope_id FROM "
                       "allocation WHERE process_id = ?1 AND free_ns IS NULL AND allocator <> "
                       "'cuda'"));
  rows.bindAll(image_.process.row.id);
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    model::Allocation open;
    open.id = rows.id<model::AllocationId>(0);
    open.processId = image_.process.row.id;
    open.threadId = rows.id<model::ThreadId>(1);
    open.allocator = rows.text(2) == word(model::Allocator::Torch) ? model::Allocator::Torch
                                                                   : model::Allocator::Malloc;
    open.address = rows.integer(3);
    open.bytes = rows.integer(4);
    open.allocNs = rows.integer(5);
    open.scopeId = rows.id<model::SliceId>(6);
    restored_.emplace(static_cast<std::uint64_t>(open.address), open);
  }
}

}  // namespace sonde::ingest
