// TimelineView's handling of keys, wheel and mouse.
#include "gui/views/time_input.h"
#include "gui/views/timeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

constexpr int kClickSlack = 4;  // pixels that the mouse may move during a click
constexpr int kGrip = 4;        // pixels beside the edge of the label column
constexpr int kMinLabelWidth = 120;
constexpr int kMaxLabelWidth = 600;
constexpr int kSliderSteps = 3;  // of the vertical scroll bar, per notch

}  // namespace

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const auto other =
      event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
  const bool shift = (event->modifiers() & Qt::ShiftModifier) != 0;
  const int width = models_.view.viewport().width();
  const int x = mouse_.x() - labelWidth_;
  const double anchor = x > 0 && viewport()->underMouse() ? x : width / 2.0;
  if (other || !handleTimeKey(models_, event->key(), shift, anchor))
    QAbstractScrollArea::keyPressEvent(event);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const double x = event->position().x() - labelWidth_;
  const bool onAxis = x >= 0 && event->position().y() < currentGeometry().headerHeight();
  if (!handleTimeWheel(models_.view, *event, std::max(x, 0.0), onAxis)) {
    QScrollBar* bar = verticalScrollBar();
    const int step = static_cast<int>(notchesOf(*event) * bar->singleStep() * kSliderSteps);
    const TimelineGeometry place = currentGeometry();
    const int more = models_.timeline.layout().pinnedHeight() - place.pinnedArea().height();
    if (more > 0 && place.pinnedArea().contains(event->position().toPoint())) {
      pinnedScroll_ = std::clamp(pinnedScroll_ - step, 0, more);
      scrollContentsBy(0, 0);
    } else {
      bar->setValue(bar->value() - step);
    }
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
  else if (drag_ == Drag::Pressed && std::abs(moved.y()) > kClickSlack &&
           pressedAt_.x() < labelWidth_ &&
           processDrag_.begin(currentGeometry().entryAt(pressedAt_)))
    drag_ = Drag::Process;
  switch (drag_) {
    case Drag::Process:
      processDrag_.moveOver(currentGeometry().entryAt(at), models_.timeline.layout());
      viewport()->update();
      break;
    case Drag::Area:
      models_.view.dragArea(currentGeometry().areaBetween(pressedAt_, at));
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
  else if (was == Drag::Area)
    models_.view.setArea(models_.view.area());
  else if (was == Drag::Process)
    processDrag_.finish(models_);
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton)
    return;
  // The first click may have opened the details, so that another event is under the mouse.
  if (clicked_) {
    const Block& block = clicked_->block;
    frame(models_.view, {block.startNs, endOf(block, models_.document.skeleton().endNs)});
  }
}

void TimelineView::finishClick(const QPoint& at) {
  clicked_ = currentGeometry().targetAt(at);
  const LayoutEntry* entry = currentGeometry().entryAt(at);
  if (entry != nullptr && entry->type != LayoutEntry::Type::Track)
    models_.timeline.toggle(*entry);
  else if (clicked_)
    models_.selection.select(refOf(clicked_->block));
  else
    clearSelection(models_);
}

}  // namespace sonde::gui
