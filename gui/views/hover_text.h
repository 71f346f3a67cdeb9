// The texts about the item under the mouse: one line for the status line, and tooltips as HTML.
// Free functions; main thread.
#pragma once

#include "gui/views/timeline_geometry.h"

#include <QString>

#include <optional>

namespace sonde::gui {

// The time at pixel `x` of the Viewport, and the block there.
[[nodiscard]] QString statusText(const TraceModels& models,
                                 int x,
                                 const std::optional<Target>& target);
// `scope`: the answer to TimelineModel::askScope; empty: not known yet.
[[nodiscard]] QString blockToolTip(const TraceModels& models,
                                   const Target& target,
                                   const QString& scope);
[[nodiscard]] QString processToolTip(const TraceModels& models, int process);

}  // namespace sonde::gui
