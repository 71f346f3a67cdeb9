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
// The value of a counter at the pixel that begins at `ns`: "312 W", "1.5 GiB to 1.7 GiB"; empty:
// not known.
[[nodiscard]] QString valueText(const Curve& curve,
                                const CounterInfo& counter,
                                std::int64_t ns,
                                const Viewport& viewport);
// A counter's value at `ns`, with the time; empty: none is known.
[[nodiscard]] QString counterStatus(const TraceModels& models, int track, std::int64_t ns);
[[nodiscard]] QString counterToolTip(const TraceModels& models, int track, std::int64_t ns);
[[nodiscard]] QString processToolTip(const TraceModels& models, int process);

}  // namespace sonde::gui
