#include "analysis/engine/breakdown/operation_spans.h"

#include "analysis/engine/breakdown/process_events.h"
#include "analysis/engine/breakdown/process_tracks.h"

#include <limits>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

// Parked, Window and Masked mean that a thread works for no operation.
bool isDoing(Category category) noexcept {
  return category < Category::Parked;
}

void addSpans(const Tracks& tracks, std::vector<Span>& into) {
  for (const Track& track : tracks.tracks)
    for (std::size_t at = 0; at < track.size(); ++at) {
      const Span span = track[at];
      const Activity& activity = tracks.labels[span.label];
      if (isDoing(activity.category))
        into.push_back({span.begin, span.end, activity.scope.operation});
    }
}

}  // namespace

std::optional<model::SliceKind> ProcessOperations::kindOf(std::uint32_t operation) const {
  const auto found = scopes_.kinds().find(operation);
  return found == scopes_.kinds().end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t ProcessOperations::operationOf(std::int64_t scopeId) {
  if (scopeId <= 0 || scopeId > std::numeric_limits<std::uint32_t>::max())
    return 0;
  return scopes_.of(static_cast<std::uint32_t>(scopeId)).operation;
}

Result<std::vector<ProcessOperations>> readOperationSpans(const store::Database& trace) {
  SONDE_TRY_ASSIGN(TraceEvents events, readEvents(trace, ScopeDimensions{}));
  std::vector<ProcessOperations> processes;
  for (ProcessEvents& process : events.processes) {
    std::vector<Span> spans;
    for (HostThread& thread : process.threads)
      addSpans(tracksOfThread(process, thread, {}), spans);
    processes.emplace_back(process.id, std::move(spans), std::move(process.scopes));
  }
  return processes;
}

}  // namespace sonde::engine::breakdown
