#include "gui/views/timeline_geometry.h"

#include "gui/views/slice_painter.h"

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kHitSlack = 2;  // pixels beside a narrow slice that still select it

}  // namespace

int TimelineGeometry::headerHeight() const {
  return kRulerHeight + (models_.document.skeleton().iterations.empty() ? 0 : kBandHeight);
}

QRect TimelineGeometry::content() const {
  return {0, headerHeight(), size_.width(), size_.height() - headerHeight()};
}

QPoint TimelineGeometry::corner() const {
  return {labelWidth_, headerHeight() - scroll_};
}

QRect TimelineGeometry::rowOf(const LayoutEntry& entry) const {
  return {0, corner().y() + entry.y, size_.width(), entry.height};
}

QRectF TimelineGeometry::rectOf(int track, const Block& block) const {
  const LayoutEntry* entry = layout().find(track);
  if (entry == nullptr)
    return {};
  return SlicePainter::rectOf(block,
                              models_.view.viewport(),
                              models_.document.skeleton().endNs,
                              corner() + QPointF(0, entry->y + TrackLayout::kTrackPadding));
}

QRectF TimelineGeometry::anchorOf(const FoundEvent& event) const {
  const QRectF shown = rectOf(event.track, event.block);
  if (!shown.isEmpty())
    return shown;
  const LayoutEntry* entry = layout().findFolded(
      models_.document.skeleton().tracks.at(static_cast<std::size_t>(event.track)));
  if (entry == nullptr)
    return {};
  const QRect row = rowOf(*entry);
  const double x = corner().x() + models_.view.viewport().xAt(event.block.startNs);
  return {x, double(row.y()), 1.0, double(row.height())};
}

std::span<const LayoutEntry> TimelineGeometry::visible() const {
  return layout().between(scroll_, scroll_ + content().height());
}

std::vector<int> TimelineGeometry::visibleTracks(int margin) const {
  return layout().tracksBetween(scroll_ - margin, scroll_ + content().height() + margin);
}

const LayoutEntry* TimelineGeometry::entryAt(const QPoint& at) const {
  return at.y() < headerHeight() ? nullptr : layout().at(at.y() - corner().y());
}

std::optional<Target> TimelineGeometry::targetAt(const QPoint& at) const {
  const LayoutEntry* entry = entryAt(at);
  if (at.x() < labelWidth_ || entry == nullptr || entry->track < 0)
    return {};
  const int y = at.y() - corner().y();
  const int row = (y - entry->y - TrackLayout::kTrackPadding) / TrackLayout::kRowHeight;
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
  const auto entries = visible();
  return std::any_of(
      entries.begin(), entries.end(), [&](const LayoutEntry& entry) { return isCounter(entry); });
}

Area TimelineGeometry::areaBetween(const QPoint& from, const QPoint& to) const {
  const auto timeAt = [&](int x) {
    return models_.view.viewport().timeAt(std::max(x - labelWidth_, 0));
  };
  const auto [left, right] = std::minmax({from.x(), to.x()});
  const auto [top, bottom] = std::minmax({from.y(), to.y()});
  const bool all = from.y() < headerHeight();
  const int y = corner().y();
  return {{timeAt(left), timeAt(right)},
          all ? layout().tracksBetween(0, layout().height())
              : layout().tracksBetween(top - y, bottom - y + 1)};
}

}  // namespace sonde::gui
