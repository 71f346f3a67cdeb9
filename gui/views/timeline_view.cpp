#include "gui/views/timeline_view.h"

#include "gui/views/hover_text.h"

#include <QHelpEvent>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr double kSpeck = 4.0;  // pixels; a jump zooms to an event narrower than this

}  // namespace

TimelineView::TimelineView(TraceModels& models, QWidget* parent)
    : QAbstractScrollArea(parent), models_(models), theme_(palette()) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Timeline"));
  verticalScrollBar()->setSingleStep(TrackLayout::kRowHeight * 2);
  connectModels();
}

void TimelineView::connectModels() {
  const auto repaint = [this] { viewport()->update(); };
  const auto showLayout = [this] {
    updateScrollBar();
    request();
    viewport()->update();
  };
  connect(&models_.document, &TraceDocument::replaced, this, showLayout);
  connect(&models_.document, &TraceDocument::opened, this, &TimelineView::showStart);
  connect(&models_.timeline, &TimelineModel::layoutChanged, this, showLayout);
  connect(&models_.timeline, &TimelineModel::blocksChanged, this, [this] {
    updateHover(mouse_);
    viewport()->update();
  });
  connect(&models_.times, &TimeBasis::correctionChanged, this, &TimelineView::request);
  connect(&models_.selection, &Selection::changed, this, repaint);
  connect(&models_.selection, &Selection::detailsChanged, this, repaint);
  connect(&models_.search, &NameSearch::textChanged, this, repaint);
  connect(&models_.timeline,
          &TimelineModel::scopeRead,
          this,
          [this](const EventRef& event, const QString& scope) {
            if (!hover_ || refOf(hover_->block) != event)
              return;
            hoverScope_ = scope;
            showToolTip();
          });
  connect(&models_.path, &PathOverlay::changed, viewport(), qOverload<>(&QWidget::update));
  connect(&models_.view, &ViewState::colorsChanged, viewport(), qOverload<>(&QWidget::update));
  connect(&models_.view, &ViewState::changed, this, [this] {
    request();
    viewport()->update();
  });
}

TimelineGeometry TimelineView::currentGeometry() const {
  return {models_, viewport()->size(), labelWidth_, {pinnedScroll_, verticalScrollBar()->value()}};
}

std::optional<LayoutEntry> TimelineView::currentLine() const {
  const LayoutEntry* line =
      viewport()->rect().contains(mouse_) ? currentGeometry().entryAt(mouse_) : nullptr;
  if (line == nullptr && models_.selection.details())
    line = models_.timeline.layout().find(models_.selection.details()->event.track);
  return line == nullptr ? std::nullopt : std::optional(*line);
}

void TimelineView::updateScrollBar() {
  const TimelineGeometry place = currentGeometry();
  const int page = std::max(place.content().height(), 1);
  pinnedScroll_ = std::clamp(
      pinnedScroll_, 0, models_.timeline.layout().pinnedHeight() - place.pinnedArea().height());
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setRange(0, std::max(models_.timeline.layout().height() - page, 0));
}

void TimelineView::updateWidth() {
  models_.view.change(&Viewport::setWidth, viewport()->width() - labelWidth_);
}

void TimelineView::request() {
  const TimelineGeometry place = currentGeometry();
  const Viewport& shown = models_.view.viewport();
  if (models_.timeline.covers(shown, place.visibleTracks(0)))
    return;
  // Half a screen more, so that blocks are ready when the user scrolls.
  models_.timeline.show(shown, place.visibleTracks(viewport()->height() / 2));
}

void TimelineView::resizeEvent(QResizeEvent* /*event*/) {
  updateWidth();
  updateScrollBar();
  request();
}

void TimelineView::scrollContentsBy(int /*dx*/, int /*dy*/) {
  request();
  viewport()->update();
}

void TimelineView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange)
    theme_ = Theme(palette());
  QAbstractScrollArea::changeEvent(event);
}

