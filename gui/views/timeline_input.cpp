// TimelineView's handling of keys, wheel and mouse. The keys are Perfetto's.
#include "gui/views/timeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

constexpr double kKeyZoom = 0.75;      // of the span, per key press
constexpr double kKeyPan = 0.15;       // of the window
constexpr double kWheelZoom = 0.8;     // per notch
constexpr double kNotch = 120.0;       // QWheelEvent's units
constexpr double kFrameMargin = 0.08;  // beside a framed event, of its length
constexpr int kClickSlack = 4;         // pixels that the mouse may move during a click
constexpr int kGrip = 4;               // pixels beside the edge of the label column
constexpr int kMinLabelWidth = 120;
constexpr int kMaxLabelWidth = 600;
constexpr int kSliderSteps = 3;  // of the vertical scroll bar, per notch

}  // namespace

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const auto other =
      event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
  const bool shift = (event->modifiers() & Qt::ShiftModifier) != 0;
  if (other || !handleKey(event->key(), shift))
    QAbstractScrollArea::keyPressEvent(event);
}

bool TimelineView::handleKey(int key, bool shift) {
  const double page = models_.view.viewport().width() * kKeyPan;
  const auto pan = [this](double pixels) { models_.view.change(&Viewport::panPixels, pixels); };
  switch (key) {
    case Qt::Key_W:
      return zoom(kKeyZoom), true;
    case Qt::Key_S:
      return zoom(1 / kKeyZoom), true;
    case Qt::Key_A:
    case Qt::Key_Left:
      return pan(-page), true;
    case Qt::Key_D:
    case Qt::Key_Right:
      return pan(page), true;
    case Qt::Key_F:
      return focusSelection(), true;
    case Qt::Key_0:
    case Qt::Key_Home:
      return models_.view.change(&Viewport::fit), true;
    case Qt::Key_M:
      return markSelection(shift), true;
    case Qt::Key_R:
      return areaFromSelection(), true;
    case Qt::Key_Period:
      return models_.selection.step(1), true;
    case Qt::Key_Comma:
      return models_.selection.step(-1), true;
    case Qt::Key_BracketRight:
      return models_.selection.follow(true), true;
    case Qt::Key_BracketLeft:
      return models_.selection.follow(false), true;
    case Qt::Key_Escape:
      return clearAll(), true;
    default:
      return false;
  }
}

void TimelineView::zoom(double factor) {
  Viewport zoomed = models_.view.viewport();
  const bool inside = mouse_.x() > labelWidth_ && viewport()->underMouse();
  zoomed.zoomAt(inside ? mouse_.x() - labelWidth_ : zoomed.width() / 2.0, factor);
  models_.view.setViewport(zoomed);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const double notches = event->angleDelta().y() / kNotch;
  const double sideways = event->angleDelta().x() / kNotch;
  const double x = event->position().x() - labelWidth_;
  const bool onTime = x >= 0 && event->position().y() < headerHeight();
  Viewport changed = models_.view.viewport();
  if ((event->modifiers() & Qt::ControlModifier) || onTime) {
    changed.zoomAt(std::max(x, 0.0), std::pow(kWheelZoom, notches));
    models_.view.setViewport(changed);
  } else if ((event->modifiers() & Qt::ShiftModifier) || sideways != 0) {
    changed.panPixels(-(notches + sideways) * changed.width() * 0.1);
    models_.view.setViewport(changed);
  } else {
    QScrollBar* bar = verticalScrollBar();
    bar->setValue(bar->value() - static_cast<int>(notches * bar->singleStep() * kSliderSteps));
  }
  updateHover(event->position().toPoint());
  event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  pressedAt_ = event->pos();
  pressedViewport_ = models_.view.viewport();
  pressedScroll_ = verticalScrollBar()->value();
  if (event->button() == Qt::MiddleButton)
    drag_ = Drag::Pan;
  else if (event->button() != Qt::LeftButton)
    return;
  else if (std::abs(event->pos().x() - labelWidth_) <= kGrip)
    drag_ = Drag::LabelWidth;
  else
    drag_ = (event->modifiers() & Qt::ShiftModifier) ? Drag::Pan : Drag::Pressed;
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->pos();
  const QPoint moved = at - pressedAt_;
  if (drag_ == Drag::Pressed && moved.manhattanLength() > kClickSlack &&
      pressedAt_.x() > labelWidth_)
    drag_ = Drag::Area;
  switch (drag_) {
    case Drag::Area:
      selectArea(pressedAt_, at);
      break;
    case Drag::Pan: {
      Viewport panned = pressedViewport_;
      panned.panPixels(-moved.x());
      models_.view.setViewport(panned);
      verticalScrollBar()->setValue(pressedScroll_ - moved.y());
      break;
    }
    case Drag::LabelWidth:
      labelWidth_ = std::clamp(at.x(), kMinLabelWidth, kMaxLabelWidth);
      updateWidth();
      emit labelWidthChanged(labelWidth_);
      break;
    default:
      viewport()->setCursor(std::abs(at.x() - labelWidth_) <= kGrip ? Qt::SplitHCursor
                                                                    : Qt::ArrowCursor);
  }
  updateHover(at);
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = std::exchange(drag_, Drag::None);
  if (was == Drag::Pressed)
    finishClick(event->pos());
  else if (was == Drag::Area && models_.view.area())
    models_.totals.sum(*models_.view.area());
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton)
    return;
  if (const auto target = targetAt(event->pos())) {
    const Block& block = target->block;
    models_.view.change(&Viewport::show,
                        block.startNs,
                        endOf(block, models_.document.skeleton().endNs),
                        kFrameMargin);
  }
}

