#include "analysis/engine/replay/structures.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/critical/node_content.h"
#include "analysis/store/read_rows.h"

#include <map>
#include <unordered_map>
#include <utility>

namespace sonde::engine::replay {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::LaneKind;
using graph::NodeIndex;
using graph::NodeKind;

struct Annotation {
  std::int64_t threadId = 0;
  std::int64_t nameId = 0;
  std::int64_t startNs = 0;

  SONDE_COLUMNS(threadId, nameId, startNs)
};

constexpr const char* kAnnotations =
    "SELECT thread_id, name_id, start_ns FROM slice WHERE kind IN ('phase', 'operation', "
    "'micro_step', 'forward', 'backward', 'optimizer', 'evaluation', 'checkpoint') ORDER BY "
    "thread_id, start_ns, depth, id";

// A sequence of numbers as one number: FNV-1a.
class Sequence {
 public:
  void add(std::int64_t value) {
    hash_ ^= static_cast<std::uint64_t>(value);
    hash_ *= 0x100000001b3ULL;
  }
  std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

class Collector {
 public:
  Collector(const Graph& graph,
            const std::vector<JobIteration>& iterations,
            const std::vector<std::uint32_t>& iterationOf)
      : graph_(graph), iterations_(iterations), iterationOf_(iterationOf) {}

  void addNodes(const std::vector<std::int64_t>& names) {
    for (NodeIndex node = 0; node < graph_.nodes(); ++node) {
      const bool isWork =
          graph_.kind[node] == NodeKind::Kernel || graph_.kind[node] == NodeKind::Copy;
      if (isWork)
        add(launchedIn(node), graph_.lane[node], names[node]);
      if (graph_.kind[node] == NodeKind::Meeting)
        addArrivals(node);
    }
  }

  Result<void> addAnnotations(const store::Database& trace) {
    SONDE_TRY_ASSIGN(const align::JobClock clock, align::JobClock::read(trace));
    const IterationWindows windows(graph_, iterations_);
    std::unordered_map<std::int64_t, LaneIndex> threads;
    for (LaneIndex lane = 0; lane < graph_.lanes.size(); ++lane)
      if (graph_.lanes[lane].kind == LaneKind::Thread)
        threads.emplace(graph_.lanes[lane].id, lane);
    return store::forEach<Annotation>(trace, kAnnotations, [&](const Annotation& row) {
      const auto thread = threads.find(row.threadId);
      if (thread == threads.end())
        return;
      const graph::Lane& lane = graph_.lanes[thread->second];
      add(windows.at(lane, clock.toJob(lane.hostId, row.startNs)), thread->second, row.nameId);
    });
  }

  std::vector<std::uint32_t> groups() const {
    std::vector<Sequence> whole(iterations_.size());
    for (const auto& [place, sequence] : sequences_) {
      whole[place.first].add(place.second);
      whole[place.first].add(static_cast<std::int64_t>(sequence.value()));
    }
    for (const auto& [place, count] : arrivals_) {
      whole[place.first].add(place.second);
      whole[place.first].add(count);
    }
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> groups;
    groups.reserve(whole.size());
    for (const Sequence& each : whole)
      groups.push_back(
          numbers.emplace(each.value(), static_cast<std::uint32_t>(numbers.size())).first->second);
    return groups;
  }

 private:
  using Place = std::pair<std::uint32_t, LaneIndex>;  // iteration, lane

  void add(std::uint32_t iteration, LaneIndex lane, std::int64_t value) {
    if (iteration != kNoIteration)
      sequences_[{iteration, lane}].add(value);
  }
  // A device may do its work when the next iteration has begun.
  std::uint32_t launchedIn(NodeIndex node) const {
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
      if (graph_.edgeKind[edge] == EdgeKind::Launch)
        return iterationOf_[graph_.from[edge]];
    return iterationOf_[node];
  }
  void addArrivals(NodeIndex meeting) {
    for (std::uint32_t edge = graph_.firstIn[meeting]; edge < graph_.firstIn[meeting + 1]; ++edge) {
      const NodeIndex from = graph_.from[edge];
      if (graph_.lanes[graph_.lane[from]].kind == LaneKind::Thread &&
          iterationOf_[from] != kNoIteration)
        ++arrivals_[{iterationOf_[from], graph_.lanes[graph_.lane[from]].processId}];
    }
  }

  const Graph& graph_;
  const std::vector<JobIteration>& iterations_;
  const std::vector<std::uint32_t>& iterationOf_;
  std::map<Place, Sequence> sequences_;
  // By iteration and process: which of its threads comes to a collective may be chance.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> arrivals_;
};

}  // namespace

Result<std::vector<std::uint32_t>> structuresOf(const store::Database& trace,
                                                const Graph& graph,
                                                const std::vector<JobIteration>& iterations,
                                                const std::vector<std::uint32_t>& iterationOf) {
  Collector collector(graph, iterations, iterationOf);
  SONDE_TRY_ASSIGN(const std::vector<std::int64_t> names, critical::nameIdsOf(trace, graph));
  collector.addNodes(names);
  SONDE_TRY(collector.addAnnotations(trace));
  return collector.groups();
}

}  // namespace sonde::engine::replay
