#include "gui/models/graph/job_paths.h"

#include "analysis/engine/statistics/series.h"
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::gui {
namespace {

namespace critical = engine::critical;

QString tr(const char* text) {
  return QCoreApplication::translate("Graph", text);
}

QVariant integer(std::int64_t value) {
  return QVariant::fromValue<qlonglong>(value);
}

QString entityOf(const JobPaths& job, engine::graph::LaneIndex lane) {
  return qtext(engine::graph::entityOf(job.job.trace.graph.lanes[lane]));
}

Owner ownerOf(engine::graph::LaneKind kind) {
  return kind == engine::graph::LaneKind::Stream       ? Owner::Stream
         : kind == engine::graph::LaneKind::Connection ? Owner::Channel
                                                       : Owner::Thread;
}

}  // namespace

Result<JobPaths> readPaths(const store::Database& trace) {
  JobPaths read;
  SONDE_TRY_ASSIGN(read.job, engine::operations::readJob(trace, true));
  read.paths = critical::pathsOf(read.job.trace);
  SONDE_TRY_ASSIGN(read.parts, critical::partsOf(trace, read.job.trace.graph, read.paths));
  read.shares = critical::sharesOf(read.parts);
  read.slacks = critical::laneSlacks(read.job.trace.graph, read.paths);
  return read;
}

QString titleOf(const critical::IterationPath& path) {
  return path.number ? tr("iteration %1, %2").arg(*path.number).arg(formatDuration(path.lengthNs()))
                     : tr("the whole trace, %1").arg(formatDuration(path.lengthNs()));
}

std::vector<ValueColumn> shareColumns() {
  return {{tr("where")},
          {tr("cause")},
          {tr("what")},
          {tr("time"), ValueKind::Duration},
          {tr("share"), ValueKind::Share, tr("of all paths")},
          {tr("parts"), ValueKind::Integer}};
}

std::vector<ValueRow> shareRows(const JobPaths& job) {
  std::vector<ValueRow> rows;
  for (const critical::PathShare& each : job.shares)
    rows.push_back({{entityOf(job, each.lane),
                     spaced(critical::nameOf(each.cause)),
                     qtext(each.what),
                     integer(each.ns),
                     each.share,
                     integer(each.parts)},
                    {.name = qtext(each.what)}});
  return rows;
}

int usualPath(const JobPaths& job) {
  std::vector<std::int64_t> lengths;
  for (const critical::IterationPath& path : job.paths)
    lengths.push_back(path.lengthNs());
  const auto usual = engine::statistics::indexOfMedian(lengths);
  return usual ? static_cast<int>(*usual) : -1;
}

std::vector<ValueColumn> partColumns() {
  return {{tr("begins after"), ValueKind::Duration, tr("since the begin of the iteration")},
          {tr("where")},
          {tr("cause")},
          {tr("what")},
          {tr("time"), ValueKind::Duration},
          {tr("share"), ValueKind::Share, tr("of the iteration")}};
}

std::vector<ValueRow> partRows(const JobPaths& job, std::size_t path) {
  const critical::IterationPath& of = job.paths.at(path);
  const auto length = static_cast<double>(of.lengthNs());
  std::vector<ValueRow> rows;
  for (const critical::PathPart& each : job.parts)
    if (each.path == path)
      rows.push_back({{integer(each.beginNs - of.beginNs),
                       entityOf(job, each.lane),
                       spaced(critical::nameOf(each.cause)),
                       qtext(each.what),
                       integer(each.lengthNs()),
                       length > 0 ? static_cast<double>(each.lengthNs()) / length : 0.0},
                      {.span = Span{each.beginNs, each.endNs}}});
  return rows;
}

int longestPart(const JobPaths& job, std::size_t path) {
  int longest = 0;
  std::int64_t most = 0;
  int row = 0;
  for (const critical::PathPart& each : job.parts) {
    if (each.path != path)
      continue;
    if (each.cause != critical::PathCause::Gap && each.lengthNs() > most) {
      most = each.lengthNs();
      longest = row;
    }
    ++row;
  }
  return longest;
}

std::vector<engine::graph::NodeIndex> partNodes(const JobPaths& job, std::size_t path) {
  std::vector<engine::graph::NodeIndex> nodes;
  for (const critical::PathPart& each : job.parts)
    if (each.path == path)
      nodes.push_back(each.node);
  return nodes;
}

std::vector<ValueColumn> slackColumns() {
  return {{tr("thread or stream")},
          {tr("on the path"), ValueKind::Duration, tr("mean of the iterations")},
          {tr("slack"),
           ValueKind::Duration,
           tr("it could be so much later without delaying the iteration")}};
}

std::vector<ValueRow> slackRows(const JobPaths& job) {
  std::vector<ValueRow> rows;
  for (const critical::LaneSlack& each : job.slacks)
    rows.push_back({{entityOf(job, each.lane), integer(each.pathNs), integer(each.slackNs)}});
  return rows;
}

std::vector<PathOverlay::Part> overlayOf(const JobPaths& job, const Skeleton& skeleton) {
  std::map<std::pair<Owner, std::int64_t>, int> tracks;
  for (std::size_t track = 0; track < skeleton.tracks.size(); ++track)
    tracks[{skeleton.tracks[track].owner, skeleton.tracks[track].id}] = static_cast<int>(track);
  std::vector<PathOverlay::Part> parts;
  for (const critical::PathPart& each : job.parts) {
    const engine::graph::Lane& lane = job.job.trace.graph.lanes[each.lane];
    const auto track = tracks.find({ownerOf(lane.kind), lane.id});
    parts.push_back({track == tracks.end() ? -1 : track->second, {each.beginNs, each.endNs}});
  }
  return parts;
}

}  // namespace sonde::gui
