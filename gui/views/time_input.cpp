#include "gui/views/time_input.h"

#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <optional>

namespace sonde::gui {

std::optional<Span> selectedSpan(const TraceModels& models) {
  if (const auto& details = models.selection.details()) {
    const Block& block = details->event.block;
    return Span{block.startNs, endOf(block, models.document.skeleton().endNs)};
  }
  const std::optional<Area>& area = models.view.area();
  return area ? std::optional(area->span) : std::nullopt;
}

namespace {

constexpr double kKeyZoom = 0.75;      // of the span, per key press
constexpr double kKeyPan = 0.15;       // of the window
constexpr double kWheelZoom = 0.8;     // per notch
constexpr double kWheelPan = 0.1;      // of the window, per notch
constexpr double kNotch = 120.0;       // QWheelEvent's units
constexpr double kFrameMargin = 0.08;  // of a framed span

void focusSelection(TraceModels& models) {
  const std::optional<Span> span = selectedSpan(models);
  const Viewport before = models.view.viewport();
  if (span)
    frame(models.view, *span);
  if (!span || before == models.view.viewport())
    models.view.change(&Viewport::fit);
}

void markSelection(TraceModels& models, bool keep, double x) {
  const std::int64_t at = models.view.viewport().timeAt(x);
  models.view.mark(selectedSpan(models).value_or(Span{at, at}), keep);
}

void areaFromSelection(TraceModels& models) {
  const auto& details = models.selection.details();
  if (!details)
    return;
  const auto track = static_cast<std::size_t>(details->event.track);
  models.view.setArea(
      Area{*selectedSpan(models), {idOf(models.document.skeleton().tracks.at(track))}});
}

void zoom(TraceModels& models, double x, double factor) {
  models.view.change(&Viewport::zoomAt, x, factor);
}

// `share`: of the window, to the right.
void pan(TraceModels& models, double share) {
  models.view.change(&Viewport::panPixels, share * models.view.viewport().width());
}

constexpr TimeKey kTimeKeys[] = {
    {{Qt::Key_W, 0},
     "zoom in at the mouse",
     [](TraceModels& models, double x, bool) { zoom(models, x, kKeyZoom); }},
    {{Qt::Key_S, 0},
     "zoom out at the mouse",
     [](TraceModels& models, double x, bool) { zoom(models, x, 1 / kKeyZoom); }},
    {{Qt::Key_A, Qt::Key_Left},
     "earlier",
     [](TraceModels& models, double, bool) { pan(models, -kKeyPan); }},
    {{Qt::Key_D, Qt::Key_Right},
     "later",
     [](TraceModels& models, double, bool) { pan(models, kKeyPan); }},
    {{Qt::Key_0, Qt::Key_Home},
     "the whole trace",
     [](TraceModels& models, double, bool) { models.view.change(&Viewport::fit); }},
    {{Qt::Key_F, 0},
     "zoom to the selection; again: to the whole trace",
     [](TraceModels& models, double, bool) { focusSelection(models); }},
    {{Qt::Key_Period, 0},
     "next event of the row",
     [](TraceModels& models, double, bool) { models.selection.step(1); }},
    {{Qt::Key_Comma, 0},
     "previous event of the row",
     [](TraceModels& models, double, bool) { models.selection.step(-1); }},
    {{Qt::Key_BracketRight, 0},
     "along an arrow: to what the call launched; to the next rank",
     [](TraceModels& models, double, bool) { models.selection.follow(true); }},
    {{Qt::Key_BracketLeft, 0},
     "along an arrow: to the call; to the previous rank",
     [](TraceModels& models, double, bool) { models.selection.follow(false); }},
    {{Qt::Key_M, 0},
     "mark the selection or the mouse; with Shift: keep the mark",
     [](TraceModels& models, double x, bool shift) { markSelection(models, shift, x); }},
    {{Qt::Key_R, 0},
     "make the selected event the selected span",
     [](TraceModels& models, double, bool) { areaFromSelection(models); }},
    {{Qt::Key_Escape, 0},
     "clear the selection",
     [](TraceModels& models, double, bool) { clearSelection(models); }},
};

}  // namespace

void frame(ViewState& view, const Span& span) {
  view.change(&Viewport::show, span.beginNs, span.endNs, kFrameMargin);
}

void clearSelection(TraceModels& models) {
  models.view.setArea({});
  models.selection.clear();
}

std::span<const TimeKey> timeKeys() {
  return kTimeKeys;
}

bool handleTimeKey(TraceModels& models, int key, bool shift, double x) {
  for (const TimeKey& each : kTimeKeys)
    if (each.keys[0] == key || (each.keys[1] != 0 && each.keys[1] == key)) {
      each.act(models, x, shift);
      return true;
    }
  return false;
}

double notchesOf(const QWheelEvent& event) {
  return event.angleDelta().y() / kNotch;
}

bool handleTimeWheel(ViewState& view, const QWheelEvent& event, double x, bool onAxis) {
  const double notches = notchesOf(event);
  const double sideways = event.angleDelta().x() / kNotch;
  if ((event.modifiers() & Qt::ControlModifier) || onAxis)
    return view.change(&Viewport::zoomAt, x, std::pow(kWheelZoom, notches)), true;
  if (!(event.modifiers() & Qt::ShiftModifier) && sideways == 0)
    return false;
  view.change(&Viewport::panPixels, -(notches + sideways) * view.viewport().width() * kWheelPan);
  return true;
}

}  // namespace sonde::gui
