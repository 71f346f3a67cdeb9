#include "analysis/engine/critical/second_path.h"

#include <queue>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sonde::engine::critical {
namespace {

using graph::Graph;
using graph::NodeIndex;

class Search {
 public:
  Search(const Graph& graph, const Times& times, std::int64_t fromNs)
      : graph_(graph), times_(times), from_(fromNs) {}

  std::optional<SecondPath> find(NodeIndex last) {
    std::vector<NodeIndex> path;
    for (NodeIndex node = last; node != graph::kNoNode && endNs(node) > from_;
         node = needOf(node)) {
      path.push_back(node);
      first_.insert(node);
    }
    for (const NodeIndex node : path)
      leave(node, 0);
    while (!open_.empty()) {
      const auto [behind, node] = open_.top();
      open_.pop();
      if (!seen_.insert(node).second)
        continue;
      if (const auto longest = detourFrom(node))
        return SecondPath{behind, elementOf(*longest)};
      // Only instants so far, and the way on is the critical path: leave it at one of these.
      leave(node, behind);
    }
    return std::nullopt;
  }

 private:
  std::int64_t endNs(NodeIndex node) const { return times_.beginNs[node] + times_.durNs[node]; }
  std::int64_t readyNs(std::uint32_t edge) const {
    return endNs(graph_.from[edge]) + graph_.lagNs[edge];
  }
  // kNoEdge: the stretch begins in the node.
  std::uint32_t latestOf(NodeIndex node) const {
    return times_.beginNs[node] > from_ ? latestNeed(graph_, times_, node) : kNoEdge;
  }
  NodeIndex needOf(NodeIndex node) const {
    const std::uint32_t edge = latestOf(node);
    return edge == kNoEdge ? graph::kNoNode : graph_.from[edge];
  }
  Element elementOf(NodeIndex node) const {
    return {node, Cause::Node, 0, std::max(times_.beginNs[node], from_), endNs(node)};
  }

  // Opens the needs of a node that are not on the critical path and did not end before the stretch.
  void leave(NodeIndex node, std::int64_t behind) {
    const std::uint32_t latest = latestOf(node);
    if (latest == kNoEdge)
      return;
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge)
      if (const NodeIndex from = graph_.from[edge]; endNs(from) > from_ && !first_.contains(from))
        open_.emplace(behind + readyNs(latest) - readyNs(edge), from);
  }

  // The longest node with a length on the way from here back to the critical path or the begin of
  // the stretch.
  std::optional<NodeIndex> detourFrom(NodeIndex node) const {
    std::optional<NodeIndex> longest;
    const auto lengthNs = [&](NodeIndex of) {
      return endNs(of) - std::max(times_.beginNs[of], from_);
    };
    for (; node != graph::kNoNode && endNs(node) > from_ && !first_.contains(node);
         node = needOf(node))
      if (times_.durNs[node] > 0 && (!longest || lengthNs(node) > lengthNs(*longest)))
        longest = node;
    return longest;
  }

  const Graph& graph_;
  const Times& times_;
  std::int64_t from_;
  std::unordered_set<NodeIndex> first_;  // the critical path, with its instants
  std::unordered_set<NodeIndex> seen_;
  using Open = std::pair<std::int64_t, NodeIndex>;  // behind by, and the next node back
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

std::optional<SecondPath> secondPath(const Graph& graph,
                                     const Times& times,
                                     NodeIndex last,
                                     std::int64_t fromNs) {
  return Search(graph, times, fromNs).find(last);
}

}  // namespace sonde::engine::critical
