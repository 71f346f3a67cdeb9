#include "gui/models/span_totals.h"

#include "gui/trace/trace_reader.h"

#include <utility>
#include <vector>

namespace sonde::gui {

SpanTotals::SpanTotals(TraceDocument& document, const ViewState& view, TimeBasis& times)
    : document_(document), view_(view), times_(times) {
  connect(&document_, &TraceDocument::replaced, this, [this] { rows_.clear(); });
  connect(&view_, &ViewState::areaChanged, this, &SpanTotals::follow);
  connect(&times_, &TimeBasis::correctionChanged, this, &SpanTotals::follow);
}

void SpanTotals::follow() {
  const std::optional<Area>& area = view_.area();
  if (!area || !document_.ready())
    return clear();
  const std::vector<TrackInfo>& tracks = document_.skeleton().tracks;
  WindowRequest request{area->span.beginNs, area->span.endNs, 0, {}, times_.correction()};
  for (std::size_t at = 0; at < tracks.size(); ++at)
    if (area->covers(tracks[at]))
      request.tracks.push_back(static_cast<int>(at));
  rows_.clear();
  spanNs_ = area->span.durNs();
  document_.ask(
      TraceDocument::Slot::Span,
      [request = std::move(request)](TraceReader& reader, const Cancellation& cancellation) {
        return reader.span(request, cancellation);
      },
      [this](std::vector<SpanRow> rows) {
        rows_ = std::move(rows);
        emit changed();
      },
      TraceDocument::OnError::Ignore);
}

void SpanTotals::clear() {
  document_.cancel(TraceDocument::Slot::Span);
  rows_.clear();
  emit changed();
}

}  // namespace sonde::gui
