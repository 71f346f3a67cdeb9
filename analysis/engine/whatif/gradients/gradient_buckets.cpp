#include "analysis/engine/whatif/gradients/gradient_buckets.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::kNoNode;
using graph::NodeIndex;

constexpr double kMostInForward = 0.1;  // of the bytes of gradients, as of batch norms
constexpr std::int64_t kLeastBytes = 4096;

struct Fact {
  std::string text;

  SONDE_COLUMNS(text)
};

bool isReduction(const JobCollective& each) {
  return (each.op == "allreduce" || each.op == "reducescatter") && each.isComplete() &&
         each.bytes >= kLeastBytes;
}

// The latest need of a node among edges of other lanes that `isWanted`.
template <typename Wanted>
NodeIndex latestNeed(const Graph& graph, NodeIndex node, Wanted isWanted) {
  NodeIndex latest = kNoNode;
  for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
    const NodeIndex from = graph.from[edge];
    if (graph.edgeKind[edge] != EdgeKind::Order && isWanted(edge) &&
        (latest == kNoNode || graph.endNs(from) > graph.endNs(latest)))
      latest = from;
  }
  return latest;
}

struct PassRow {
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  std::int64_t startNs = 0;
  bool isBackward = false;

  SONDE_COLUMNS(processId, hostId, startNs, isBackward)
};

constexpr const char* kPassBegins =
    "SELECT t.process_id, p.host_id, s.start_ns, s.kind = 'backward' OR n.text = 'backward' AS "
    "is_backward FROM slice s JOIN string n ON n.id = s.name_id JOIN thread t ON t.id = "
    "s.thread_id JOIN process p ON p.id = t.process_id WHERE s.kind IN ('forward', 'backward') OR "
    "(s.kind IN ('phase', 'operation') AND n.text IN ('forward', 'backward'))";

// When the passes of a process begin, ascending.
struct PassBegins {
  std::vector<std::int64_t> forward;
  std::vector<std::int64_t> backward;
};
using PassTimes = std::map<std::int64_t, PassBegins>;  // by process

Result<PassTimes> readPassBegins(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
  PassTimes found;
  SONDE_TRY(store::forEach<PassRow>(trace, kPassBegins, [&](const PassRow& row) {
    PassBegins& of = found[row.processId];
    (row.isBackward ? of.backward : of.forward).push_back(clock.toJob(row.hostId, row.startNs));
  }));
  for (auto& [process, of] : found) {
    std::sort(of.forward.begin(), of.forward.end());
    std::sort(of.backward.begin(), of.backward.end());
  }
  return found;
}

// The last one by then; nullopt: none.
std::optional<std::int64_t> lastBy(const std::vector<std::int64_t>& begins, std::int64_t ns) {
  const auto after = std::upper_bound(begins.begin(), begins.end(), ns);
  return after == begins.begin() ? std::nullopt : std::optional(*(after - 1));
}

// The first rank asked for it in its forward pass, as tensor-parallel layers do.
bool isOfForward(const graph::Graph& graph, const PassTimes& passes, const JobCollective& each) {
  const CollectivePart& part = each.parts.front();
  const auto of = passes.find(graph.lanes[part.lane].processId);
  if (of == passes.end())
    return false;
  const auto forward = lastBy(of->second.forward, part.callNs);
  const auto backward = lastBy(of->second.backward, part.callNs);
  return forward && (!backward || *forward > *backward);
}

// The communicator that reduces most, of those that reduce hardly anything in forward passes.
std::string communicatorOfGradients(const graph::Graph& graph,
                                    const PassTimes& passes,
                                    const std::vector<JobCollective>& all) {
  struct Bytes {
    double all = 0;
    double inForward = 0;
  };
  std::map<std::string, Bytes> bytes;
  for (const JobCollective& each : all)
    if (isReduction(each)) {
      Bytes& of = bytes[each.communicator];
      of.all += static_cast<double>(each.bytes);
      if (isOfForward(graph, passes, each))
        of.inForward += static_cast<double>(each.bytes);
    }
  std::string most;
  for (const auto& [communicator, of] : bytes)
    if (of.inForward <= kMostInForward * of.all && (most.empty() || of.all > bytes[most].all))
      most = communicator;
  return most;
}

