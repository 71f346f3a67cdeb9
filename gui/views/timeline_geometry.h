// The positions of the timeline's header, labels, tracks and blocks, in the coordinates of its
// viewport().
//
// A value for one moment: it refers to the models, and copies the widget's size and its scroll
// position. The view makes one whenever it paints or handles the mouse. Main thread.
#pragma once

#include "gui/models/trace_models.h"

#include <QPoint>
#include <QRect>
#include <QSize>

#include <optional>
#include <span>

namespace sonde::gui {

// A block and its track, in Skeleton::tracks.
struct Target {
  int track = 0;
  Block block;
};

class TimelineGeometry {
 public:
  static constexpr int kRulerHeight = 28;
  static constexpr int kBandHeight = 18;

  // How far the pinned tracks, and those below them, are scrolled.
  struct Scroll {
    int pinned = 0;
    int rest = 0;
  };

  // Requires: `models` outlives it.
  TimelineGeometry(const TraceModels& models, const QSize& size, int labelWidth, Scroll scroll)
      : models_(models), size_(size), labelWidth_(labelWidth), scroll_(scroll) {}

  [[nodiscard]] const QSize& size() const { return size_; }
  [[nodiscard]] int labelWidth() const { return labelWidth_; }
  // The ruler, and a band below it if there are iterations.
  [[nodiscard]] int headerHeight() const;
  // The rectangle of the pinned tracks, with their labels: at most a part of the widget.
  [[nodiscard]] QRect pinnedArea() const;
  // The rectangle of the tracks that scroll below them, with their labels.
  [[nodiscard]] QRect content() const;
  // The one of both that shows `entry`.
  [[nodiscard]] QRect areaOf(const LayoutEntry& entry) const;
  // The position of the Viewport's pixel 0 and the y 0 of the entries that scroll.
  [[nodiscard]] QPoint corner() const;
  [[nodiscard]] QRect rowOf(const LayoutEntry& entry) const;
  // The rectangle of a track's block; empty if the track is folded away.
  [[nodiscard]] QRectF rectOf(int track, const Block& block) const;
  // rectOf, but of a track that is folded away the line of its group, and of one that is scrolled
  // away the edge of the pinned tracks.
  [[nodiscard]] QRectF anchorOf(const FoundEvent& event) const;

  // The visible entries that scroll, and those that are pinned.
  [[nodiscard]] std::span<const LayoutEntry> visible() const;
  [[nodiscard]] std::span<const LayoutEntry> visiblePinned() const;
  // The tracks that are visible, or would be after scrolling by `margin`.
  [[nodiscard]] std::vector<int> visibleTracks(int margin) const;
  // nullptr in the header and below the last entry.
  [[nodiscard]] const LayoutEntry* entryAt(const QPoint& at) const;
  // The block there, or right beside.
  [[nodiscard]] std::optional<Target> targetAt(const QPoint& at) const;
  // The track of the counter there, or of its label; -1: none.
  [[nodiscard]] int counterAt(const QPoint& at) const;
  // Whether a counter is visible.
  [[nodiscard]] bool showsCounters() const;
  // The area of a drag that began at `from`: the tracks that it crosses, or all if it began on the
  // ruler.
  [[nodiscard]] Area areaBetween(const QPoint& from, const QPoint& to) const;

 private:
  // Those of `pinned`, and those of the layout that cross [top, bottom).
  [[nodiscard]] std::vector<int> tracksOf(std::span<const LayoutEntry> pinned,
                                          int top,
                                          int bottom) const;
  [[nodiscard]] bool isCounter(const LayoutEntry& entry) const;
  [[nodiscard]] const TrackLayout& layout() const { return models_.timeline.layout(); }

  const TraceModels& models_;
  QSize size_;
  int labelWidth_;
  Scroll scroll_;
};

}  // namespace sonde::gui