void TimelineView::selectArea(const QPoint& from, const QPoint& to) {
  const auto timeAt = [&](int x) {
    return models_.view.viewport().timeAt(std::max(x - labelWidth_, 0));
  };
  const auto [left, right] = std::minmax({from.x(), to.x()});
  int top = std::min(from.y(), to.y()) - contentCorner().y();
  int bottom = std::max(from.y(), to.y()) - contentCorner().y() + 1;
  if (from.y() < headerHeight()) {  // started on the ruler: all tracks
    top = 0;
    bottom = models_.timeline.layout().height();
  }
  models_.view.setArea(
      Area{{timeAt(left), timeAt(right)}, models_.timeline.layout().tracksBetween(top, bottom)});
}

void TimelineView::finishClick(const QPoint& at) {
  if (at.y() >= headerHeight()) {
    const LayoutEntry* entry = models_.timeline.layout().at(at.y() - contentCorner().y());
    if (entry != nullptr && entry->type != LayoutEntry::Type::Track) {
      models_.timeline.toggle(*entry);
      return;
    }
  }
  const auto target = targetAt(at);
  if (!target) {
    clearAll();
    return;
  }
  models_.selection.select(refOf(target->block));
}

std::optional<Span> TimelineView::selectedSpan() const {
  if (!models_.selection.details()) {
    const std::optional<Area>& area = models_.view.area();
    return area ? std::optional(area->span) : std::nullopt;
  }
  const Block& block = models_.selection.details()->event.block;
  return Span{block.startNs, endOf(block, models_.document.skeleton().endNs)};
}

void TimelineView::focusSelection() {
  const std::optional<Span> span = selectedSpan();
  const Viewport before = models_.view.viewport();
  if (span)
    models_.view.change(&Viewport::show, span->beginNs, span->endNs, kFrameMargin);
  if (!span || before == models_.view.viewport())
    models_.view.change(&Viewport::fit);
}

void TimelineView::markSelection(bool keep) {
  if (const auto span = selectedSpan()) {
    models_.view.mark(*span, keep);
    return;
  }
  const int x = std::clamp(mouse_.x() - labelWidth_, 0, models_.view.viewport().width());
  const std::int64_t at = models_.view.viewport().timeAt(x);
  models_.view.mark({at, at}, keep);
}

void TimelineView::areaFromSelection() {
  if (!models_.selection.details())
    return;
  const Area area{*selectedSpan(), {models_.selection.details()->event.track}};
  models_.view.setArea(area);
  models_.totals.sum(area);
}

void TimelineView::clearAll() {
  models_.view.setArea({});
  models_.totals.clear();
  models_.selection.clear();
}

}  // namespace sonde::gui
