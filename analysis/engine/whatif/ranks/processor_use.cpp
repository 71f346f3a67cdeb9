#include "analysis/engine/whatif/ranks/processor_use.h"

#include <algorithm>

namespace sonde::engine::whatif {

using graph::Graph;
using graph::NodeIndex;

ThreadSpans callsOf(const std::vector<JobCollective>& all) {
  ThreadSpans calls;
  for (const JobCollective& each : all)
    if (!each.isOnDevice)
      for (const CollectivePart& part : each.parts)
        calls.add(part.lane, {part.beginNs, part.endNs});
  calls.join();
  return calls;
}

std::vector<Busy> busyTimes(const Graph& graph, const ThreadSpans& calls, bool movesData) {
  std::vector<Busy> found;
  const auto add = [&](NodeIndex node, std::int64_t begin, std::int64_t end, bool isTransfer) {
    if (begin < end && (movesData || !isTransfer))
      found.push_back({node, begin, end, isTransfer});
  };
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const graph::Lane& lane = graph.lanes[graph.lane[node]];
    if (lane.kind != graph::LaneKind::Thread || lane.rank < 0)
      continue;
    std::int64_t at = graph.beginNs[node];
    const std::int64_t end = graph.endNs(node);
    if (lane.background == graph::Background::Transfers) {
      add(node, at, end, true);
      continue;
    }
    const std::vector<Span>& spans = calls.of(graph.lane[node]);
    auto span =
        std::upper_bound(spans.begin(), spans.end(), at, [](std::int64_t ns, const Span& each) {
          return ns < each.endNs;
        });
    for (; span != spans.end() && span->beginNs < end; ++span) {
      add(node, at, span->beginNs, false);
      add(node, std::max(at, span->beginNs), std::min(end, span->endNs), true);
      at = span->endNs;
    }
    add(node, at, end, false);
  }
  return found;
}

void ProcessorUse::add(const Busy& busy) {
  changes_.emplace_back(busy.beginNs, 1);
  changes_.emplace_back(busy.endNs, -1);
}

void ProcessorUse::complete() {
  std::sort(changes_.begin(), changes_.end());
  std::int64_t active = 0;
  for (const auto& [ns, by] : changes_) {
    Sums sums = until(ns);
    active += by;
    const bool isShared = processors_ > 0 && active > processors_;
    sums.share = isShared ? static_cast<double>(processors_) / static_cast<double>(active) : 1;
    sums.isFree = processors_ == 0 || active < processors_;
    sums_.push_back(sums);
    most_ = std::max(most_, active);
  }
}

ProcessorUse::Sums ProcessorUse::until(std::int64_t ns) const {
  const auto after =
      std::upper_bound(sums_.begin(), sums_.end(), ns, [](std::int64_t at, const Sums& each) {
        return at < each.ns;
      });
  if (after == sums_.begin())
    return {.ns = ns};
  Sums sums = *(after - 1);
  const auto passed = static_cast<double>(ns - sums.ns);
  sums.ns = ns;
  sums.hadNs += sums.share * passed;
  sums.freeNs += sums.isFree ? passed : 0;
  return sums;
}

}  // namespace sonde::engine::whatif
