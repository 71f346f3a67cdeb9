#include "analysis/engine/breakdown/process_tracks.h"

#include "analysis/engine/breakdown/innermost.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;

struct Extent {
  std::int64_t begin = kOpenEnd;
  std::int64_t end = INT64_MIN;

  bool empty() const noexcept { return begin >= end; }
  // What never ended says no more than that it was there.
  void include(std::int64_t from, std::int64_t until) noexcept {
    begin = std::min(begin, from);
    end = std::max(end, until == kOpenEnd ? from : until);
  }
};

Extent extentOf(const HostThread& thread) {
  Extent extent;
  for (const HostSlice& slice : thread.slices)
    extent.include(slice.begin, slice.end);
  return extent;
}

Extent extentOf(const ProcessEvents& process) {
  Extent extent;
  for (const auto& known : {process.startNs, process.endNs})
    if (known)
      extent.include(*known, *known);
  for (const HostThread& thread : process.threads) {
    if (const Extent own = extentOf(thread); own.begin <= own.end)
      extent.include(own.begin, own.end);
  }
  for (const DeviceSpan& span : process.device)
    extent.include(span.begin, span.end);
  for (const IterationSpan& span : process.iterations)
    extent.include(span.begin, span.end);
  return extent;
}

bool isFrameworksOwn(SliceKind kind) noexcept {
  return kind == SliceKind::Forward || kind == SliceKind::Backward ||
         kind == SliceKind::Optimizer || kind == SliceKind::Module;
}

// The slices of a thread as what it did from instant to instant.
class ThreadTrack {
 public:
  ThreadTrack(Scopes& scopes, Labels& labels, const HostThread& thread, Extent within)
      : scopes_(scopes), labels_(labels), thread_(thread), within_(within) {}

  Track run() {
    // Between native code a thread that runs Python runs Python, also outside of all annotations.
    if (thread_.transitions) {
      const Extent extent = extentOf(thread_);
      innermost_.add({extent.begin, extent.end, labels_.of({{}, Category::Python})});
    }
    for (const HostSlice& slice : thread_.slices) {
      const std::int64_t end = slice.end == kOpenEnd ? within_.end : slice.end;
      const auto around = innermost_.at(slice.begin);
      innermost_.add({slice.begin, end, labelOf(slice, around)});
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
  Extent within_;
  Innermost innermost_;
};

void sortByBegin(std::vector<HostSlice>& slices) {
  const auto before = [](const HostSlice& a, const HostSlice& b) {
    return std::tie(a.begin, b.end, a.depth) < std::tie(b.begin, a.end, b.depth);
  };
  if (!std::is_sorted(slices.begin(), slices.end(), before))
    std::stable_sort(slices.begin(), slices.end(), before);
}

void addThread(ProcessEvents& process, HostThread& thread, Extent within, Tracks& into) {
  sortByBegin(thread.slices);
  Track track = ThreadTrack(process.scopes, into.labels, thread, within).run();
  std::exchange(thread.slices, {});
  if (!track.empty())
    into.tracks.push_back(std::move(track));
}

void addAll(std::vector<Span> spans, Tracks& into) {
  for (Track& track : tracksOf(std::move(spans)))
    into.tracks.push_back(std::move(track));
}

void addDevice(ProcessEvents& process, bool atLaunch, Tracks& into) {
  std::vector<Span> spans;
  spans.reserve(process.device.size());
  for (const DeviceSpan& work : process.device) {
    const ScopeNames names = atLaunch ? process.scopes.of(work.scopeId) : ScopeNames{};
    spans.push_back({work.begin, work.end, into.labels.of({names, work.category})});
  }
  std::exchange(process.device, {});
  addAll(std::move(spans), into);
}

// Also where they are not told apart, those that are to be left out.
void addIterations(const ProcessEvents& process, bool all, Extent within, Tracks& into) {
  std::vector<Span> spans;
  for (const IterationSpan& span : process.iterations) {
    if (!all && !span.masked)
      continue;
    const Category category = span.masked ? Category::Masked : Category::Window;
    spans.push_back(
        {std::max(span.begin, within.begin),
         std::min(span.end, within.end),
         into.labels.of({{}, category, all ? span.number : Activity::kNoIteration})});
  }
  addAll(std::move(spans), into);
}

// That the time passes, whatever else is.
void addWindow(Extent extent, Tracks& into) {
  addAll({{extent.begin, extent.end, into.labels.of({{}, Category::Window})}}, into);
}

}  // namespace

Tracks tracksOfProcess(ProcessEvents& process, TrackOptions options) {
  Tracks tracks;
  const Extent extent = extentOf(process);
  if (extent.empty())
    return tracks;
  addWindow(extent, tracks);
  for (HostThread& thread : process.threads)
    addThread(process, thread, extent, tracks);
  addDevice(process, options.atLaunch, tracks);
  addIterations(process, options.iterations, extent, tracks);
  return tracks;
}

Tracks tracksOfThread(ProcessEvents& process, HostThread& thread, TrackOptions options) {
  Tracks tracks;
  const Extent extent = extentOf(thread);
  if (extent.empty())
    return tracks;
  addWindow(extent, tracks);
  addThread(process, thread, extent, tracks);
  addIterations(process, options.iterations, extent, tracks);
  return tracks;
}

}  // namespace sonde::engine::breakdown
