// The arrows of the selected event in TimelineView.
#include "gui/views/arrow_painter.h"
#include "gui/views/timeline_view.h"

#include <vector>

namespace sonde::gui {

QRectF TimelineView::anchorOf(const FoundEvent& event) const {
  const QRectF shown = rectOf(event.track, event.block);
  if (!shown.isEmpty())
    return shown;
  const TrackInfo& track =
      models_.document.skeleton().tracks.at(static_cast<std::size_t>(event.track));
  const LayoutEntry* entry = models_.timeline.layout().findFolded(track);
  if (entry == nullptr)
    return {};
  // At its place in time, on the line of its folded group.
  const QPoint corner = contentCorner();
  return {corner.x() + models_.view.viewport().xAt(event.block.startNs),
          double(corner.y() + entry->y),
          1.0,
          double(entry->height)};
}

void TimelineView::paintArrows(QPainter& painter) {
  if (!models_.selection.details())
    return;
  const EventDetails& details = *models_.selection.details();
  const QRectF own = anchorOf(details.event);
  std::vector<ArrowEnds> arrows;
  for (const FoundEvent& from : details.arrows.from)
    arrows.push_back({anchorOf(from), own});
  for (const FoundEvent& to : details.arrows.to)
    arrows.push_back({own, anchorOf(to)});
  std::erase_if(arrows,
                [](const ArrowEnds& ends) { return ends.from.isEmpty() || ends.to.isEmpty(); });
  gui::paintArrows(painter, theme_, arrows);
}

}  // namespace sonde::gui
