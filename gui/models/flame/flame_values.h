// Call paths for the view of flame graphs: the values of engine/callpaths with the choices of the
// view, as trees and tables. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/callpaths/busy_cells.h"
#include "analysis/engine/callpaths/call_paths.h"
#include "analysis/engine/callpaths/call_views.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"
#include "gui/models/trace_models.h"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace sonde::gui {

using FlameSource = engine::callpaths::PathSource;

// The user's choices.
struct FlameChoice {
  std::optional<FlameSource> source;  // nullopt: the first one of the trace
  bool isInverted = false;
  engine::callpaths::PathFilter filter = {};
};

// The filter for what the models look at: the rank and operation of the focus, and the range and
// threads of the selected area, unless these are all threads.
[[nodiscard]] engine::callpaths::PathFilter flameFilter(const TraceModels& models);
// "rank 0 · forward · 12.3 ms selected"; empty: everything.
[[nodiscard]] QString limitsText(const engine::callpaths::PathFilter& filter);

struct FlameValues {
  FlameSource source = FlameSource::Slices;
  std::vector<FlameSource> sources;  // of which the trace has rows
  std::shared_ptr<const engine::callpaths::CallTree> paths;
  std::shared_ptr<const engine::callpaths::CallTree> shown;  // inverted, or the same
  std::vector<engine::callpaths::NameTime> names;            // of `paths`
};
// NotFound: the trace has no rows of any source, or of the chosen one; the message has the option
// that records them.
[[nodiscard]] Result<FlameValues> readFlame(const store::Database& trace,
                                            const FlameChoice& choice);
// Requires: the source is one of the trace's.
[[nodiscard]] Result<engine::callpaths::BusyCells> readCells(
    const store::Database& trace, FlameSource source, const engine::callpaths::PathFilter& filter);

[[nodiscard]] QString titleOf(FlameSource source);
// The events that a frame counts: "samples".
[[nodiscard]] QString eventsOf(FlameSource source);
[[nodiscard]] ValueKind unitOf(FlameSource source);

// All names, with their times; each row leads to its name.
[[nodiscard]] std::vector<ValueColumn> nameColumns(ValueKind unit);
[[nodiscard]] std::vector<ValueRow> nameRows(const FlameValues& values);
// The callers or callees of a name.
[[nodiscard]] std::vector<ValueColumn> neighbourColumns(const QString& title, ValueKind unit);
[[nodiscard]] std::vector<ValueRow> neighbourRows(
    const engine::callpaths::CallTree& paths,
    const engine::callpaths::NameTime& whole,
    const std::vector<engine::callpaths::Neighbour>& neighbours);

// The place of the longest event of a frame; empty: samples have none.
[[nodiscard]] Place placeOf(const engine::callpaths::CallTree& tree,
                            engine::callpaths::CallNode node);

}  // namespace sonde::gui
