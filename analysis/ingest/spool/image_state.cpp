// ImageBuilder's state in the trace's recorder tables: stores and restores it.
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/device_launches.h"
#include "analysis/ingest/spool/image_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::ingest {
namespace {

struct PackedThread {
  std::uint32_t index;
  std::uint32_t name;
  std::int64_t row;
  std::int64_t tid;
  std::int64_t startNs;
  std::int64_t endNs;
  std::int64_t lastId;
  std::int64_t lastNs;
  model::Owner lastOwner;
  bool hasStart;
  bool hasEnd;
};

// The slice of an open scope, from its row in the table of open scopes.
model::Slice readOpenSlice(const store::Statement& row, std::string_view category) {
  model::Slice slice;
  slice.threadId = row.id<model::ThreadId>(0);
  slice.id = row.id<model::SliceId>(2);
  slice.kind = model::sliceKindOf(row.text(3)).value_or(model::SliceKind::Operation);
  slice.category = category;
  slice.nameId = row.id<model::StringId>(5);
  slice.startNs = row.integer(6);
  slice.parentId = row.id<model::SliceId>(7);
  slice.depth = row.integer(8);
  slice.lane = row.integer(9);
  slice.scopeId = row.id<model::SliceId>(10);
  slice.scopeHow = slice.scopeId ? model::ScopeHow::Own : model::ScopeHow::None;
  return slice;
}

}  // namespace

void ImageBuilder::save() {
  collectives_.save();
  hostMemory_.save();
  for (auto& [index, thread] : threads_)
    if (thread->changed)
      saveThread(*thread);
  dropEndedThreads();
  for (auto& [id, range] : ranges_) {
    if (!range.stored)
      sink_.add(model::OpenScope{spool_, range.token, range.slice});
    range.stored = true;
  }
  StatePacker out;
  out.put(counts_);
  out.put(nextRangeToken_);
  out.put(nextIteration_);
  out.put(tellsProbes_);
  out.put(notFollowed_);
  out.put(lastNs_);
  out.put(seenNs_);
  out.putAll(iterations_);
  out.putAll(pastIterations_);
  out.put<std::uint64_t>(ranges_.size());
  for (const auto& [id, range] : ranges_) {
    out.put(id);
    out.put(range.token);
    out.put(range.thread);
  }
  out.put<std::uint64_t>(earlyEnds_.size());
  for (const auto& [id, endNs] : earlyEnds_) {
    out.put(id);
    out.put(endNs);
  }
  sink_.setState(spool_, "builder", 0, std::string_view(out.bytes()));
}

void ImageBuilder::saveThread(Thread& thread) {
  for (TrackScope& scope : thread.track.open()) {
    if (scope.changed)
      sink_.add(model::OpenScope{spool_, scope.token, scope.slice});
    scope.changed = false;
    scope.stored = true;
  }
  if (thread.name != 0)
    thread.row.name = dictionary_.text(thread.name);
  sink_.update(thread.row);
  PackedThread packed{};
  packed.index = thread.index;
  packed.name = thread.name;
  packed.row = thread.row.id.value;
  packed.tid = thread.row.tid;
  packed.startNs = thread.row.startNs.value_or(0);
  packed.hasStart = thread.row.startNs.has_value();
  packed.endNs = thread.row.endNs.value_or(0);
  packed.hasEnd = thread.row.endNs.has_value();
  packed.lastId = thread.lastId;
  packed.lastNs = thread.lastNs;
  packed.lastOwner = thread.lastOwner;
  StatePacker out;
  out.put(packed);
  out.putAll(thread.track.lanes());
  sink_.setState(spool_, "thread", thread.index, std::string_view(out.bytes()));
  thread.changed = false;
}

std::unique_ptr<ImageBuilder::Thread> ImageBuilder::unpackThread(std::string_view blob) const {
  StateUnpacker in(blob);
  const auto packed = in.get<PackedThread>();
  auto thread = std::make_unique<Thread>();
  thread->index = packed.index;
  thread->name = packed.name;
  thread->row.id = {packed.row};
  thread->row.processId = process_.row.id;
  thread->row.tid = packed.tid;
  if (packed.hasStart)
    thread->row.startNs = packed.startNs;
  if (packed.hasEnd)
    thread->row.endNs = packed.endNs;
  thread->lastId = packed.lastId;
  thread->lastNs = packed.lastNs;
  thread->lastOwner = packed.lastOwner;
  thread->track.lanes() = in.getAll<std::int64_t>();
  thread->changed = false;
  return thread;
}

// A process may start and end any number of threads.
void ImageBuilder::dropEndedThreads() {
  std::erase_if(threads_, [](const auto& entry) {
    const Thread& thread = *entry.second;
    return thread.row.endNs && thread.track.open().empty() && !thread.changed;
  });
}

