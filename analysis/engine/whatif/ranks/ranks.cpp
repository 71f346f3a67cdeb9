#include "analysis/engine/whatif/ranks/ranks.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/network/retimed_collectives.h"
#include "analysis/engine/whatif/ranks/batch_share.h"
#include "analysis/engine/whatif/ranks/processors.h"
#include "analysis/engine/whatif/ranks/rank_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

constexpr std::int64_t kMostRanks = 100'000;

// The question needs a job whose ranks all do the same and only meet in collectives of all.
Error notDataParallel(const std::string& reason) {
  return notFound(reason + ": the question is about data-parallel jobs");
}

Result<void> checkCollectives(const std::vector<JobCollective>& all,
                              const graph::TraceGraph& job,
                              std::int64_t ranks) {
  const replay::IterationWindows windows(job.graph, replay::jobIterations(job));
  bool hasSome = false;
  for (const JobCollective& each : all) {
    const CollectivePart& part = each.parts.front();
    if (windows.at(job.graph.lanes[part.lane], part.beginNs) == replay::kNoIteration)
      continue;
    hasSome = true;
    if (each.ranks > ranks)
      return notFound(fmt::format(
          "communicator {} has {} ranks, and the trace has iterations of {}: give the traces of "
          "all ranks",
          each.communicator,
          each.ranks,
          ranks));
    if (each.ranks < ranks)
      return notDataParallel(
          fmt::format("communicator {} has {} ranks, and the trace has iterations of {}",
                      each.communicator,
                      each.ranks,
                      ranks));
  }
  if (!hasSome)
    return notFound(
        "no collective lies in an iteration, so nothing shows how the ranks would communicate: "
        "record a job of at least two ranks, and give the traces of all");
  return {};
}

// Messages between ranks in iterations, but for those of collectives.
Result<void> checkMessages(const graph::TraceGraph& job) {
  const graph::Graph& graph = job.graph;
  const std::vector<std::uint32_t> iterationOf =
      replay::iterationOfNodes(graph, replay::jobIterations(job));
  const auto moves = [&](graph::NodeIndex node) {
    return graph.lanes[graph.lane[node]].background == graph::Background::Transfers;
  };
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node) {
    const graph::Lane& to = graph.lanes[graph.lane[node]];
    if (iterationOf[node] == replay::kNoIteration || to.rank < 0 || moves(node))
      continue;
    for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
      const graph::Lane& from = graph.lanes[graph.lane[graph.from[edge]]];
      if (from.rank >= 0 && from.rank != to.rank && !moves(graph.from[edge]))
        return notDataParallel(fmt::format(
            "rank {} waits for messages of rank {} outside of collectives", to.rank, from.rank));
    }
  }
  return {};
}

Result<void> retimeFor(Asking& asking,
                       const std::vector<JobCollective>& all,
                       std::int64_t now,
                       std::int64_t then) {
  const Networks networks(asking.scenario, all, asking.models.collectives);
  double error = 0;
  double total = 0;
  SONDE_TRY_ASSIGN(const std::int64_t kept,
                   retime(asking.scenario, all, [&](const MovedBytes& each) {
                     std::optional<double> ns;
                     const NetworkModel* model = networks.find(each.communicator, each.op);
                     if (model == nullptr || each.ranks != now)
                       return ns;
                     ns = model->ns(costOf(each.op, each.bytes, then)) * each.callFactor;
                     const double before = model->ns(costOf(each.op, each.bytes, now));
                     if (each.presentNs && before > 0)
                       *ns *= *each.presentNs / before;
                     error += *ns * model->error;
                     total += *ns;
                     return ns;
                   }));
  if (kept > 0)
    asking.notes.push_back(fmt::format(
        "{} collectives keep their times, since the trace lacks some of their ranks", kept));
  if (total > 0)
    asking.modelError = std::max(asking.modelError, error / total);
  std::set<std::string> notes;
  for (const auto& [key, model] : networks.all())
    notes.insert(fmt::format("communicator {}: {}, on {} ranks too",
                             key.first,
                             networks.describe(key.first, key.second),
                             then));
  asking.notes.insert(asking.notes.end(), notes.begin(), notes.end());
  return {};
}

Result<void> change(Asking& asking, const Ranks& of) {
  Scenario& scenario = asking.scenario;
  const std::vector<std::int64_t> now = ranksOf(scenario.job());
  const auto count = static_cast<std::int64_t>(now.size());
  if (now.empty())
    return notFound("the trace has no iterations of ranks");
  SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                   readCollectives(asking.trace, scenario.job()));
  SONDE_TRY(checkCollectives(all, scenario.job(), count));
  if (of.count == count && !of.processors) {
    asking.notes.push_back(fmt::format("the job has {} ranks now", count));
    return {};
  }
  SONDE_TRY(retimeFor(asking, all, count, of.count));
  if (of.batch == Batch::Global)
    SONDE_TRY(shareBatch(asking, static_cast<double>(count) / static_cast<double>(of.count)));
  SONDE_TRY(checkMessages(scenario.job()));
  SONDE_TRY_ASSIGN(const Processors processors,
                   readProcessors(asking.trace, scenario.job(), now, of.count, of.processors));
  return shareProcessors(now, all, processors, asking);
}

}  // namespace

Question ranks(Ranks of) {
  return [of](Asking& asking) -> Result<void> {
    if (of.count < 1 || of.count > kMostRanks)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a job has 1 to {} ranks, not {}", kMostRanks, of.count)};
    if (of.processors && *of.processors < 1)
      return Error{ErrorCode::InvalidArgument, "a host has at least one processor"};
    if (asking.scenario.setting().ranks)
      return Error{ErrorCode::InvalidArgument, "the number of ranks can be asked for once"};
    asking.scenario.setting().ranks = of.count;
    asking.afterwards.emplace_back([of](Asking& at) { return change(at, of); });
    return {};
  };
}

}  // namespace sonde::engine::whatif
