// The keys and the wheel of every view with a time axis: they zoom, pan, and act on the selection.
// The keys are Perfetto's.
//
// Free functions; each returns false if the input has another meaning. `x` is a pixel of the
// Viewport. Main thread.
#pragma once

#include "gui/models/trace_models.h"

#include <array>
#include <span>

class QWheelEvent;

namespace sonde::gui {

// Shows a span, with a margin.
void frame(ViewState& view, const Span& span);
// Drops the selected event, the area and its totals.
void clearSelection(TraceModels& models);

// A key of views with a time axis.
// The span of the selected event, else the selected area; nullopt: nothing is selected.
[[nodiscard]] std::optional<Span> selectedSpan(const TraceModels& models);

struct TimeKey {
  std::array<int, 2> keys;  // Qt::Key; the second one may be 0
  const char* text;         // what it does, for the help
  void (*act)(TraceModels& models, double x, bool shift);
};
// All of them, in the order of the help.
[[nodiscard]] std::span<const TimeKey> timeKeys();
// Does what the key is for, at `x`.
bool handleTimeKey(TraceModels& models, int key, bool shift, double x);
// Zooms at `x` with Control, and on a time axis; pans with Shift, and if the wheel turns sideways.
bool handleTimeWheel(ViewState& view, const QWheelEvent& event, double x, bool onAxis);
// The notches that the wheel was turned, away from the user.
[[nodiscard]] double notchesOf(const QWheelEvent& event);

}  // namespace sonde::gui
