// The difference between two sets of traces, for the view of comparisons: the values of `sonde
// diff`. Plain values; reading opens the files by itself, on any thread.
#pragma once

#include "analysis/engine/diff/diff.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace sonde::gui {

// `a`: before, `b`: after; traces and folders. As `sonde diff` by operation and kernel, with
// `--raw` if times are not to be corrected. Errors as runsOf(), readRuns() and diff().
[[nodiscard]] Result<engine::diff::Diff> compareTraces(const QStringList& a,
                                                       const QStringList& b,
                                                       bool isCorrected = true);

// The traces of the first run of `paths`, which are traces and folders: one, or one for each rank.
[[nodiscard]] Result<QStringList> firstRun(const QStringList& paths);

// "an iteration is 12.3 % slower (10.1 … 14.6 %)".
[[nodiscard]] QString sentenceOf(const engine::diff::Diff& diff);

[[nodiscard]] std::vector<ValueColumn> differenceColumns();
// Certain differences come first, the largest change of time first.
[[nodiscard]] std::vector<ValueRow> differenceRows(const engine::diff::Diff& diff);

}  // namespace sonde::gui
