// The same iteration of two runs as timelines, for the view of comparisons. Plain values; reading
// opens the earlier run's files by itself, on any thread.
#pragma once

#include "analysis/engine/diff/iteration_spans.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

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

struct ComparedLanesRequest {
  QStringList before;  // traces and folders, of which the first run is drawn; its files begin
                       // together
  // The iteration; unset, or if a run lacks it: the one of median length in the open trace.
  std::optional<engine::diff::IterationName> wanted = {};
  std::optional<engine::metrics::Interval> within = {};  // only iterations in this job time
};

// NotFound: the runs have no iteration in common. Other errors as runsOf(), iterationsIn() and
// readIterationSpans().
[[nodiscard]] Result<ComparedLanes> readComparedLanes(const store::Database& after,
                                                      const ComparedLanesRequest& request);

struct ComparedOperation {
  std::string name;
  std::optional<model::SliceKind> kind;
};
// The operations of both runs, those that took most time first.
[[nodiscard]] std::vector<ComparedOperation> operationsOf(const ComparedLanes& lanes);

}  // namespace sonde::gui
