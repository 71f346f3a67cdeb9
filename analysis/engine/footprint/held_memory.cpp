#include "analysis/engine/footprint/held_memory.h"

#include "analysis/engine/footprint/moved_times.h"
#include "analysis/engine/memory/memory_use.h"
#include "analysis/model/times.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace sonde::engine::footprint {
namespace {

using metrics::MemoryBlock;
using metrics::MemoryLevel;

class Replayed {
 public:
  Replayed(const graph::TraceGraph& trace,
           const align::JobClock& clock,
           const critical::Times& times)
      : trace_(trace), clock_(clock), moved_(trace.graph, times) {
    for (const graph::IterationNodes& each : trace.iterations)
      drivers_.emplace(each.processId, trace.graph.lanes[trace.graph.lane[each.first]].id);
    for (const graph::Lane& lane : trace.graph.lanes) {
      hosts_.emplace(lane.processId, lane.hostId);
      if (lane.kind == graph::LaneKind::Thread)
        drivers_.emplace(lane.processId, lane.id);
    }
  }

  HeldMemory held(const metrics::MemoryPlace& place, const metrics::MemoryLog& log) const {
    std::vector<MemoryBlock> blocks = log.blocks;
    for (MemoryBlock& block : blocks)
      move(place.processId, block);
    const std::vector<MemoryLevel> levels = metrics::levelsOf(blocks, log.baseBytes);
    HeldMemory found;
    found.place = place;
    found.baseBytes = log.baseBytes;
    found.peak = metrics::peakOf(levels);
    found.series = metrics::thinned(levels, metrics::kMemoryStretches);
    for (std::size_t at = 0; at < blocks.size(); ++at)
      if (blocks[at].allocNs == found.peak.ns)
        nameAllocation(log.blocks[at], found);
    return found;
  }

 private:
  std::int64_t jobNs(std::int64_t process, std::int64_t ns) const {
    const auto host = hosts_.find(process);
    return host == hosts_.end() ? ns : clock_.toJob(host->second, ns);
  }

  // An unknown thread counts as the one that drives the process.
  std::int64_t threadOf(std::int64_t process, std::int64_t thread) const {
    const auto driver = drivers_.find(process);
    return thread != 0 || driver == drivers_.end() ? thread : driver->second;
  }

  void move(std::int64_t process, MemoryBlock& block) const {
    const std::int64_t by = threadOf(process, block.allocThreadId);
    const std::int64_t freedBy = block.freeThreadId != 0 ? block.freeThreadId : by;
    if (model::isTime(block.allocNs))
      block.allocNs += moved_.shiftOf(by, jobNs(process, block.allocNs));
    if (block.freeNs && model::isTime(*block.freeNs))
      *block.freeNs += moved_.shiftOf(freedBy, jobNs(process, *block.freeNs));
  }

  void nameAllocation(const MemoryBlock& block, HeldMemory& found) const {
    const graph::Graph& graph = trace_.graph;
    const std::int64_t ns = jobNs(found.place.processId, block.allocNs);
    found.scopeId = block.scopeId;
    found.node = moved_.nodeAt(threadOf(found.place.processId, block.allocThreadId), ns);
    found.iteration.reset();
    for (const graph::IterationNodes& each : trace_.iterations)
      if (each.processId == found.place.processId && graph.beginNs[each.first] <= ns &&
          ns < graph.endNs(each.last))
        found.iteration = each.number;
  }

  const graph::TraceGraph& trace_;
  const align::JobClock& clock_;
  MovedTimes moved_;
  std::unordered_map<std::int64_t, std::int64_t> hosts_;    // by process
  std::unordered_map<std::int64_t, std::int64_t> drivers_;  // by process: a thread
};

}  // namespace

std::vector<HeldMemory> heldMemory(const metrics::MemoryLogs& logs,
                                   const graph::TraceGraph& trace,
                                   const align::JobClock& clock,
                                   const critical::Times& times) {
  const Replayed replayed(trace, clock, times);
  std::vector<HeldMemory> all;
  for (const auto& [place, log] : logs)
    if (!log.blocks.empty())
      all.push_back(replayed.held(place, log));
  return all;
}

}  // namespace sonde::engine::footprint
