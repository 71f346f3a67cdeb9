#include "analysis/engine/whatif/loads.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/engine/whatif/span_edits.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <set>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::NodeIndex;

struct LoadRow {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(threadId, startNs, durNs)
};

// Without the start of a loader's workers.
constexpr const char* kLoads =
    "SELECT s.thread_id, s.start_ns, s.dur_ns FROM slice s JOIN string n ON n.id = s.name_id WHERE "
    "s.kind = 'data_load' AND s.dur_ns >= 0 AND n.text NOT GLOB 'start *' ORDER BY s.start_ns";

// Finds who loads for a driver. Threads of other ranks do not, nor those that run iterations or
// move data: a rank waits for them, too, where one rank loads and sends its batches to the others.
class FeederFinder {
 public:
  FeederFinder(const graph::TraceGraph& job, const LaneLookup& lookup)
      : graph_(job.graph), lookup_(lookup), drivers_(driversOf(job)) {}

  std::vector<LaneIndex> find(const RankLoads& of) const {
    std::set<LaneIndex> found;
    addIdle(of, found);
    addNeeded(of, found);
    std::erase_if(found, [&](LaneIndex lane) { return !mayFeed(lane, graph_.lanes[of.driver]); });
    return {found.begin(), found.end()};
  }

 private:
  bool mayFeed(LaneIndex lane, const graph::Lane& driver) const {
    const graph::Lane& of = graph_.lanes[lane];
    const bool isOfOther = of.rank >= 0 && driver.rank >= 0 && of.rank != driver.rank;
    return of.kind == graph::LaneKind::Thread && !isOfOther && !drivers_.contains(lane) &&
           of.background != graph::Background::Transfers;
  }

  // A driver hardly waits for workers that are fast, so these count, too: loaders by their process,
  // and lanes that wait for the driver to take a batch.
  void addIdle(const RankLoads& of, std::set<LaneIndex>& found) const {
    const graph::Lane& driver = graph_.lanes[of.driver];
    for (LaneIndex lane = 0; lane < graph_.lanes.size(); ++lane)
      if (graph_.lanes[lane].background == graph::Background::Loads && driver.rank >= 0 &&
          graph_.lanes[lane].rank == driver.rank)
        found.insert(lane);
    const auto isInLoad = [&](std::int64_t ns) {
      const auto after = std::upper_bound(
          of.loads.begin(), of.loads.end(), ns, [](std::int64_t at, const Span& each) {
            return at < each.beginNs;
          });
      return after != of.loads.begin() && ns <= (after - 1)->endNs;
    };
    for (NodeIndex node = 0; node < graph_.nodes(); ++node)
      for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
        if (graph_.lane[graph_.from[edge]] == of.driver &&
            graph_.edgeKind[edge] == EdgeKind::Handoff && isInLoad(graph_.endNs(graph_.from[edge])))
          found.insert(graph_.lane[node]);
  }

  void addNeeded(const RankLoads& of, std::set<LaneIndex>& found) const {
    const NodeIndex end = lookup_.rangeOf(of.driver).second;
    for (const Span& load : of.loads)
      for (NodeIndex node = lookup_.beginsFrom(of.driver, load.beginNs);
           node < end && graph_.beginNs[node] <= load.endNs;
           ++node)
        for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
          if (graph_.edgeKind[edge] == EdgeKind::Handoff ||
              graph_.edgeKind[edge] == EdgeKind::Message)
            found.insert(graph_.lane[graph_.from[edge]]);
  }

  const Graph& graph_;
  const LaneLookup& lookup_;
  const std::set<LaneIndex> drivers_;
};

}  // namespace

Result<std::vector<RankLoads>> readLoads(const store::Database& trace,
                                         const Scenario& scenario,
                                         const LaneLookup& lookup) {
  const graph::TraceGraph& job = scenario.job();
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, job.graph));
  std::set<std::int64_t> processes;
  for (const graph::IterationNodes& each : job.iterations)
    processes.insert(each.processId);
  std::map<LaneIndex, RankLoads> byDriver;
  SONDE_TRY(store::forEach<LoadRow>(trace, kLoads, [&](const LoadRow& row) {
    const auto load = lanes.ofThread(row);
    if (!load || !processes.contains(job.graph.lanes[load->lane].processId))
      return;
    RankLoads& of = byDriver[load->lane];
    of.driver = load->lane;
    if (of.loads.empty() || load->span.beginNs >= of.loads.back().endNs)
      of.loads.push_back(load->span);
  }));
  const FeederFinder finder(job, lookup);
  std::vector<RankLoads> found;
  for (auto& [driver, each] : byDriver) {
    const auto made = scenario.setting().loaders.find(driver);
    if (made == scenario.setting().loaders.end())
      each.feeders = finder.find(each);
    else if (made->second.empty())
      return Error{ErrorCode::InvalidArgument,
                   "an earlier question leaves ranks without loader workers: ask about loads and "
                   "batches before it"};
    else
      each.feeders = made->second;
    found.push_back(std::move(each));
  }
  return found;
}

std::vector<SelectedPart> ownParts(const Graph& graph,
                                   const LaneLookup& lookup,
                                   LaneIndex driver,
                                   const Span& load) {
  std::vector<SelectedPart> parts;
  const auto [first, last] = lookup.rangeOf(driver);
  NodeIndex node = lookup.beginsFrom(driver, load.beginNs);
  if (node > first)
    --node;
  for (; node < last && graph.beginNs[node] < load.endNs; ++node) {
    const std::int64_t begin = std::max(graph.beginNs[node], load.beginNs);
    const std::int64_t end = std::min(graph.endNs(node), load.endNs);
    if (begin < end)
      parts.push_back({node, begin, end});
  }
  return parts;
}

double loadingNs(const Scenario& scenario, const LaneLookup& lookup, const RankLoads& of) {
  const Graph& graph = scenario.graph();
  double sum = 0;
  if (of.feeders.empty())
    for (const Span& load : of.loads)
      sum += presentNs(scenario, ownParts(graph, lookup, of.driver, load));
  for (const LaneIndex lane : of.feeders) {
    const auto [first, last] = lookup.rangeOf(lane);
    for (NodeIndex node = first; node < last; ++node)
      sum += graph.durNs[node] == 0  // a question made it
                 ? static_cast<double>(scenario.durNs()[node])
                 : scenario.lengthNs(node,
                                     std::max(graph.beginNs[node], of.loads.front().beginNs),
                                     std::min(graph.endNs(node), of.loads.back().endNs));
  }
  return sum;
}

}  // namespace sonde::engine::whatif
