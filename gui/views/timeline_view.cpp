#include "gui/views/timeline_view.h"

#include <QEvent>
#include <QResizeEvent>
#include <QScrollBar>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr double kSpeck = 4.0;  // pixels; a jump zooms to an event narrower than this

}  // namespace

TimelineView::TimelineView(TimelineModel& model, ViewState& state, QWidget* parent)
    : QAbstractScrollArea(parent), model_(model), state_(state), theme_(palette()) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Timeline"));
  verticalScrollBar()->setSingleStep(TrackLayout::kRowHeight * 2);
  connect(&model_, &TimelineModel::layoutChanged, this, [this] {
    updateScrollBar();
    request();
    viewport()->update();
  });
  connect(&model_, &TimelineModel::opened, this, &TimelineView::showStart);
  connect(&model_, &TimelineModel::blocksChanged, this, [this] {
    updateHover(mouse_);
    viewport()->update();
  });
  connect(&model_, &TimelineModel::selectionChanged, viewport(), [this] { viewport()->update(); });
  connect(&model_, &TimelineModel::detailsChanged, viewport(), [this] { viewport()->update(); });
  connect(&model_,
          &TimelineModel::scopeRead,
          this,
          [this](const EventRef& event, const QString& scope) {
            if (!hover_ || refOf(hover_->block) != event)
              return;
            hoverScope_ = scope;
            showToolTip();
          });
  connect(&state_, &ViewState::changed, this, [this] {
    request();
    viewport()->update();
  });
}

void TimelineView::setColorBy(ColorBy colorBy) {
  colorBy_ = colorBy;
  viewport()->update();
}

int TimelineView::headerHeight() const {
  return kRulerHeight + (model_.skeleton().iterations.empty() ? 0 : kBandHeight);
}

QPoint TimelineView::contentCorner() const {
  return {labelWidth_, headerHeight() - verticalScrollBar()->value()};
}

QRectF TimelineView::rectOf(int track, const Block& block) const {
  const LayoutEntry* entry = model_.layout().find(track);
  if (entry == nullptr)
    return {};
  const PaintContext context{
      state_.viewport(), theme_, colorBy_, model_.skeleton().endNs, {}, {}, {}};
  return SlicePainter::rectOf(
      block, context, contentCorner() + QPointF(0, entry->y + TrackLayout::kTrackPadding));
}

std::pair<std::size_t, std::size_t> TimelineView::visibleEntries(int margin) const {
  const int top = verticalScrollBar()->value();
  const int height = viewport()->height() - headerHeight();
  return model_.layout().between(top - margin, top + height + margin);
}

void TimelineView::updateScrollBar() {
  const int page = std::max(viewport()->height() - headerHeight(), 1);
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setRange(0, std::max(model_.layout().height() - page, 0));
}

void TimelineView::updateWidth() {
  Viewport changed = state_.viewport();
  changed.setWidth(viewport()->width() - labelWidth_);
  state_.setViewport(changed);
}

void TimelineView::request() {
  const int screen = viewport()->height();
  std::vector<int> tracks;
  const auto collect = [&](int margin) {
    tracks.clear();
    const auto [first, last] = visibleEntries(margin);
    for (std::size_t at = first; at < last; ++at)
      if (model_.layout().entries()[at].track >= 0)
        tracks.push_back(model_.layout().entries()[at].track);
  };
  collect(0);
  if (model_.covers(state_.viewport(), tracks))
    return;
  collect(screen / 2);  // so that blocks are ready when the user scrolls
  model_.show(state_.viewport(), tracks);
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
  const Skeleton& skeleton = model_.skeleton();
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
  areaTracks_.clear();
  hover_.reset();
  state_.reset(start);
  updateScrollBar();
  verticalScrollBar()->setValue(0);
}

void TimelineView::fit() {
  Viewport whole = state_.viewport();
  whole.fit();
  state_.setViewport(whole);
}

void TimelineView::scrollToTrack(int track) {
  if (model_.layout().find(track) == nullptr)
    model_.reveal(track);
  const LayoutEntry* entry = model_.layout().find(track);
  if (entry == nullptr)
    return;
  const int top = verticalScrollBar()->value();
  const int page = viewport()->height() - headerHeight();
  if (entry->y < top || entry->y + entry->height > top + page)
    verticalScrollBar()->setValue(entry->y - page / 3);
}

void TimelineView::bringIntoView(const FoundEvent& event) {
  scrollToTrack(event.track);
  Viewport moved = state_.viewport();
  const std::int64_t dur = std::max<std::int64_t>(event.block.durNs, 0);
  const std::int64_t begin = event.block.startNs;
  const double width = static_cast<double>(dur) / moved.nsPerPixel();
  const bool inside = begin >= moved.beginNs() && begin + dur <= moved.endNs();
  if (width < kSpeck || width > moved.width())
    moved.show(begin, begin + dur, 3.0);
  else if (!inside)
    moved.panNs(begin + dur / 2 - (moved.beginNs() + moved.spanNs() / 2));
  state_.setViewport(moved);
}

}  // namespace sonde::gui
