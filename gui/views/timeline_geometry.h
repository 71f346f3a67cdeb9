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

  // Requires: `models` outlives it.
  TimelineGeometry(const TraceModels& models, const QSize& size, int labelWidth, int scroll)
      : models_(models), size_(size), labelWidth_(labelWidth), scroll_(scroll) {}

  [[nodiscard]] const QSize& size() const { return size_; }
  [[nodiscard]] int labelWidth() const { return labelWidth_; }
  // The ruler, and a band below it if there are iterations.
  [[nodiscard]] int headerHeight() const;
  // The rectangle of the tracks, with their labels.
  [[nodiscard]] QRect content() const;
  // The position of the Viewport's pixel 0 and the layout's y 0.
  [[nodiscard]] QPoint corner() const;
  [[nodiscard]] QRect rowOf(const LayoutEntry& entry) const;
  // The rectangle of a track's block; empty if the track is folded away.
  [[nodiscard]] QRectF rectOf(int track, const Block& block) const;
  // rectOf, but of a track that is folded away the line of its group.
  [[nodiscard]] QRectF anchorOf(const FoundEvent& event) const;

  [[nodiscard]] std::span<const LayoutEntry> visible() const;
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
  [[nodiscard]] bool isCounter(const LayoutEntry& entry) const;
  [[nodiscard]] const TrackLayout& layout() const { return models_.timeline.layout(); }

  const TraceModels& models_;
  QSize size_;
  int labelWidth_;
  int scroll_;
};

}  // namespace sonde::gui
