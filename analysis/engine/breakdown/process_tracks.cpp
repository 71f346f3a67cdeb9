#include "analysis/engine/breakdown/process_tracks.h"

#include "analysis/engine/breakdown/innermost.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;

using correction::CorrectedTimes;
using correction::Timeline;

// The times of one thread's or stream's events, corrected or as recorded.
class LaneTimes {
 public:
  explicit LaneTimes(const Timeline* times) {
    if (times != nullptr) {
      begins_.emplace(*times);
      ends_.emplace(*times);
    }
  }

  template <typename Item>
  Extent of(const Item& item) {
    if (!begins_)
      return {item.begin, item.end};
    return {(*begins_)(item.begin), item.end == kOpenEnd ? kOpenEnd : (*ends_)(item.end)};
  }

 private:
  std::optional<Timeline::Cursor> begins_;
  std::optional<Timeline::Cursor> ends_;
};

const Timeline* timesOfThread(const CorrectedTimes* times, std::int64_t id) {
  return times == nullptr ? nullptr : &times->timesOfThread(id);
}
const Timeline* timesOfProcess(const CorrectedTimes* times, std::int64_t id) {
  return times == nullptr ? nullptr : &times->timesOfProcess(id);
}
const Timeline* timesOf(const DeviceLane& lane, const CorrectedTimes* times) {
  if (lane.isStream)
    return times == nullptr ? nullptr : &times->timesOfStream(lane.id);
  return timesOfThread(times, lane.id);
}

// Correction keeps the order, so the ends of an extent are the corrected ends of its events.
void include(Extent own, const Timeline* times, Extent& into) {
  if (own.begin > own.end)
    return;
  const Extent corrected = LaneTimes(times).of(own);
  into.include(corrected.begin, corrected.end);
}

Extent clipped(Extent time, Extent within) {
  return {std::max(time.begin, within.begin), std::min(time.end, within.end)};
}

// `part`: of the process, as recorded. Unset: all of it.
Extent clippedTo(const std::optional<Extent>& part,
                 const ProcessEvents& process,
                 const CorrectedTimes* times,
                 Extent time) {
  return part ? clipped(time, LaneTimes(timesOfProcess(times, process.id)).of(*part)) : time;
}

// The whole process. For a trimmed trace: the kept part, and what devices did for it later.
Extent extentOf(const ProcessEvents& process, const CorrectedTimes* times) {
  const Timeline* const ofProcess = timesOfProcess(times, process.id);
  Extent extent;
  if (process.kept) {
    include(*process.kept, ofProcess, extent);
    for (const DeviceLane& lane : process.device)
      if (lane.isStream)
        include(lane.extent, timesOf(lane, times), extent);
    return extent;
  }
  for (const auto& known : {process.startNs, process.endNs})
    if (known)
      include({*known, *known}, ofProcess, extent);
  for (const HostThread& thread : process.threads)
    include(thread.extent, timesOfThread(times, thread.id), extent);
  for (const DeviceLane& lane : process.device)
    include(lane.extent, timesOf(lane, times), extent);
  Extent iterations;
  for (const IterationSpan& span : process.iterations)
    iterations.include(span.begin, span.end);
  include(iterations, ofProcess, extent);
  return extent;
}

bool isFrameworksOwn(SliceKind kind) noexcept {
  return kind == SliceKind::Forward || kind == SliceKind::Backward ||
         kind == SliceKind::Optimizer || kind == SliceKind::Module;
}

// Turns a thread's slices into what it did at each instant.
class ThreadTrack {
 public:
  ThreadTrack(Scopes& scopes,
              Labels& labels,
              const HostThread& thread,
              const Timeline* times,
              Extent within)
      : scopes_(scopes), labels_(labels), thread_(thread), times_(times), within_(within) {}

  Track run() {
    // Outside of native code such a thread runs Python, also outside of all annotations.
    if (thread_.transitions) {
      const Extent extent = clipped(LaneTimes(times_).of(thread_.extent), within_);
      innermost_.add({extent.begin, extent.end, labels_.of({{}, Category::Python})});
    }
    LaneTimes times(times_);
    for (const HostSlice& slice : thread_.slices) {
      const Extent time = clipped(times.of(slice), within_);
      const auto around = innermost_.at(time.begin);
      innermost_.add({time.begin, time.end, labelOf(slice, around)});
    }
    return innermost_.finish();
  }

