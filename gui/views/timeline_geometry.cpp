#include "gui/views/timeline_geometry.h"

#include "gui/views/slice_painter.h"

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr double kMostPinned = 0.6;  // of the height below the header
constexpr int kHitSlack = 2;         // pixels beside a narrow slice that still select it

}  // namespace

int TimelineGeometry::headerHeight() const {
  return kRulerHeight + (models_.document.skeleton().iterations.empty() ? 0 : kBandHeight);
}

QRect TimelineGeometry::pinnedArea() const {
  const int most = static_cast<int>(kMostPinned * (size_.height() - headerHeight()));
  const int height = std::clamp(layout().pinnedHeight(), 0, std::max(most, 0));
  return {0, headerHeight(), size_.width(), height};
}

QRect TimelineGeometry::content() const {
  const int top = headerHeight() + pinnedArea().height();
  return {0, top, size_.width(), size_.height() - top};
}

QRect TimelineGeometry::areaOf(const LayoutEntry& entry) const {
  return entry.isPinned ? pinnedArea() : content();
}

QPoint TimelineGeometry::corner() const {
  return {labelWidth_, content().top() - scroll_.rest};
}

QRect TimelineGeometry::rowOf(const LayoutEntry& entry) const {
  const int top = entry.isPinned ? headerHeight() - scroll_.pinned : corner().y();
  return {0, top + entry.y, size_.width(), entry.height};
}

QRectF TimelineGeometry::rectOf(int track, const Block& block) const {
  const LayoutEntry* entry = layout().find(track);
  if (entry == nullptr)
    return {};
  return SlicePainter::rectOf(block,
                              models_.view.viewport(),
                              models_.document.skeleton().endNs,
                              QPointF(labelWidth_, rowOf(*entry).y() + TrackLayout::kTrackPadding));
}

QRectF TimelineGeometry::anchorOf(const FoundEvent& event) const {
  const LayoutEntry* entry = layout().find(event.track);
  QRectF anchor = rectOf(event.track, event.block);
  if (entry == nullptr) {
    entry = layout().findFolded(event.track);
    if (entry == nullptr)
      return {};
    const QRect row = rowOf(*entry);
    const double x = corner().x() + models_.view.viewport().xAt(event.block.startNs);
    anchor = {x, double(row.y()), 1.0, double(row.height())};
  }
  const double top = areaOf(*entry).top();
  if (!layout().pinned().empty() && anchor.bottom() < top)
    anchor = {anchor.x(), top, anchor.width(), 1.0};
  return anchor;
}

std::span<const LayoutEntry> TimelineGeometry::visible() const {
  return layout().between(scroll_.rest, scroll_.rest + content().height());
}

std::span<const LayoutEntry> TimelineGeometry::visiblePinned() const {
  return layout().pinnedBetween(scroll_.pinned, scroll_.pinned + pinnedArea().height());
}

std::vector<int> TimelineGeometry::tracksOf(std::span<const LayoutEntry> pinned,
                                            int top,
                                            int bottom) const {
  std::vector<int> tracks = layout().tracksBetween(top, bottom);
  for (const LayoutEntry& entry : pinned)
    tracks.push_back(entry.track);
  return tracks;
}

std::vector<int> TimelineGeometry::visibleTracks(int margin) const {
  return tracksOf(
      visiblePinned(), scroll_.rest - margin, scroll_.rest + content().height() + margin);
}

const LayoutEntry* TimelineGeometry::entryAt(const QPoint& at) const {
  if (at.y() < headerHeight())
    return nullptr;
  return pinnedArea().bottom() >= at.y()
             ? layout().pinnedAt(at.y() - headerHeight() + scroll_.pinned)
             : layout().at(at.y() - corner().y());
}

std::optional<Target> TimelineGeometry::targetAt(const QPoint& at) const {
  const LayoutEntry* entry = entryAt(at);
  if (at.x() < labelWidth_ || entry == nullptr || entry->track < 0)
    return {};
  const int y = at.y() - rowOf(*entry).y();
  const int row = (y - TrackLayout::kTrackPadding) / TrackLayout::kRowHeight;
  const int x = at.x() - labelWidth_;
  const Viewport& shown = models_.view.viewport();
  for (const int slack : {0, kHitSlack}) {
    const Block* block = models_.timeline.hit(
        entry->track, row, shown.timeAt(x - slack), shown.timeAt(x + 1 + slack));
    if (block != nullptr)
      return Target{entry->track, *block};
  }
  return {};
}

bool TimelineGeometry::isCounter(const LayoutEntry& entry) const {
  return entry.track >= 0 && models_.document.skeleton()
                                 .tracks.at(static_cast<std::size_t>(entry.track))
                                 .counter.has_value();
}

int TimelineGeometry::counterAt(const QPoint& at) const {
  const LayoutEntry* entry = entryAt(at);
  return entry != nullptr && isCounter(*entry) ? entry->track : -1;
}

bool TimelineGeometry::showsCounters() const {
  const auto hasCounter = [this](std::span<const LayoutEntry> entries) {
    return std::any_of(
        entries.begin(), entries.end(), [this](const auto& entry) { return isCounter(entry); });
  };
  return hasCounter(visiblePinned()) || hasCounter(visible());
}

Area TimelineGeometry::areaBetween(const QPoint& from, const QPoint& to) const {
  const auto timeAt = [&](int x) {
    return models_.view.viewport().timeAt(std::max(x - labelWidth_, 0));
  };
  const auto [left, right] = std::minmax({from.x(), to.x()});
  const auto [top, bottom] = std::minmax({from.y(), to.y()});
  const Span span{timeAt(left), timeAt(right)};
  const auto areaOn = [&](const std::vector<int>& tracks) {
    Area area{span, {}};
    for (const int track : tracks)
      area.tracks.push_back(
          idOf(models_.document.skeleton().tracks.at(static_cast<std::size_t>(track))));
    std::sort(area.tracks.begin(), area.tracks.end());
    return area;
  };
  if (from.y() < headerHeight())
    return areaOn(tracksOf(layout().pinned(), 0, layout().height()));
  const int y = corner().y();
  const int pinnedTop = pinnedArea().top() - scroll_.pinned;
  const int pinnedBottom = std::min(bottom, pinnedArea().bottom()) - pinnedTop;
  return areaOn(tracksOf(layout().pinnedBetween(top - pinnedTop, pinnedBottom + 1),
                         std::max(top, content().top()) - y,
                         bottom - y + 1));
}

}  // namespace sonde::gui
