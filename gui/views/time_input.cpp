#include "gui/views/time_input.h"

#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <optional>

namespace sonde::gui {
namespace {

constexpr double kKeyZoom = 0.75;      // of the span, per key press
constexpr double kKeyPan = 0.15;       // of the window
constexpr double kWheelZoom = 0.8;     // per notch
constexpr double kWheelPan = 0.1;      // of the window, per notch
constexpr double kNotch = 120.0;       // QWheelEvent's units
constexpr double kFrameMargin = 0.08;  // of a framed span

std::optional<Span> selectedSpan(const TraceModels& models) {
  if (const auto& details = models.selection.details()) {
    const Block& block = details->event.block;
    return Span{block.startNs, endOf(block, models.document.skeleton().endNs)};
  }
  const std::optional<Area>& area = models.view.area();
  return area ? std::optional(area->span) : std::nullopt;
}

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
  const Area area{*selectedSpan(models), {details->event.track}};
  models.view.setArea(area);
  models.totals.sum(area);
}

}  // namespace

void frame(ViewState& view, const Span& span) {
  view.change(&Viewport::show, span.beginNs, span.endNs, kFrameMargin);
}

void clearSelection(TraceModels& models) {
  models.view.setArea({});
  models.totals.clear();
  models.selection.clear();
}

bool handleTimeKey(ViewState& view, int key, double x) {
  const double page = view.viewport().width() * kKeyPan;
  switch (key) {
    case Qt::Key_W:
      return view.change(&Viewport::zoomAt, x, kKeyZoom), true;
    case Qt::Key_S:
      return view.change(&Viewport::zoomAt, x, 1 / kKeyZoom), true;
    case Qt::Key_A:
    case Qt::Key_Left:
      return view.change(&Viewport::panPixels, -page), true;
    case Qt::Key_D:
    case Qt::Key_Right:
      return view.change(&Viewport::panPixels, page), true;
    case Qt::Key_0:
    case Qt::Key_Home:
      return view.change(&Viewport::fit), true;
    default:
      return false;
  }
}

bool handleSelectionKey(TraceModels& models, int key, bool shift, double x) {
  switch (key) {
    case Qt::Key_F:
      return focusSelection(models), true;
    case Qt::Key_M:
      return markSelection(models, shift, x), true;
    case Qt::Key_R:
      return areaFromSelection(models), true;
    case Qt::Key_Period:
      return models.selection.step(1), true;
    case Qt::Key_Comma:
      return models.selection.step(-1), true;
    case Qt::Key_BracketRight:
      return models.selection.follow(true), true;
    case Qt::Key_BracketLeft:
      return models.selection.follow(false), true;
    case Qt::Key_Escape:
      return clearSelection(models), true;
    default:
      return false;
  }
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