 private:
  Label labelOf(const HostSlice& slice, std::optional<Label> around) {
    const ScopeNames names = scopes_.of(slice.scopeId);
    Category category = slice.category;
    if (thread_.transitions && isFrameworksOwn(slice.kind))
      category = Category::Scope;
    if (category == Category::Wait && !scopes_.isInScope(slice.scopeId))
      category = Category::Parked;
    if (category == Category::Scope)
      category = thread_.transitions ? Category::Python
                 : around            ? labels_[*around].category
                                     : Category::Scope;
    return labels_.of({names, category});
  }

  Scopes& scopes_;
  Labels& labels_;
  const HostThread& thread_;
  const Timeline* times_;
  Extent within_;
  Innermost innermost_;
};

void addThread(ProcessEvents& process,
               HostThread& thread,
               const TrackOptions& options,
               Extent within,
               Tracks& into) {
  const Timeline* const times = timesOfThread(options.times, thread.id);
  Track track = ThreadTrack(process.scopes, into.labels, thread, times, within).run();
  if (options.isLast)
    std::exchange(thread.slices, {});
  if (!track.empty())
    into.tracks.push_back(std::move(track));
}

void addAll(std::vector<Span> spans, Tracks& into) {
  for (Track& track : tracksOf(std::move(spans)))
    into.tracks.push_back(std::move(track));
}

void addDevice(ProcessEvents& process, const TrackOptions& options, Extent within, Tracks& into) {
  for (DeviceLane& lane : process.device) {
    LaneTimes times(timesOf(lane, options.times));
    std::vector<Span> spans;
    spans.reserve(lane.spans.size());
    for (const DeviceSpan& work : lane.spans) {
      const ScopeNames names = options.atLaunch ? process.scopes.of(work.scopeId) : ScopeNames{};
      const Extent time = clipped(times.of(work), within);
      spans.push_back({time.begin, time.end, into.labels.of({names, work.category})});
    }
    if (options.isLast)
      std::exchange(lane.spans, {});
    addAll(std::move(spans), into);
  }
}

// Masked iterations are added even if rows do not distinguish iterations.
void addIterations(const ProcessEvents& process,
                   const TrackOptions& options,
                   Extent within,
                   Tracks& into) {
  std::vector<Span> spans;
  const auto add = [&](const IterationSpan& span, LaneTimes& times) {
    if (options.iterations == nullptr && !span.masked)
      return;
    const Category category = span.masked ? Category::Masked : Category::Window;
    const Extent time = times.of(span);
    spans.push_back({std::max(time.begin, within.begin),
                     std::min(time.end, within.end),
                     into.labels.of({{},
                                     category,
                                     options.iterations != nullptr ? span.*options.iterations
                                                                   : Activity::kNoIteration})});
  };
  LaneTimes own(timesOfProcess(options.times, process.id));
  for (const IterationSpan& span : process.iterations)
    add(span, own);
  LaneTimes inherited(timesOfProcess(options.times, process.inheritedFrom));
  for (const IterationSpan& span : process.inherited)
    add(span, inherited);
  addAll(std::move(spans), into);
}

// Marks that time passes, whatever else is active.
void addWindow(Extent extent, Tracks& into) {
  addAll({{extent.begin, extent.end, into.labels.of({{}, Category::Window})}}, into);
}

}  // namespace

Tracks tracksOfProcess(ProcessEvents& process, TrackOptions options) {
  Tracks tracks;
  const Extent extent =
      clippedTo(process.within, process, options.times, extentOf(process, options.times));
  if (extent.empty())
    return tracks;
  addWindow(extent, tracks);
  for (HostThread& thread : process.threads)
    addThread(process, thread, options, extent, tracks);
  addDevice(process, options, extent, tracks);
  addIterations(process, options, extent, tracks);
  return tracks;
}

Tracks tracksOfThread(ProcessEvents& process, HostThread& thread, TrackOptions options) {
  Tracks tracks;
  Extent extent;
  include(thread.extent, timesOfThread(options.times, thread.id), extent);
  for (const auto& part : {process.kept, process.within})
    extent = clippedTo(part, process, options.times, extent);
  if (extent.empty())
    return tracks;
  addWindow(extent, tracks);
  addThread(process, thread, options, extent, tracks);
  addIterations(process, options, extent, tracks);
  return tracks;
}

}  // namespace sonde::engine::breakdown