// Finds when the gradients of one rank are ready.
class ReadyFinder {
 public:
  ReadyFinder(const Graph& graph, const PassTimes& passes, const TransferEdits& edits)
      : graph_(graph), passes_(passes), edits_(edits) {}

  // The points of the part with this index of each bucket; empty: nothing is known.
  std::vector<ReadyPoint> points(const std::vector<const JobCollective*>& buckets,
                                 std::size_t part) const {
    std::vector<ReadyPoint> found;
    std::int64_t bytes = 0;
    for (const JobCollective* each : buckets) {
      bytes += each->bytes;
      const auto ready = of(*each, each->parts[part]);
      const bool isLater = found.empty() || (ready && ready->ns > found.back().ns &&
                                             ready->lane == found.back().lane);
      if (ready && isLater)
        found.push_back({bytes, ready->lane, ready->ns});
    }
    if (found.empty())
      return found;
    if (found.back().bytes < bytes)
      found.push_back({bytes, found.back().lane, endOf(found.back(), *buckets.back(), part)});
    found.insert(found.begin(), beginOf(found));
    return found;
  }

 private:
  // A stream's kernel was told to wait for the gradients; a thread's call follows the thread that
  // computed them. nullopt: the call was queued behind another one.
  std::optional<ReadyPoint> of(const JobCollective& collective, const CollectivePart& part) const {
    const auto [begin, end] = edits_.lookup().rangeOf(part.lane);
    const NodeIndex first = edits_.lookup().beginsFrom(part.lane, part.beginNs);
    if (first >= end)
      return std::nullopt;
    const auto isWanted = [&](std::uint32_t edge) {
      return collective.isOnDevice ? graph_.edgeKind[edge] == EdgeKind::StreamWait
                                   : !edits_.isOfTransfer(edge);
    };
    NodeIndex need = latestNeed(graph_, first, isWanted);
    const bool isInside = first > begin && graph_.endNs(first - 1) > part.beginNs;
    if (need == kNoNode && isInside && !collective.isOnDevice)
      need = latestNeed(graph_, first - 1, isWanted);
    if (need == kNoNode)
      return std::nullopt;
    return ReadyPoint{0, graph_.lane[need], graph_.endNs(need)};
  }

  // The lane has computed all gradients when it begins to wait for their reduction.
  std::int64_t endOf(const ReadyPoint& last,
                     const JobCollective& collective,
                     std::size_t part) const {
    const auto [begin, end] = edits_.lookup().rangeOf(last.lane);
    const std::int64_t process = graph_.lanes[last.lane].processId;
    for (NodeIndex node = edits_.lookup().beginsFrom(last.lane, last.ns); node < end; ++node) {
      const NodeIndex need = latestNeed(graph_, node, [&](std::uint32_t edge) {
        const graph::Lane& of = graph_.lanes[graph_.lane[graph_.from[edge]]];
        return of.processId == process && graph_.lane[graph_.from[edge]] != last.lane;
      });
      if (need != kNoNode)
        return std::max(last.ns, graph_.endNs(node - 1));
    }
    return std::max(last.ns, collective.parts[part].beginNs);
  }

  bool isLaunchedAfter(NodeIndex node, std::int64_t ns) const {
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
      if (graph_.edgeKind[edge] == EdgeKind::Launch && graph_.endNs(graph_.from[edge]) > ns)
        return true;
    return false;
  }

  // The begin of the backward pass. On a stream that is the first kernel launched in the pass, as
  // the stream may still be busy with earlier work. If the trace lacks passes, the first bucket
  // took as long for each byte as the others.
  ReadyPoint beginOf(const std::vector<ReadyPoint>& known) const {
    const ReadyPoint& first = known.front();
    const graph::Lane& lane = graph_.lanes[first.lane];
    const auto passes = passes_.find(lane.processId);
    if (passes != passes_.end()) {
      const std::vector<std::int64_t>& begins = passes->second.backward;
      const auto after = std::lower_bound(begins.begin(), begins.end(), first.ns);
      const bool isKnown = after != begins.begin();
      if (isKnown && lane.kind != graph::LaneKind::Stream)
        return {0, first.lane, *(after - 1)};
      if (isKnown)
        for (NodeIndex node = edits_.lookup().beginsFrom(first.lane, *(after - 1));
             node < edits_.lookup().rangeOf(first.lane).second && graph_.beginNs[node] < first.ns;
             ++node)
          if (isLaunchedAfter(node, *(after - 1)))
            return {0, first.lane, graph_.beginNs[node]};
    }
    const ReadyPoint& last = known.back();
    if (last.bytes == first.bytes)
      return {0, first.lane, first.ns};
    const double perByte =
        static_cast<double>(last.ns - first.ns) / static_cast<double>(last.bytes - first.bytes);
    return {0,
            first.lane,
            first.ns - static_cast<std::int64_t>(perByte * static_cast<double>(first.bytes))};
  }

