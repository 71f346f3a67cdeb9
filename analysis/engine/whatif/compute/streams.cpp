#include "analysis/engine/whatif/compute/streams.h"

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using graph::LaneIndex;
using graph::NodeIndex;

// The error of the whole answer: kernels beside each other share the device.
constexpr double kSharing = 0.05;

struct BranchRow {
  std::int64_t threadId = 0;
  std::int64_t parentId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(threadId, parentId, startNs, durNs)
};

constexpr const char* kBranches =
    "SELECT s.thread_id, coalesce(s.parent_id, 0) AS parent_id, s.start_ns, s.dur_ns FROM slice s "
    "JOIN string n ON n.id = s.name_id WHERE s.kind IN ('module', 'operator', 'phase', "
    "'operation', 'range') AND s.dur_ns > 0 AND n.text GLOB ? ORDER BY s.thread_id, s.start_ns, "
    "s.dur_ns DESC";

struct Branch {
  std::int64_t parentId = 0;    // 0: none
  std::int64_t iteration = -1;  // its place in the job's; -1: none
  Span span;

  bool isSibling(const Branch& other) const noexcept {
    return parentId == other.parentId &&
           (parentId != 0 || (iteration >= 0 && iteration == other.iteration));
  }
};
// By thread, then by begin; disjoint.
using Branches = std::map<LaneIndex, std::vector<Branch>>;

class IterationPlaces {
 public:
  explicit IterationPlaces(const graph::TraceGraph& job) : job_(job) {
    for (std::size_t i = 0; i < job.iterations.size(); ++i)
      byBegin_[job.iterations[i].processId].emplace(job.graph.beginNs[job.iterations[i].first], i);
  }

  // The place of the one in which the lane's process is then; -1: none.
  std::int64_t at(LaneIndex lane, std::int64_t ns) const {
    const auto of = byBegin_.find(job_.graph.lanes[lane].processId);
    if (of == byBegin_.end())
      return -1;
    const auto after = of->second.upper_bound(ns);
    if (after == of->second.begin())
      return -1;
    const std::size_t found = std::prev(after)->second;
    return ns < job_.graph.endNs(job_.iterations[found].last) ? static_cast<std::int64_t>(found)
                                                              : -1;
  }

 private:
  const graph::TraceGraph& job_;
  std::map<std::int64_t, std::map<std::int64_t, std::size_t>> byBegin_;  // by process
};

Result<Branches> readBranches(const store::Database& trace,
                              const graph::TraceGraph& job,
                              const std::string& glob) {
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, job.graph));
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kBranches));
  rows.bind(1, glob);
  const IterationPlaces iterations(job);
  Branches found;
  SONDE_TRY(store::forEach<BranchRow>(rows, [&](const BranchRow& row) {
    const auto call = lanes.ofThread(row);
    if (!call)
      return;
    std::vector<Branch>& of = found[call->lane];
    if (of.empty() || call->span.beginNs >= of.back().span.endNs)  // not inside of another branch
      of.push_back({row.parentId, iterations.at(call->lane, call->span.beginNs), call->span});
  }));
  return found;
}

// Kernels and copies of one branch that follow each other on a stream: nodes [first, last].
struct Run {
  const Branch* branch = nullptr;
  LaneIndex thread = 0;
  NodeIndex first = 0;
  NodeIndex last = 0;
};
using Fork = std::vector<Run>;  // branches of one parent, on one stream

const Branch* branchOf(const Branches& branches, const DeviceWork& work) {
  const auto of = work.thread ? branches.find(*work.thread) : branches.end();
  if (of == branches.end() || work.isCollective)
    return nullptr;
  const auto after =
      std::upper_bound(of->second.begin(),
                       of->second.end(),
                       work.call.beginNs,
                       [](std::int64_t ns, const Branch& each) { return ns < each.span.beginNs; });
  const bool isInside = after != of->second.begin() && work.call.beginNs < (after - 1)->span.endNs;
  return isInside ? &*(after - 1) : nullptr;
}

// Other work between two branches of a stream ends a fork.
std::vector<Fork> forksOf(const graph::Graph& graph,
                          const Branches& branches,
                          const std::vector<DeviceWork>& works) {
  std::vector<Fork> forks;
  NodeIndex before = graph::kNoNode;
  for (const DeviceWork& work : works) {
    const Branch* branch = branchOf(branches, work);
    const bool follows = before != graph::kNoNode && work.node == before + 1 &&
                         graph.lane[work.node] == graph.lane[before];
    before = graph::kNoNode;
    if (branch == nullptr)
      continue;
    before = work.node;
    Run* run = follows ? &forks.back().back() : nullptr;
    if (run != nullptr && run->branch == branch) {
      run->last = work.node;
      continue;
    }
    const bool isSibling =
        run != nullptr && run->branch->isSibling(*branch) && run->thread == *work.thread;
    if (!isSibling)
      forks.emplace_back();
    forks.back().push_back({branch, *work.thread, work.node, work.node});
  }
  std::erase_if(forks, [](const Fork& each) { return each.size() < 2; });
  return forks;
}

