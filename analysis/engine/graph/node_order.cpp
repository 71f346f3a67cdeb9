#include "analysis/engine/graph/node_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sonde::engine::graph {
namespace {

// Kahn's algorithm.
class NodeOrder {
 public:
  explicit NodeOrder(Graph& graph)
      : graph_(graph), next_(successorsOf(graph)), missing_(graph.nodes()) {}

  Result<std::vector<std::uint32_t>> find() {
    graph_.order.clear();
    graph_.order.reserve(graph_.nodes());
    for (auto node = static_cast<NodeIndex>(graph_.nodes()); node-- > 0;) {
      missing_[node] = graph_.firstIn[node + 1] - graph_.firstIn[node];
      if (missing_[node] == 0)
        ready_.push_back(node);
    }
    appendReady();
    while (graph_.order.size() < graph_.nodes() && breakCircle())
      appendReady();
    if (graph_.order.size() < graph_.nodes())
      return circleError();
    return std::move(dropped_);
  }

 private:
  // Appends the ready nodes, and all that become ready.
  void appendReady() {
    while (!ready_.empty()) {
      const NodeIndex node = ready_.back();
      ready_.pop_back();
      graph_.order.push_back(node);
      for (std::uint32_t i = next_.firstOut[node + 1]; i-- > next_.firstOut[node];) {
        const bool isDropped = graph_.from[next_.edge[i]] == kNoNode;
        if (!isDropped && --missing_[next_.to[i]] == 0)
          ready_.push_back(next_.to[i]);
      }
    }
  }

  // Drops the needs of the earliest node that waits for instants at its own time. False: there is
  // none.
  bool breakCircle() {
    NodeIndex earliest = kNoNode;
    for (NodeIndex node = 0; node < graph_.nodes(); ++node)
      if (missing_[node] > 0 &&
          (earliest == kNoNode || graph_.beginNs[node] < graph_.beginNs[earliest]))
        earliest = node;
    for (std::uint32_t i = graph_.firstIn[earliest]; i < graph_.firstIn[earliest + 1]; ++i) {
      const NodeIndex from = graph_.from[i];
      if (from == kNoNode || missing_[from] == 0)
        continue;
      if (graph_.durNs[from] > 0 || graph_.beginNs[from] != graph_.beginNs[earliest])
        return false;
      graph_.from[i] = kNoNode;
      dropped_.push_back(i);
      --missing_[earliest];
    }
    if (missing_[earliest] > 0)
      return false;
    ready_.push_back(earliest);
    return true;
  }

  Error circleError() const {
    const auto stuck = std::find_if(missing_.begin(), missing_.end(), [](auto n) { return n > 0; });
    const auto node = static_cast<NodeIndex>(stuck - missing_.begin());
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the trace contradicts itself: {} parts of it need each other in a "
                             "circle; one of them begins at {} ns on rank {}. If its ranks ran on "
                             "several machines, align their clocks first (sonde align)",
                             graph_.nodes() - graph_.order.size(),
                             graph_.beginNs[node],
                             graph_.lanes[graph_.lane[node]].rank)};
  }

  Graph& graph_;
  const Successors next_;
  std::vector<std::uint32_t> missing_;  // needs without a place yet, by node
  std::vector<NodeIndex> ready_;
  std::vector<std::uint32_t> dropped_;
};

// Depth-first along needs, from the nodes in their old order: that needs no successors.
class OldOrder {
 public:
  explicit OldOrder(const Graph& graph) : graph_(graph), states_(graph.nodes(), State::New) {
    order_.reserve(graph.nodes());
  }

  // False: there is a circle.
  bool find() {
    for (const NodeIndex node : graph_.order)
      if (!place(node))
        return false;
    for (auto node = static_cast<NodeIndex>(graph_.order.size()); node < graph_.nodes(); ++node)
      if (!place(node))
        return false;
    return true;
  }

  std::vector<NodeIndex> take() { return std::move(order_); }

 private:
  enum class State : std::uint8_t { New, Waits, Placed };

  struct Waiting {
    NodeIndex node;
    std::uint32_t next;  // edge to look at
  };

  bool place(NodeIndex root) {
    if (states_[root] == State::Placed)
      return true;
    begin(root);
    while (!waiting_.empty()) {
      Waiting& top = waiting_.back();
      if (top.next == graph_.firstIn[top.node + 1]) {
        states_[top.node] = State::Placed;
        order_.push_back(top.node);
        waiting_.pop_back();
        continue;
      }
      const NodeIndex from = graph_.from[top.next++];
      if (states_[from] == State::Waits)
        return false;
      if (states_[from] == State::New)
        begin(from);
    }
    return true;
  }

  void begin(NodeIndex node) {
    states_[node] = State::Waits;
    waiting_.push_back({node, graph_.firstIn[node]});
  }

  const Graph& graph_;
  std::vector<State> states_;
  std::vector<Waiting> waiting_;
  std::vector<NodeIndex> order_;
};

}  // namespace

Result<std::vector<std::uint32_t>> orderNodes(Graph& graph) {
  return NodeOrder(graph).find();
}

Result<std::vector<std::uint32_t>> reorderNodes(Graph& graph) {
  OldOrder order(graph);
  if (!order.find())
    return orderNodes(graph);
  graph.order = order.take();
  return std::vector<std::uint32_t>();
}

void removeEdges(Graph& graph) {
  std::uint32_t kept = 0;
  std::uint32_t edge = 0;
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const std::uint32_t last = graph.firstIn[node + 1];
    graph.firstIn[node] = kept;
    for (; edge < last; ++edge)
      if (graph.from[edge] != kNoNode) {
        graph.from[kept] = graph.from[edge];
        graph.lagNs[kept] = graph.lagNs[edge];
        graph.edgeKind[kept++] = graph.edgeKind[edge];
      }
  }
  graph.firstIn.back() = kept;
  graph.from.resize(kept);
  graph.lagNs.resize(kept);
  graph.edgeKind.resize(kept);
}

}  // namespace sonde::engine::graph
