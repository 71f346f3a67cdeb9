// Painting of TimelineView: the header, the rows, and the area and the arrows over them.
#include "gui/trace/time_format.h"
#include "gui/views/arrow_painter.h"
#include "gui/views/axis_painter.h"
#include "gui/views/path_painter.h"
#include "gui/views/timeline_view.h"
#include "gui/views/track_painter.h"

#include <QPainter>

#include <algorithm>
#include <optional>
#include <vector>

namespace sonde::gui {
namespace {

constexpr int kMargin = 8;
constexpr int kRuler = TimelineGeometry::kRulerHeight;

// The context that all parts of one frame are painted in.
struct Frame {
  QPainter& painter;
  const TraceModels& models;
  const TimelineGeometry& geometry;
  const AxisContext& axis;

  [[nodiscard]] const Theme& theme() const { return axis.theme; }
  // The rectangle of the label column, and that of the time beside it, from `top`.
  [[nodiscard]] QRect labels(int top, int height) const {
    return {kMargin, top, geometry.labelWidth() - 2 * kMargin, height};
  }
  [[nodiscard]] QRect time(int top, int height) const {
    const int left = geometry.labelWidth();
    return {left, top, geometry.size().width() - left, height};
  }
};

QString messageOf(const TraceDocument& document) {
  switch (document.state()) {
    case TraceDocument::State::Loading:
      return TimelineView::tr("Reading %1 …").arg(document.paths().join(QStringLiteral(", ")));
    case TraceDocument::State::Failed:
      return document.error();
    case TraceDocument::State::Ready:
      return TimelineView::tr("This trace is empty: nothing was recorded.");
    default:
      return TimelineView::tr("Open a trace with Ctrl+O, or drop one here.");
  }
}

void paintArea(const Frame& frame) {
  const std::optional<Area>& area = frame.models.view.area();
  if (!area)
    return;
  const int left = frame.geometry.labelWidth();
  const std::vector<TrackInfo>& tracks = frame.models.document.skeleton().tracks;
  const auto paint = [&](std::span<const LayoutEntry> entries) {
    for (const LayoutEntry& entry : entries) {
      if (entry.track < 0 || !area->covers(tracks.at(static_cast<std::size_t>(entry.track))))
        continue;
      const QRect row = frame.geometry.rowOf(entry).intersected(frame.geometry.areaOf(entry));
      if (!row.isEmpty())
        paintSpan(frame.painter, row.adjusted(left, 0, 0, 0), frame.axis, area->span);
    }
  };
  paint(frame.geometry.visiblePinned());
  paint(frame.geometry.visible());
}

// From the rank that came last, which the others waited for, to each of them.
void addRanks(const Frame& frame,
              const EventDetails& details,
              const QRectF& own,
              std::vector<ArrowEnds>& arrows) {
  const std::optional<EventRef>& last = details.arrows.last;
  const std::vector<FoundEvent>& ranks = details.arrows.ranks;
  const auto at = std::find_if(
      ranks.begin(), ranks.end(), [&](const FoundEvent& part) { return part.ref == last; });
  if (at == ranks.end() && last != details.event.ref)
    return;
  const QRectF from = at == ranks.end() ? own : frame.geometry.anchorOf(*at);
  if (at != ranks.end())
    arrows.push_back({from, own});
  for (auto part = ranks.begin(); part != ranks.end(); ++part)
    if (part != at)
      arrows.push_back({from, frame.geometry.anchorOf(*part)});
}

void paintArrowsOfSelection(const Frame& frame) {
  const auto& details = frame.models.selection.details();
  if (!details)
    return;
  const QRectF own = frame.geometry.anchorOf(details->event);
  std::vector<ArrowEnds> arrows;
  for (const FoundEvent& from : details->arrows.from)
    arrows.push_back({frame.geometry.anchorOf(from), own});
  for (const FoundEvent& to : details->arrows.to)
    arrows.push_back({own, frame.geometry.anchorOf(to)});
  addRanks(frame, *details, own, arrows);
  std::erase_if(arrows,
                [](const ArrowEnds& ends) { return ends.from.isEmpty() || ends.to.isEmpty(); });
  paintArrows(frame.painter, frame.theme(), arrows);
}

void paintTracks(const Frame& frame, const PaintContext& context) {
  QPainter& painter = frame.painter;
  const int top = frame.geometry.headerHeight();
  const QRect time = frame.time(top, frame.geometry.size().height() - top);
  painter.save();
  painter.setClipRect(time.adjusted(-time.left(), 0, 0, 0));
  paintGrid(painter, time, frame.axis);
  // Before the rows: titles of processes cross the line.
  const int edge = time.left() - 1;
  painter.setPen(frame.theme().border);
  painter.drawLine(edge, time.top(), edge, time.bottom());
  TrackPainter rows(painter, frame.models, frame.geometry, context);
  painter.setClipRect(frame.geometry.content());
  for (const LayoutEntry& entry : frame.geometry.visible())
    rows.paint(entry);
  const QRect pinned = frame.geometry.pinnedArea();
  painter.setClipRect(pinned);
  for (const LayoutEntry& entry : frame.geometry.visiblePinned())
    rows.paint(entry);
  painter.fillRect(QRect(pinned.left(), pinned.bottom() - 1, pinned.width(), 2),
                   frame.theme().border);
  painter.setClipRect(time);
  paintArea(frame);
  paintPath(painter, frame.models, frame.geometry, frame.theme());
  paintArrowsOfSelection(frame);
  painter.restore();
}

void paintIterationsOfFirst(const Frame& frame) {
  const Skeleton& skeleton = frame.models.document.skeleton();
  if (skeleton.iterations.empty())
    return;
  constexpr int kHeight = TimelineGeometry::kBandHeight - 1;
  const int process = skeleton.iterations.front().process;
  const auto [first, last] = iterationsOf(skeleton, process);
  const auto& rank = skeleton.processes.at(static_cast<std::size_t>(process)).rank;
  frame.painter.drawText(
      frame.labels(kRuler, kHeight),
      Qt::AlignVCenter,
      rank ? TimelineView::tr("iterations of rank %1").arg(*rank) : TimelineView::tr("iterations"));
  const QRect band = frame.time(kRuler, kHeight);
  frame.painter.save();
  frame.painter.setClipRect(band);
  paintIterations(frame.painter, band, frame.axis, first, last);
  frame.painter.restore();
}

// The ruler and the iterations, and the marks with their lines through the tracks.
void paintHeader(const Frame& frame) {
  QPainter& painter = frame.painter;
  const int width = frame.geometry.size().width();
  const int height = frame.geometry.size().height();
  const ViewState& view = frame.models.view;
  const int bottom = frame.geometry.headerHeight() - 1;
  const QRect ruler = frame.time(0, kRuler);
  painter.fillRect(QRect(0, 0, width, bottom + 1), frame.theme().panel);
  paintRuler(painter, ruler, frame.axis);
  painter.setPen(frame.theme().dimText);
  painter.drawText(frame.labels(0, kRuler),
                   Qt::AlignVCenter,
                   TimelineView::tr("window %1").arg(formatDuration(view.viewport().spanNs())));
  paintIterationsOfFirst(frame);
  painter.setPen(frame.theme().border);
  painter.drawLine(0, bottom, width, bottom);
  painter.drawLine(ruler.left() - 1, 0, ruler.left() - 1, bottom);
  painter.save();
  painter.setClipRect(frame.time(0, height));
  if (view.area())
    paintSpan(painter, ruler, frame.axis, view.area()->span);
  paintMarks(painter, ruler, height, frame.axis, view.marks());
  painter.restore();
}

}  // namespace

void TimelineView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), theme_.background);
  const Skeleton& skeleton = models_.document.skeleton();
  if (!models_.document.ready() || skeleton.processes.empty()) {
    painter.setPen(theme_.dimText);
    painter.drawText(viewport()->rect().adjusted(40, 0, -40, 0),
                     Qt::AlignCenter | Qt::TextWordWrap,
                     messageOf(models_.document));
    return;
  }
  const Viewport& shown = models_.view.viewport();
  PaintContext context{shown,
                       theme_,
                       models_.view.colorBy(),
                       skeleton.endNs,
                       models_.selection.ref(),
                       {},
                       models_.search.text()};
  if (hover_)
    context.hovered = refOf(hover_->block);
  if (mouse_.x() >= labelWidth_)
    context.mouseNs = shown.timeAt(mouse_.x() - labelWidth_);
  const AxisContext axis{shown, theme_, skeleton.originNs, skeleton.endNs};
  const TimelineGeometry geometry = currentGeometry();
  const Frame frame{painter, models_, geometry, axis};
  paintTracks(frame, context);
  if (const auto y = processDrag_.dropY(models_.timeline.layout()))
    painter.fillRect(QRect(0, geometry.corner().y() + *y - 1, viewport()->width(), 3),
                     theme_.arrow);
  paintHeader(frame);
}

}  // namespace sonde::gui
