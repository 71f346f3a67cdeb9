// Paints the rows of the timeline: processes, groups, and tracks with their labels and blocks.
//
// The view makes one for each frame. Paints from the models without queries. Main thread.
#pragma once

#include "gui/views/slice_painter.h"
#include "gui/views/timeline_geometry.h"

#include <QPainter>

#include <vector>

namespace sonde::gui {

class TrackPainter {
 public:
  // Requires: all outlive it.
  TrackPainter(QPainter& painter,
               const TraceModels& models,
               const TimelineGeometry& geometry,
               const PaintContext& context)
      : painter_(painter), models_(models), geometry_(geometry), context_(context) {}

  void paint(const LayoutEntry& entry);

 private:
  void paintProcess(const QRect& rect, const LayoutEntry& entry);
  void paintLife(const QRect& rect, const ProcessInfo& process);
  void paintGroup(const QRect& rect, const LayoutEntry& entry);
  void paintTrack(const QRect& row, const LayoutEntry& entry);
  // Over the blocks of `row`: the more of their time was the cost of recording, the fainter.
  void paintCosts(const QRect& row, const std::vector<engine::correction::CostSpan>& costs);
  void paintLabel(const QRect& rect, const TrackInfo& track, const LayoutEntry& entry);
  void paintCounter(const QRect& row, const TrackInfo& track, const LayoutEntry& entry);
  // Its name; if it is not below its process, with that.
  [[nodiscard]] QString nameOf(const TrackInfo& track, const LayoutEntry& entry) const;

  QPainter& painter_;
  const TraceModels& models_;
  const TimelineGeometry& geometry_;
  const PaintContext& context_;
};

}  // namespace sonde::gui
