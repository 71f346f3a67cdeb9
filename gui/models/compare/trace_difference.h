// The difference between two sets of traces, for the view of comparisons: the values of `sonde
// diff`. Plain values; reading opens the files by itself, on any thread.
#pragma once

#include "analysis/engine/diff/diff.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <set>
#include <vector>

namespace sonde::gui {

using Iterations = std::set<engine::diff::IterationName>;

struct ComparisonRequest {
  QStringList before;  // traces and folders, as `after`
  QStringList after;
  bool isCorrected = true;                               // else as recorded, like `--raw`
  std::optional<engine::metrics::Interval> within = {};  // job time of the open trace; unset: all
};
struct Comparison {
  engine::diff::Diff diff;
  std::optional<Iterations> iterations;  // that alone are compared; unset: all
};

// As `sonde diff` by operation and kernel. `opened`: the trace that `within` is about; only
// iterations that lie in it as a whole are compared. NotFound: none does. Other errors as runsOf(),
// readRuns() and diff().
[[nodiscard]] Result<Comparison> compareTraces(const store::Database& opened,
                                               const ComparisonRequest& request);

// The iterations that lie in the range of job time as a whole; unset: no range. NotFound: none
// does; the message tells the user what to select.
[[nodiscard]] Result<std::optional<Iterations>> iterationsIn(
    const store::Database& opened, const std::optional<engine::metrics::Interval>& within);

// "iteration 12"; "iteration 12 (occurrence 2)" if the number came before.
[[nodiscard]] QString titleOf(const engine::diff::IterationName& iteration);
// "iterations 3 to 12", whose numbers may have gaps.
[[nodiscard]] QString titleOf(const Iterations& iterations);

// The traces of the first run of `paths`, which are traces and folders: one, or one for each rank.
[[nodiscard]] Result<QStringList> firstRun(const QStringList& paths);

// "an iteration is 12.3 % slower (10.1 … 14.6 %)".
[[nodiscard]] QString sentenceOf(const engine::diff::Diff& diff);

[[nodiscard]] std::vector<ValueColumn> differenceColumns();
// Certain differences come first, the largest change of time first.
[[nodiscard]] std::vector<ValueRow> differenceRows(const engine::diff::Diff& diff);

}  // namespace sonde::gui
