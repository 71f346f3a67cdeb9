#include "analysis/ingest/spool/scope_rows.h"

#include "analysis/ingest/rows/record_walk.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

// Sonde's library never has more than kMaxOpenScopes open; past this bound a file is damaged.
constexpr std::size_t kMaxDepth = 4 * std::size_t{wire::kMaxOpenScopes};
constexpr std::size_t kMaxEarlyEnds = 1 << 16;

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

void ScopeRows::begin(ImageThread& thread, const wire::OpenScope& begun, model::SliceKind kind) {
  const std::int64_t startNs = image_.advance(thread, begun.beginTicks);
  if (thread.track.open().size() >= kMaxDepth) {
    ++image_.counts.damaged;
    return;
  }
  TrackScope scope;
  scope.token = begun.token;
  scope.slice = image_.newSlice(thread, kind, begun.probe, begun.name, startNs);
  if (begun.probe == wire::Probe::Plugin)
    scope.slice.category = plugins_.category(begun.group);
  putAt(scope.slice, thread.track.innermost());
  scope.slice.id = image_.sink.reserveSliceId();
  iterations_.beginInside(thread, kind);
  if (kind == model::SliceKind::Iteration)
    iterations_.begin(thread, scope.slice);
  thread.remember(model::Owner::Slice, scope.slice.id.value);
  thread.track.push(scope);
}

void ScopeRows::onScopeBegin(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ScopeBegin>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++image_.counts.damaged;
    return;
  }
  wire::OpenScope begun{};
  begun.beginTicks = record.ticks;
  begun.name = record.header.subject;
  begun.token = record.token;
  begun.probe = record.probe;
  begun.group = record.plugin;
  begin(thread, begun, *kind);
}

void ScopeRows::store(const ImageThread& thread, const TrackScope& scope) {
  image_.sink.add(scope.slice);
  if (scope.stored)
    image_.sink.dropOpenScope(image_.spool, thread.row.id, scope.token);
  if (scope.slice.kind == model::SliceKind::Iteration)
    iterations_.end(scope.slice);
}

bool ScopeRows::end(ImageThread& thread, std::uint32_t token, std::int64_t endNs) {
  const auto ended = thread.track.close(token, endNs);
  if (!ended)
    return false;
  store(thread, *ended);
  thread.track.finished(ended->slice);
  thread.remember(model::Owner::Slice, ended->slice.id.value);
  return true;
}

// It is placed like a scope that lasts until `untilNs`, so that no other crosses it.
void ScopeRows::loseEnd(ImageThread& thread, std::uint32_t token, std::int64_t untilNs) {
  auto lost = thread.track.close(token, untilNs);
  if (!lost)
    return;
  thread.track.finished(lost->slice);
  image_.addArg(model::Owner::Slice,
                lost->slice.id.value,
                image_.sink.intern(model::kAtMostKey),
                *std::exchange(lost->slice.durNs, std::nullopt));
  store(thread, *lost);
}

void ScopeRows::endAll(ImageThread& thread, std::int64_t endNs) {
  while (!thread.track.open().empty())
    end(thread, thread.track.open().back().token, endNs);
}

void ScopeRows::onScopeEnd(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ScopeEnd>(at);
  const std::uint32_t token = record.header.subject;
  const TrackScope* const scope = thread.track.find(token);
  const model::SliceId slice = scope != nullptr ? scope->slice.id : model::SliceId{};
  const auto behind =
      // walkRecords() has checked the size
      std::span(at, record.header.size).subspan(sizeof record);
  if ((record.header.detail & wire::ScopeEnd::kOutline) != 0)
    iterations_.setMask(slice, 0);
  const bool reportsProbes = (record.header.detail & wire::ScopeEnd::kProbes) != 0;
  if (reportsProbes)
    iterations_.takeProbes(slice, behind);
  if (!end(thread, token, image_.advance(thread, record.ticks)))
    ++image_.counts.unbalanced;
  else if (reportsProbes)
    iterations_.addProbeCalls(thread, slice, behind);
}

