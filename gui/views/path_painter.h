// Paints a path over the tracks of the timeline. Plain function; main thread.
#pragma once

#include "gui/models/trace_models.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_geometry.h"

#include <QPainter>

namespace sonde::gui {

// A bar below each part, and a line to the next one. Parts of folded tracks are left out. Parts
// narrower than a pixel share one.
void paintPath(QPainter& painter,
               const TraceModels& models,
               const TimelineGeometry& geometry,
               const Theme& theme);

}  // namespace sonde::gui
