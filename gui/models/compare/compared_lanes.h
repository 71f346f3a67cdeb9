// The same iteration of two runs as timelines, for the view of comparisons. Plain values; reading
// opens the earlier run's files by itself, on any thread.
#pragma once

#include "analysis/engine/diff/iteration_spans.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace sonde::gui {

struct ComparedLanes {
  QStringList beforeFiles;                              // of the run that is drawn
  std::vector<engine::diff::IterationName> iterations;  // that both runs have
  engine::diff::IterationName shown;
  engine::diff::IterationSpans before;  // both from the begin of the iteration
  engine::diff::IterationSpans after;
};

// `before`: traces and folders, of which the first run is drawn; its files begin together.
// `wanted`: the iteration; unset, or if a run lacks it: the one of median length in `after`.
// NotFound: the runs have no iteration in common. Other errors as runsOf() and
// readIterationSpans().
[[nodiscard]] Result<ComparedLanes> readComparedLanes(
    const store::Database& after,
    const QStringList& before,
    const std::optional<engine::diff::IterationName>& wanted);

// "iteration 12"; "iteration 12 (occurrence 2)" if the number came before.
[[nodiscard]] QString titleOf(const engine::diff::IterationName& iteration);

struct ComparedOperation {
  std::string name;
  std::optional<model::SliceKind> kind;
};
// The operations of both runs, those that took most time first.
[[nodiscard]] std::vector<ComparedOperation> operationsOf(const ComparedLanes& lanes);

}  // namespace sonde::gui