// `scopes`: the open scopes according to the thread. If they differ from ours, records were lost. A
// begin that we missed is restored from the slot's prefix. A scope whose end we missed ended
// before, unless its end is the record for which the slot was claimed.
void ScopeRows::openSlot(ImageThread& thread,
                         std::span<const wire::OpenScope> scopes,
                         std::uint64_t claimTicks,
                         std::span<const std::byte> records) {
  std::uint32_t endsNext = 0;
  if (records.size() >= sizeof(wire::ScopeEnd)) {
    const auto first = loadRecord<wire::ScopeEnd>(records.data());
    if (first.header.kind == wire::RecordKind::ScopeEnd)
      endsNext = first.header.subject;
  }
  const auto isOpen = [&](std::uint32_t token) {
    return token == endsNext ||
           std::any_of(scopes.begin(), scopes.end(), [&](const wire::OpenScope& scope) {
             return scope.token == token;
           });
  };
  std::vector<std::uint32_t> over;
  for (const TrackScope& scope : thread.track.open())
    if (!isOpen(scope.token))
      over.push_back(scope.token);
  if (!over.empty()) {
    const std::int64_t untilNs = image_.advance(thread, claimTicks);
    for (auto token = over.rbegin(); token != over.rend(); ++token)
      loseEnd(thread, *token, untilNs);
  }
  for (const wire::OpenScope& scope : scopes) {
    const auto kind = sliceKind(static_cast<std::uint8_t>(scope.kind));
    if (!kind || thread.track.find(scope.token) != nullptr)
      continue;
    begin(thread, scope, *kind);
    if (kind == model::SliceKind::Iteration && thread.track.find(scope.token) != nullptr)
      iterations_.takeNumberBack();
  }
}

void ScopeRows::onRangeBegin(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::RangeBegin>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++image_.counts.damaged;
    return;
  }
  if (const auto open = ranges_.find(record.rangeId); open != ranges_.end()) {
    ++image_.counts.unbalanced;
    endRange(open->second, std::nullopt);
    ranges_.erase(record.rangeId);
  }
  OpenRange range;
  range.token = nextToken_--;
  range.thread = thread.index;
  const std::int64_t startNs = image_.advance(thread, record.ticks);
  range.slice = image_.newSlice(thread, *kind, record.probe, record.header.subject, startNs);
  putAt(range.slice, thread.track.placeRange(startNs));
  range.slice.id = image_.sink.reserveSliceId();
  thread.remember(model::Owner::Slice, range.slice.id.value);
  if (const auto early = earlyEnds_.find(record.rangeId); early != earlyEnds_.end()) {
    endRange(range, early->second);
    earlyEnds_.erase(early);
    return;
  }
  ranges_.emplace(record.rangeId, range);
}

void ScopeRows::endRange(OpenRange range, std::optional<std::int64_t> endNs) {
  if (endNs)
    range.slice.durNs = std::max<std::int64_t>(*endNs - range.slice.startNs, 0);
  image_.sink.add(range.slice);
  if (range.stored)
    image_.sink.dropOpenScope(image_.spool, range.slice.threadId, range.token);
  if (!endNs)
    return;
  ImageThread& thread = threads_.threadOf(range.thread);
  thread.track.freeLane(range.slice.lane, std::max(*endNs, range.slice.startNs));
  thread.changed = true;
}

void ScopeRows::onRangeEnd(ImageThread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::RangeEnd>(at);
  const std::int64_t endNs = image_.advance(thread, record.ticks);
  const auto open = ranges_.find(record.rangeId);
  if (open == ranges_.end()) {
    if (earlyEnds_.size() < kMaxEarlyEnds)
      earlyEnds_[record.rangeId] = endNs;
    else
      ++image_.counts.unbalanced;
    thread.remember(model::Owner::Slice, 0);
    return;
  }
  endRange(open->second, endNs);
  thread.remember(model::Owner::Slice, open->second.slice.id.value);
  ranges_.erase(open);
}

void ScopeRows::finish() {
  for (const auto& [index, thread] : threads_.recent()) {
    std::vector<TrackScope>& open = thread->track.open();
    for (; !open.empty(); open.pop_back())
      store(*thread, open.back());
    thread->changed = true;
  }
  for (const auto& [id, range] : ranges_)
    endRange(range, std::nullopt);
  ranges_.clear();
  image_.counts.unbalanced += earlyEnds_.size();
  earlyEnds_.clear();
}

void ScopeRows::save() {
  for (auto& [id, range] : ranges_) {
    if (!range.stored)
      image_.sink.add(model::OpenScope{image_.spool, range.token, range.slice});
    range.stored = true;
  }
}

void ScopeRows::pack(StatePacker& out) const {
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
}

void ScopeRows::unpack(std::int64_t nextToken, StateUnpacker& in) {
  nextToken_ = nextToken;
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

Result<void> ScopeRows::restore() {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   image_.sink.writer().database().prepare(
                       "SELECT thread_id, token, slice_id, kind, category, name_id, start_ns, "
                       "parent_id, depth, lane, scope_id FROM open_scope WHERE spool = ?1 "
                       "ORDER BY slice_id"));
  rows.bindAll(std::string_view(image_.spool));
  std::unordered_map<std::int64_t, ImageThread*> byRow;
  for (const auto& [index, thread] : threads_.recent())
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

}  // namespace sonde::ingest
