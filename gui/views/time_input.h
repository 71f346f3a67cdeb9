// The keys and the wheel of every view with a time axis: they zoom, pan, and act on the selection.
// The keys are Perfetto's.
//
// Free functions; each returns false if the input has another meaning. `x` is a pixel of the
// Viewport. Main thread.
#pragma once

#include "gui/models/trace_models.h"

class QWheelEvent;

namespace sonde::gui {

// Shows a span, with a margin.
void frame(ViewState& view, const Span& span);
// Drops the selected event, the area and its totals.
void clearSelection(TraceModels& models);

// W and S zoom at `x`; A, D and the arrows pan; 0 and Home show all.
bool handleTimeKey(ViewState& view, int key, double x);
// F frames the selection, or else shows all; M marks it, or else the time at `x`, and keeps the
// mark with Shift. R selects the event's area; full stop and comma step, brackets follow arrows;
// Escape clears.
bool handleSelectionKey(TraceModels& models, int key, bool shift, double x);
// Zooms at `x` with Control, and on a time axis; pans with Shift, and if the wheel turns sideways.
bool handleTimeWheel(ViewState& view, const QWheelEvent& event, double x, bool onAxis);
// The notches that the wheel was turned, away from the user.
[[nodiscard]] double notchesOf(const QWheelEvent& event);

}  // namespace sonde::gui