void TimelineView::showStart() {
  const Skeleton& skeleton = models_.document.skeleton();
  Viewport start;
  start.setBounds(skeleton.beginNs, skeleton.endNs);
  start.setWidth(viewport()->width() - labelWidth_);
  if (!skeleton.iterations.empty()) {
    std::int64_t first = skeleton.endNs;
    std::int64_t last = skeleton.beginNs;
    for (const IterationInfo& iteration : skeleton.iterations) {
      first = std::min(first, iteration.startNs);
      last = std::max(last, iteration.startNs + std::max<std::int64_t>(iteration.durNs, 0));
    }
    start.show(first, last, 0.02);
  }
  hover_.reset();
  clicked_.reset();
  if (models_.document.isContinued()) {
    models_.view.extend(start);
    updateScrollBar();
    return;
  }
  models_.view.reset(start);
  updateScrollBar();
  verticalScrollBar()->setValue(0);
}

void TimelineView::scrollToTrack(int track) {
  if (models_.timeline.layout().find(track) == nullptr)
    models_.timeline.reveal(track);
  const LayoutEntry* entry = models_.timeline.layout().find(track);
  if (entry == nullptr || entry->isPinned)
    return;
  const int top = verticalScrollBar()->value();
  const int page = currentGeometry().content().height();
  if (entry->y < top || entry->y + entry->height > top + page)
    verticalScrollBar()->setValue(entry->y - page / 3);
}

void TimelineView::bringIntoView(const FoundEvent& event) {
  scrollToTrack(event.track);
  Viewport moved = models_.view.viewport();
  const std::int64_t dur = std::max<std::int64_t>(event.block.durNs, 0);
  const std::int64_t begin = event.block.startNs;
  const double width = static_cast<double>(dur) / moved.nsPerPixel();
  const bool inside = begin >= moved.beginNs() && begin + dur <= moved.endNs();
  if (width < kSpeck || width > moved.width())
    moved.show(begin, begin + dur, 3.0);
  else if (!inside)
    moved.panNs(begin + dur / 2 - (moved.beginNs() + moved.spanNs() / 2));
  models_.view.setViewport(moved);
}

void TimelineView::updateHover(const QPoint& at) {
  mouse_ = at;
  const auto target = currentGeometry().targetAt(at);
  const auto keyOf = [](const std::optional<Target>& t) {
    return t ? std::pair(t->track, t->block.id) : std::pair(-1, std::int64_t{-1});
  };
  if (keyOf(target) != keyOf(hover_)) {
    hoverScope_.clear();
    QToolTip::hideText();
    viewport()->update();
  }
  hover_ = target;
  const bool onTime = mouse_.x() >= labelWidth_ && models_.document.ready();
  QString status = onTime ? statusText(models_, mouse_.x() - labelWidth_, hover_) : QString();
  const TimelineGeometry place = currentGeometry();
  if (const int counter = onTime ? place.counterAt(at) : -1; counter >= 0)
    status += QStringLiteral("   ") +
              counterStatus(models_, counter, models_.view.viewport().timeAt(at.x() - labelWidth_));
  emit hovered(status);
  // The labels of counters have their values at the mouse.
  if (place.showsCounters())
    viewport()->update();
}

void TimelineView::showToolTip() {
  const TimelineGeometry place = currentGeometry();
  const LayoutEntry* entry = place.entryAt(mouse_);
  QString text;
  if (hover_)
    text = blockToolTip(models_, *hover_, hoverScope_);
  else if (entry != nullptr && entry->type == LayoutEntry::Type::Process)
    text = processToolTip(models_, entry->process);
  else if (const int counter = place.counterAt(mouse_); counter >= 0)
    text =
        counterToolTip(models_, counter, models_.view.viewport().timeAt(mouse_.x() - labelWidth_));
  if (!text.isEmpty())
    QToolTip::showText(viewport()->mapToGlobal(mouse_), text, viewport());
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    mouse_ = QPoint(-1, -1);
    hover_.reset();
    emit hovered({});
    viewport()->update();
  }
  if (event->type() != QEvent::ToolTip)
    return QAbstractScrollArea::viewportEvent(event);
  updateHover(static_cast<QHelpEvent*>(event)->pos());
  showToolTip();
  if (hover_ && hover_->block.count == 1)
    models_.timeline.askScope(refOf(hover_->block));
  return true;
}

}  // namespace sonde::gui
