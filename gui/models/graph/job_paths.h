// The critical paths of a job's iterations, for the view of the graph: the values of `sonde graph
// --critical-path`. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/lane_slack.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/operations/read_job.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/path_overlay.h"
#include "gui/models/table/value_table.h"

#include <QString>

#include <cstddef>
#include <vector>

namespace sonde::gui {

struct JobPaths {
  engine::operations::JobGraph job;
  std::vector<engine::critical::IterationPath> paths;
  std::vector<engine::critical::PathPart> parts;  // of one path after the other
  std::vector<engine::critical::PathShare> shares;
  std::vector<engine::critical::LaneSlack> slacks;
};

// Errors as readJob().
[[nodiscard]] Result<JobPaths> readPaths(const store::Database& trace);

// "iteration 12, 74.2 ms"; "the whole trace, 3.2 s".
[[nodiscard]] QString titleOf(const engine::critical::IterationPath& path);

// The time of all paths by place, cause and name, the longest first.
[[nodiscard]] std::vector<ValueColumn> shareColumns();
[[nodiscard]] std::vector<ValueRow> shareRows(const JobPaths& job);

// The path of the iteration of median length; -1: there is none.
[[nodiscard]] int usualPath(const JobPaths& job);

// One path, by time; each row leads to its time.
[[nodiscard]] std::vector<ValueColumn> partColumns();
[[nodiscard]] std::vector<ValueRow> partRows(const JobPaths& job, std::size_t path);
// The row with the most time that is not a gap; 0 if there is none.
[[nodiscard]] int longestPart(const JobPaths& job, std::size_t path);
// The nodes of these rows.
[[nodiscard]] std::vector<engine::graph::NodeIndex> partNodes(const JobPaths& job,
                                                              std::size_t path);

// How much later each thread and stream could be.
[[nodiscard]] std::vector<ValueColumn> slackColumns();
[[nodiscard]] std::vector<ValueRow> slackRows(const JobPaths& job);

// The paths of all iterations, for the timeline.
[[nodiscard]] std::vector<PathOverlay::Part> overlayOf(const JobPaths& job,
                                                       const Skeleton& skeleton);

}  // namespace sonde::gui
