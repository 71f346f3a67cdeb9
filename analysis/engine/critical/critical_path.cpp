#include "analysis/engine/critical/critical_path.h"

#include <algorithm>
#include <limits>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::NodeIndex;

class Walk {
 public:
  Walk(const Graph& graph, const Times& times, std::int64_t fromNs)
      : graph_(graph), times_(times), from_(fromNs) {}

  std::vector<Element> back(NodeIndex node, std::int64_t untilNs) {
    until_ = untilNs;
    add(node, Cause::Gap, 0, times_.beginNs[node] + times_.durNs[node]);
    while (until_ > from_ && node != graph::kNoNode)
      node = pass(node);
    if (!path_.empty() && until_ > from_)
      add(path_.back().node, Cause::Gap, 0, from_);
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  // Adds the node and what delayed it. Returns the need that it waited for.
  NodeIndex pass(NodeIndex node) {
    add(node, Cause::Node, 0, times_.beginNs[node]);
    const std::uint32_t by = latestNeed(graph_, times_, node);
    if (by == kNoEdge)
      return graph::kNoNode;
    const NodeIndex binding = graph_.from[by];
    const std::int64_t end = times_.beginNs[binding] + times_.durNs[binding];
    add(node, Cause::Gap, 0, end + graph_.lagNs[by]);
    add(node, Cause::Lag, by, end);
    return binding;
  }

  // Extends the path back to `begin`, if that is earlier than what it has.
  void add(NodeIndex node, Cause cause, std::uint32_t edge, std::int64_t begin) {
    begin = std::max(begin, from_);
    if (begin >= until_)
      return;
    path_.push_back({node, cause, edge, begin, until_});
    until_ = begin;
  }

  const Graph& graph_;
  const Times& times_;
  std::int64_t from_;
  std::int64_t until_ = 0;
  std::vector<Element> path_;  // backwards
};

}  // namespace

std::uint32_t latestNeed(const Graph& graph, const Times& times, NodeIndex node) {
  std::uint32_t latest = kNoEdge;
  std::int64_t ready = std::numeric_limits<std::int64_t>::min();
  for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
    const NodeIndex from = graph.from[edge];
    const std::int64_t end = times.beginNs[from] + times.durNs[from] + graph.lagNs[edge];
    if (end > ready) {
      ready = end;
      latest = edge;
    }
  }
  return latest;
}

std::vector<Element> criticalPath(const Graph& graph,
                                  const Times& times,
                                  NodeIndex last,
                                  std::int64_t fromNs) {
  return criticalPathTo(graph, times, last, fromNs, times.beginNs[last] + times.durNs[last]);
}

std::vector<Element> criticalPathTo(const Graph& graph,
                                    const Times& times,
                                    NodeIndex last,
                                    std::int64_t fromNs,
                                    std::int64_t untilNs) {
  return Walk(graph, times, fromNs).back(last, untilNs);
}

}  // namespace sonde::engine::critical