class Forking {
 public:
  Forking(Scenario& scenario, std::size_t streams)
      : graph_(scenario.graph()), streams_(streams), successors_(graph::successorsOf(graph_)) {
    structure_.dropped.assign(graph_.edges(), false);
  }

  // NotFound: a branch needs another one.
  Result<void> add(const Fork& fork) {
    SONDE_TRY(checkApart(fork));
    for (std::size_t i = 1; i < fork.size(); ++i)
      separate(fork, i);
    // All that needs the last branch needs the others, too.
    const NodeIndex last = fork.back().last;
    for (std::uint32_t out = successors_.firstOut[last]; out < successors_.firstOut[last + 1];
         ++out)
      for (std::size_t i = 0; i + 1 < fork.size(); ++i)
        structure_.edges.push_back({fork[i].last,
                                    successors_.to[out],
                                    graph::EdgeKind::StreamWait,
                                    0,
                                    successors_.edge[out]});
    return {};
  }

  const Scenario::Structure& structure() const noexcept { return structure_; }

 private:
  // Runs of a fork are by node.
  static const Run* runOf(const Fork& fork, NodeIndex node) {
    const auto after =
        std::upper_bound(fork.begin(), fork.end(), node, [](NodeIndex at, const Run& each) {
          return at < each.first;
        });
    return after != fork.begin() && node <= (after - 1)->last ? &*(after - 1) : nullptr;
  }

  Result<void> checkApart(const Fork& fork) const {
    for (const Run& run : fork)
      for (NodeIndex node = run.first; node <= run.last; ++node)
        for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge) {
          const Run* from = runOf(fork, graph_.from[edge]);
          if (graph_.edgeKind[edge] != graph::EdgeKind::Order && from != nullptr && from != &run)
            return notFound(fmt::format(
                "a branch on {} waits for an event of another one, so they are not independent",
                graph::entityOf(graph_.lanes[graph_.lane[node]])));
        }
    return {};
  }

  // The branch waits for what the first one waits for, and for the one before on its own stream.
  void separate(const Fork& fork, std::size_t i) {
    const Run& run = fork[i];
    for (std::uint32_t edge = graph_.firstIn[run.first]; edge < graph_.firstIn[run.first + 1];
         ++edge)
      if (graph_.edgeKind[edge] == graph::EdgeKind::Order && graph_.from[edge] == fork[i - 1].last)
        structure_.dropped[edge] = true;
    const NodeIndex first = fork.front().first;
    for (std::uint32_t edge = graph_.firstIn[first]; edge < graph_.firstIn[first + 1]; ++edge)
      if (graph_.edgeKind[edge] != graph::EdgeKind::Launch)
        structure_.edges.push_back(
            {graph_.from[edge], run.first, graph::EdgeKind::StreamWait, 0, edge});
    if (i >= streams_)
      structure_.edges.push_back({fork[i - streams_].last, run.first, graph::EdgeKind::Order});
  }

  const graph::Graph& graph_;
  const std::size_t streams_;
  const graph::Successors successors_;
  Scenario::Structure structure_;
};

}  // namespace

Question streams(Streams of) {
  return [of = std::move(of)](Asking& asking) -> Result<void> {
    if (of.count < 2)
      return Error{ErrorCode::InvalidArgument,
                   "branches run beside each other on two streams or more"};
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const Branches branches,
                     readBranches(asking.trace, scenario.job(), of.branches));
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking.trace, scenario.job()));
    const std::vector<Fork> forks = forksOf(scenario.graph(), branches, works);
    if (forks.empty())
      return notFound(fmt::format(
          "no two branches named '{}' follow each other on a stream, inside of the same module, "
          "annotation or iteration: the trace shows no independent work",
          of.branches));
    Forking forking(scenario, static_cast<std::size_t>(of.count));
    std::size_t count = 0;
    for (const Fork& fork : forks) {
      SONDE_TRY(forking.add(fork));
      count += fork.size();
    }
    SONDE_TRY(scenario.restructure(forking.structure()));
    asking.orderError = std::max(asking.orderError, kSharing);
    asking.notes.push_back(fmt::format(
        "{} branches in {} places run beside each other on up to {} streams. This assumes that "
        "branches of this name do not need each other, and that kernels take no longer beside "
        "others: large ones fill a device alone",
        count,
        forks.size(),
        of.count));
    return {};
  };
}

}  // namespace sonde::engine::whatif
