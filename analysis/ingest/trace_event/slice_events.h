// The host slices, iterations and arrows of a Trace Event Format import. Owned by the importer, on
// its thread; memory grows with the number of iterations.
#pragma once

#include "analysis/ingest/import/imported_places.h"
#include "analysis/ingest/trace_event/open_events.h"
#include "analysis/ingest/trace_event/trace_event_context.h"
#include "base/result.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::ingest {

class SliceEvents {
 public:
  // Intermediate data goes to files in `scratch`. Requires: `context` outlives it.
  SliceEvents(TraceEventContext& context, const std::filesystem::path& scratch);

  // A slice with begin and duration in one event.
  Result<void> add(const TraceEvent& event, std::int64_t durNs);
  Result<void> begin(const TraceEvent& event);
  Result<void> end(const TraceEvent& event) { return open_.end(event); }
  Result<void> instant(const TraceEvent& event);
  // An end of an arrow.
  Result<void> flow(const TraceEvent& event);

  // After all events: pairs begins with ends.
  Result<void> pairOpen();
  // Stores the iterations inside `window`. Requires: the places are stored.
  Result<void> finishIterations(const TimeWindow& window);

 private:
  Result<OpenEvent> beginSlice(const TraceEvent& event, model::SliceKind kind);
  Result<void> endSlice(OpenEvent open, model::OptionalInt durNs, std::string_view args);

  TraceEventContext& context_;
  OpenEvents open_;
  std::vector<std::pair<ImportedPlaces::Track, model::Iteration>> iterations_;
};

}  // namespace sonde::ingest