  const Graph& graph_;
  const PassTimes& passes_;
  const TransferEdits& edits_;
};

}  // namespace

std::int64_t IterationBuckets::bytes() const noexcept {
  std::int64_t sum = 0;
  for (const JobCollective* each : buckets)
    sum += each->bytes;
  return sum;
}

ReadyPoint readyAt(const std::vector<ReadyPoint>& points, std::int64_t bytes) {
  const auto after = std::lower_bound(
      points.begin() + 1, points.end() - 1, bytes, [](const ReadyPoint& each, std::int64_t of) {
        return each.bytes < of;
      });
  const ReadyPoint& before = *(after - 1);
  const double share =
      static_cast<double>(bytes - before.bytes) / static_cast<double>(after->bytes - before.bytes);
  const double passed = std::min(share, 1.0) * static_cast<double>(after->ns - before.ns);
  return {bytes, after->lane, before.ns + static_cast<std::int64_t>(passed)};
}

Result<std::vector<IterationBuckets>> bucketsOf(const store::Database& trace,
                                                const graph::TraceGraph& job,
                                                const std::vector<JobCollective>& all,
                                                const TransferEdits& edits) {
  SONDE_TRY_ASSIGN(const PassTimes passes, readPassBegins(trace));
  const ReadyFinder finder(job.graph, passes, edits);
  const std::string communicator = communicatorOfGradients(job.graph, passes, all);
  const std::vector<replay::JobIteration> iterations = replay::jobIterations(job);
  const replay::IterationWindows windows(job.graph, iterations);
  std::map<std::uint32_t, IterationBuckets> found;
  for (const JobCollective& each : all) {
    if (each.communicator != communicator || !isReduction(each))
      continue;
    const CollectivePart& part = each.parts.front();
    const std::uint32_t iteration = windows.at(job.graph.lanes[part.lane], part.beginNs);
    if (iteration != replay::kNoIteration)
      found[iteration].buckets.push_back(&each);
  }
  std::vector<IterationBuckets> list;
  for (auto& [iteration, each] : found) {
    for (std::size_t part = 0; part < each.buckets.front()->parts.size(); ++part)
      if (std::vector<ReadyPoint> points = finder.points(each.buckets, part); !points.empty())
        each.ready.push_back(std::move(points));
    if (each.ready.size() == each.buckets.front()->parts.size())
      list.push_back(std::move(each));
  }
  return list;
}

Result<void> checkMeasured(const std::vector<IterationBuckets>& iterations,
                           const TransferEdits& edits) {
  for (const IterationBuckets& each : iterations)
    for (const JobCollective* bucket : each.buckets)
      if (edits.isReplaced(*bucket))
        return Error{ErrorCode::InvalidArgument,
                     "an earlier question has changed how gradients are reduced: ask this one "
                     "first, and one such question at a time"};
  return {};
}

Result<GradientSizes> readGradientSizes(const store::Database& trace) {
  GradientSizes sizes;
  SONDE_TRY(store::forEach<Fact>(trace,
                                 "SELECT a.value AS text FROM arg a JOIN string k ON k.id = "
                                 "a.key_id WHERE a.owner = 'process' "
                                 "AND k.text = 'sonde.ddp' ORDER BY a.owner_id LIMIT 1",
                                 [&](const Fact& row) {
                                   std::istringstream text(row.text);
                                   text >> sizes.firstLimit >> sizes.limit;
                                   for (std::int64_t bytes = 0; text >> bytes;)
                                     sizes.bytes.push_back(bytes);
                                 }));
  return sizes;
}

}  // namespace sonde::engine::whatif
