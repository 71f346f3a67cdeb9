#include "gui/models/span_totals.h"

#include "gui/trace/trace_reader.h"

#include <utility>

namespace sonde::gui {

SpanTotals::SpanTotals(TraceDocument& document) : document_(document) {
  connect(&document_, &TraceDocument::replaced, this, [this] { rows_.clear(); });
}

void SpanTotals::sum(const Area& area) {
  if (!document_.ready())
    return;
  document_.ask(
      TraceDocument::Slot::Span,
      [request = WindowRequest{area.span.beginNs, area.span.endNs, 0, area.tracks}](
          TraceReader& reader, const Cancellation& cancellation) {
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