void ImageBuilder::unpack(std::string_view blob) {
  StateUnpacker in(blob);
  counts_ = in.get<ImageCounts>();
  nextRangeToken_ = in.get<std::int64_t>();
  nextIteration_ = in.get<std::int64_t>();
  tellsProbes_ = in.get<bool>();
  notFollowed_ = in.get<std::uint64_t>();
  lastNs_ = in.get<std::int64_t>();
  seenNs_ = in.get<std::int64_t>();
  iterations_ = in.getAll<ThreadIteration>();
  pastIterations_ = in.getAll<ThreadIteration>();
  const auto ranges = in.get<std::uint64_t>();
  for (std::uint64_t at = 0; at < ranges && in.ok(); ++at) {
    const auto id = in.get<std::uint64_t>();
    OpenRange range;
    range.token = in.get<std::int64_t>();
    range.thread = in.get<std::uint32_t>();
    range.stored = true;
    ranges_[id] = range;
  }
  const auto early = in.get<std::uint64_t>();
  for (std::uint64_t at = 0; at < early && in.ok(); ++at) {
    const auto id = in.get<std::uint64_t>();
    earlyEnds_[id] = in.get<std::int64_t>();
  }
}

Result<void> ImageBuilder::restoreMaps(std::string& blob) {
  SONDE_TRY_ASSIGN(store::Statement states,
                   sink_.writer().database().prepare(
                       "SELECT kind, key, value FROM ingest_state WHERE spool = ?1 "
                       "ORDER BY kind, key"));  // the process, its threads, "tid"
  states.bindAll(std::string_view(spool_));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, states.step());
    if (!more)
      return {};
    const std::string_view kind = states.text(0);
    const auto key = static_cast<std::uint32_t>(states.integer(1));
    if (kind == "channel")
      channels_[key] = states.id<model::ChannelId>(2);
    else if (kind == "communicator")
      communicators_[key] = states.id<model::CommunicatorId>(2);
    else if (kind == CollectiveRows::kState)
      collectives_.restore(states.text(2));
    else if (kind == CollectiveRows::kLostState)
      collectives_.restoreLost({states.integer(1)});
    else if (kind == CollectiveRows::kLostPartsState)
      collectives_.restoreLostParts(static_cast<std::uint64_t>(states.integer(2)));
    else if (kind == "device")
      devices_.restoreDevice(key, states.id<model::DeviceId>(2));
    else if (kind == "stream")
      devices_.restoreStream(key, states.id<model::StreamId>(2));
    else if (kind == MemoryRows::kPoolSize || kind == MemoryRows::kPoolUsed)
      memory_.restorePool(kind, states.integer(1), states.id<model::CounterId>(2));
    else if (kind == PluginRows::kCounter)
      plugins_.restoreCounter(key, states.id<model::CounterId>(2));
    else if (kind == PluginRows::kKnown)
      plugins_.restoreKnown(key);
    else if (kind == HostMemoryRows::kEarlyReleases)
      hostMemory_.restoreEarly(states.text(2));
    else if (kind == kExternalIds)
      nextExternal_ = states.integer(1) + 1;
    else if (kind == "tid")
      restoreCalledThread(states.integer(1), states.id<model::ThreadId>(2));
    else if (kind == "process")
      process_.row.id = states.id<model::ProcessId>(2);
    else if (kind == "builder")
      blob = states.text(2);
    else if (kind == "thread")
      noteTid(*(threads_[key] = unpackThread(states.text(2))));
  }
}

// A thread with that kernel id and more than calls took over the row.
void ImageBuilder::restoreCalledThread(std::int64_t tid, model::ThreadId row) {
  std::vector<ThreadOfTid>& same = threadsByTid_[tid];
  if (same.empty())
    same.push_back({0, row, true});
}

Result<void> ImageBuilder::restoreOpenScopes() {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   sink_.writer().database().prepare(
                       "SELECT thread_id, token, slice_id, kind, category, name_id, start_ns, "
                       "parent_id, depth, lane, scope_id FROM open_scope WHERE spool = ?1 "
                       "ORDER BY slice_id"));
  rows.bindAll(std::string_view(spool_));
  std::unordered_map<std::int64_t, Thread*> byRow;
  for (auto& [index, thread] : threads_)
    byRow.emplace(thread->row.id.value, thread.get());
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    const model::Slice slice = readOpenSlice(rows, plugins_.keepCategory(rows.text(4)));
    const std::int64_t token = rows.integer(1);
    for (auto& [id, range] : ranges_)
      if (range.token == token)
        range.slice = slice;
    const auto thread = byRow.find(slice.threadId.value);
    if (token > 0 && thread != byRow.end())
      thread->second->track.push({static_cast<std::uint32_t>(token), slice, true, false});
  }
}

Result<void> ImageBuilder::restoreProcess() {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   sink_.writer().database().prepare(
                       fmt::format("SELECT {} FROM process WHERE id = ?1", kProcessColumns)));
  SONDE_TRY_ASSIGN(const bool found, rows.bindAll(process_.row.id).step());
  if (!found)
    return Error{ErrorCode::Corrupt,
                 fmt::format("the row of the process of {} is missing", spool_)};
  readProcess(rows, process_);
  return {};
}

Result<bool> ImageBuilder::restore() {
  std::string blob;
  SONDE_TRY(restoreMaps(blob));
  if (blob.empty())
    return false;
  SONDE_TRY(restoreProcess());
  unpack(blob);
  SONDE_TRY(restoreOpenScopes());
  SONDE_TRY(memory_.restoreAllocations());
  SONDE_TRY(hostMemory_.restore());
  SONDE_TRY(stacks_.restore());
  dropEndedThreads();
  return true;
}

}  // namespace sonde::ingest
