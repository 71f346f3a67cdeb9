// ImageBuilder's records with begin and end: scopes and ranges.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"

#include <algorithm>
#include <utility>

namespace sonde::ingest {
namespace {

// Sonde's library never has more than kMaxOpenScopes open; past this bound a file is damaged.
constexpr std::size_t kMaxDepth = 4 * std::size_t{wire::kMaxOpenScopes};
constexpr std::size_t kMaxEarlyEnds = 1 << 16;

}  // namespace

void ImageBuilder::beginScope(Thread& thread, const wire::OpenScope& begun, model::SliceKind kind) {
  const std::int64_t startNs = advance(thread, begun.beginTicks);
  if (thread.track.open().size() >= kMaxDepth) {
    ++counts_.damaged;
    return;
  }
  TrackScope scope;
  scope.token = begun.token;
  scope.slice = newSlice(thread, kind, begun.probe, begun.name, startNs);
  if (begun.probe == wire::Probe::Plugin)
    scope.slice.category = plugins_.category(begun.reserved[wire::OpenScope::kPluginAt]);
  putAt(scope.slice, thread.track.innermost());
  scope.slice.id = sink_.reserveSliceId();
  beginInsideIteration(thread, kind);
  if (kind == model::SliceKind::Iteration)
    beginIteration(thread, scope.slice);
  remember(thread, model::Owner::Slice, scope.slice.id.value);
  thread.track.push(scope);
}

void ImageBuilder::onScopeBegin(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ScopeBegin>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  wire::OpenScope begun{};
  begun.beginTicks = record.ticks;
  begun.name = record.header.subject;
  begun.token = record.token;
  begun.probe = record.probe;
  begun.reserved[wire::OpenScope::kPluginAt] = record.plugin;
  beginScope(thread, begun, *kind);
}

void ImageBuilder::storeScope(Thread& thread, const TrackScope& scope) {
  sink_.add(scope.slice);
  if (scope.stored)
    sink_.dropOpenScope(spool_, thread.row.id, scope.token);
  if (scope.slice.kind == model::SliceKind::Iteration)
    endIteration(scope.slice);
}

bool ImageBuilder::endScope(Thread& thread, std::uint32_t token, std::int64_t endNs) {
  const auto ended = thread.track.close(token, endNs);
  if (!ended)
    return false;
  storeScope(thread, *ended);
  thread.track.finished(ended->slice);
  remember(thread, model::Owner::Slice, ended->slice.id.value);
  return true;
}

// It is placed like a scope that lasts until `untilNs`, so that no other crosses it.
void ImageBuilder::loseEnd(Thread& thread, std::uint32_t token, std::int64_t untilNs) {
  auto lost = thread.track.close(token, untilNs);
  if (!lost)
    return;
  thread.track.finished(lost->slice);
  addArg(model::Owner::Slice,
         lost->slice.id.value,
         sink_.intern(model::kAtMostKey),
         *std::exchange(lost->slice.durNs, std::nullopt));
  storeScope(thread, *lost);
}

void ImageBuilder::onScopeEnd(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::ScopeEnd>(at);
  const std::uint32_t token = record.header.subject;
  const TrackScope* const scope = thread.track.find(token);
  const model::SliceId slice = scope != nullptr ? scope->slice.id : model::SliceId{};
  const auto behind =
      // walkRecords() has checked the size
      std::span(at, record.header.size).subspan(sizeof record);
  if ((record.header.detail & wire::ScopeEnd::kOutline) != 0)
    maskIteration(slice, 0);
  const bool tellsProbes = (record.header.detail & wire::ScopeEnd::kProbes) != 0;
  if (tellsProbes)
    takeProbes(slice, behind);
  if (!endScope(thread, token, advance(thread, record.ticks)))
    ++counts_.unbalanced;
  else if (tellsProbes)
    addProbeCalls(thread, slice, behind);
}

void ImageBuilder::onRangeBegin(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::RangeBegin>(at);
  const auto kind = sliceKind(record.header.detail);
  if (!kind) {
    ++counts_.damaged;
    return;
  }
  if (const auto open = ranges_.find(record.rangeId); open != ranges_.end()) {
    ++counts_.unbalanced;
    endRange(open->second, std::nullopt);
    ranges_.erase(record.rangeId);
  }
  OpenRange range;
  range.token = nextRangeToken_--;
  range.thread = thread.index;
  const std::int64_t startNs = advance(thread, record.ticks);
  range.slice = newSlice(thread, *kind, record.probe, record.header.subject, startNs);
  putAt(range.slice, thread.track.placeRange(startNs));
  range.slice.id = sink_.reserveSliceId();
  remember(thread, model::Owner::Slice, range.slice.id.value);
  if (const auto early = earlyEnds_.find(record.rangeId); early != earlyEnds_.end()) {
    endRange(range, early->second);
    earlyEnds_.erase(early);
    return;
  }
  ranges_.emplace(record.rangeId, range);
}

void ImageBuilder::endRange(OpenRange range, std::optional<std::int64_t> endNs) {
  if (endNs)
    range.slice.durNs = std::max<std::int64_t>(*endNs - range.slice.startNs, 0);
  sink_.add(range.slice);
  if (range.stored)
    sink_.dropOpenScope(spool_, range.slice.threadId, range.token);
  if (!endNs)
    return;
  Thread& thread = threadOf(range.thread);
  thread.track.freeLane(range.slice.lane, std::max(*endNs, range.slice.startNs));
  thread.changed = true;
}

void ImageBuilder::onRangeEnd(Thread& thread, const std::byte* at) {
  const auto record = loadRecord<wire::RangeEnd>(at);
  const std::int64_t endNs = advance(thread, record.ticks);
  const auto open = ranges_.find(record.rangeId);
  if (open == ranges_.end()) {
    if (earlyEnds_.size() < kMaxEarlyEnds)
      earlyEnds_[record.rangeId] = endNs;
    else
      ++counts_.unbalanced;
    remember(thread, model::Owner::Slice, 0);
    return;
  }
  endRange(open->second, endNs);
  remember(thread, model::Owner::Slice, open->second.slice.id.value);
  ranges_.erase(open);
}

}  // namespace sonde::ingest
