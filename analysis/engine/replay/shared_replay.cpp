#include "analysis/engine/replay/shared_replay.h"

#include <queue>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

namespace sonde::engine::replay {
namespace {

using graph::Graph;
using graph::NodeIndex;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

// Nodes that wait for a resource, or use it.
struct Pool {
  // Higher priority first, then earlier, then the one that began earlier when measured.
  using Waiting = std::tuple<std::int32_t, std::int64_t, std::uint32_t, NodeIndex>;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
  std::uint32_t running = 0;
};

// The event heap. At one time, resources become free before nodes ask for them.
class Simulation {
 public:
  Simulation(const Graph& graph,
             const Settings& settings,
             const Resources& resources,
             const std::vector<std::int64_t>& dispatchNs)
      : graph_(graph),
        settings_(settings),
        lagNs_(settings.lagNs == nullptr ? graph.lagNs : *settings.lagNs),
        resources_(resources),
        dispatchNs_(dispatchNs),
        next_(successorsOf(graph)),
        pools_(resources.all.size()),
        begin_(graph.nodes(), kNever),
        dur_(settings.durNs),
        left_(settings.durNs),
        ready_(graph.nodes(), kNever),
        missing_(graph.nodes()),
        rank_(graph.nodes()) {
    // Nodes that ask at the same time keep the order in which they began.
    std::vector<NodeIndex> byBegin(graph.nodes());
    std::iota(byBegin.begin(), byBegin.end(), NodeIndex{0});
    std::stable_sort(byBegin.begin(), byBegin.end(), [&](NodeIndex a, NodeIndex b) {
      return graph.beginNs[a] < graph.beginNs[b];
    });
    for (std::uint32_t i = 0; i < byBegin.size(); ++i)
      rank_[byBegin[i]] = i;
  }

  Times run() {
    for (NodeIndex node = 0; node < graph_.nodes(); ++node) {
      missing_[node] = graph_.firstIn[node + 1] - graph_.firstIn[node];
      if (missing_[node] == 0)
        events_.push({graph_.beginNs[node], kAsk, rank_[node], node});
    }
    while (!events_.empty()) {
      const auto [ns, what, rank, node] = events_.top();
      events_.pop();
      if (what == kAsk)
        ask(node, ns);
      else
        endTurn(node, ns);
    }
    return {std::move(begin_), std::move(dur_)};
  }

 private:
  static constexpr int kFree = 0;
  static constexpr int kAsk = 1;
  using Event = std::tuple<std::int64_t, int, std::uint32_t, NodeIndex>;

  std::uint32_t resourceOf(NodeIndex node) const {
    return resources_.ofNode.empty() ? kNoResource : resources_.ofNode[node];
  }

  void ask(NodeIndex node, std::int64_t ns) {
    const std::uint32_t resource = resourceOf(node);
    if (resource == kNoResource) {
      begin_[node] = ns;
      finish(node, ns + settings_.durNs[node]);
      return;
    }
    Pool& pool = pools_[resource];
    const Resource& of = resources_.all[resource];
    if (pool.running < of.capacity) {
      take(pool, node, ns);
      return;
    }
    enqueue(pool, of, node, ns);
  }

  void enqueue(Pool& pool, const Resource& of, NodeIndex node, std::int64_t ns) {
    const std::int32_t priority =
        of.discipline == Discipline::Priority && !resources_.priority.empty()
            ? resources_.priority[node]
            : 0;
    pool.waiting.push({-priority, ns, rank_[node], node});
  }

  void endTurn(NodeIndex node, std::int64_t ns) {
    Pool& pool = pools_[resources_.ofNode[node]];
    if (left_[node] > 0 && pool.waiting.empty()) {
      beginTurn(node, ns);
      return;
    }
    if (left_[node] > 0)
      enqueue(pool, resources_.all[resources_.ofNode[node]], node, ns);
    release(pool, ns);
  }

  void release(Pool& pool, std::int64_t ns) {
    --pool.running;
    if (pool.waiting.empty())
      return;
    const NodeIndex node = std::get<3>(pool.waiting.top());
    pool.waiting.pop();
    take(pool, node, ns + dispatchNs_[node]);
  }

  void take(Pool& pool, NodeIndex node, std::int64_t ns) {
    ++pool.running;
    if (begin_[node] == kNever)
      begin_[node] = ns;
    beginTurn(node, ns);
  }

  void beginTurn(NodeIndex node, std::int64_t ns) {
    const std::int64_t most = resources_.all[resources_.ofNode[node]].turnNs;
    const std::int64_t turn = most > 0 ? std::min(most, left_[node]) : left_[node];
    left_[node] -= turn;
    if (left_[node] == 0)
      finish(node, ns + turn);
    events_.push({ns + turn, kFree, rank_[node], node});
  }

  // Known as soon as nothing comes in between.
  void finish(NodeIndex node, std::int64_t end) {
    dur_[node] = end - begin_[node];
    for (std::uint32_t i = next_.firstOut[node]; i < next_.firstOut[node + 1]; ++i) {
      const NodeIndex to = next_.to[i];
      ready_[to] = std::max(ready_[to], end + lagNs_[next_.edge[i]]);
      if (--missing_[to] == 0)
        events_.push({ready_[to] + settings_.gapNs[to], kAsk, rank_[to], to});
    }
  }

  const Graph& graph_;
  const Settings& settings_;
  const std::vector<std::uint32_t>& lagNs_;
  const Resources& resources_;
  const std::vector<std::int64_t>& dispatchNs_;
  const graph::Successors next_;
  std::vector<Pool> pools_;
  std::vector<std::int64_t> begin_;
  std::vector<std::int64_t> dur_;
  std::vector<std::int64_t> left_;  // of the node's own time
  std::vector<std::int64_t> ready_;
  std::vector<std::uint32_t> missing_;
  std::vector<std::uint32_t> rank_;  // by node: its place by measured begin
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

// The nodes of each resource by measured begin.
std::vector<std::vector<NodeIndex>> users(const Graph& graph, const Resources& resources) {
  std::vector<std::vector<NodeIndex>> found(resources.all.size());
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (resources.ofNode[node] != kNoResource)
      found[resources.ofNode[node]].push_back(node);
  for (std::vector<NodeIndex>& each : found)
    std::stable_sort(each.begin(), each.end(), [&](NodeIndex a, NodeIndex b) {
      return graph.beginNs[a] < graph.beginNs[b];
    });
  return found;
}

using Ends = std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>>;

}  // namespace

std::vector<std::uint32_t> measuredCapacity(const Graph& graph, const Resources& resources) {
  std::vector<std::uint32_t> most(resources.all.size(), 1);
  const std::vector<std::vector<NodeIndex>> all = users(graph, resources);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Ends ends;
    for (const NodeIndex node : all[i]) {
      while (!ends.empty() && ends.top() <= graph.beginNs[node])
        ends.pop();
      ends.push(graph.endNs(node));
      most[i] = std::max(most[i], static_cast<std::uint32_t>(ends.size()));
    }
  }
  return most;
}

QueuedGaps queuedGaps(const Graph& graph, const Resources& resources) {
  QueuedGaps found{graph.gapNs, std::vector<std::int64_t>(graph.nodes(), 0)};
  const std::vector<std::vector<NodeIndex>> all = users(graph, resources);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Ends free;  // when each of the resource's places becomes free
    for (std::uint32_t place = 0; place < resources.all[i].capacity; ++place)
      free.push(kNever);
    std::int64_t asked = kNever;  // by the node before
    for (const NodeIndex node : all[i]) {
      const std::int64_t begin = graph.beginNs[node];
      const std::int64_t ready = begin - graph.gapNs[node];
      const std::int64_t freeNs = free.top();
      free.pop();
      free.push(graph.endNs(node));
      // Nobody asks before the one that was served before.
      const std::int64_t asks = std::max(ready, asked);
      const bool queued = graph.firstIn[node] < graph.firstIn[node + 1] && asks < freeNs &&
                          begin - freeNs <= kMostDispatchNs;
      asked = queued ? asks : begin;
      found.gapNs[node] = asked - ready;
      found.dispatchNs[node] = queued ? begin - freeNs : 0;
    }
  }
  return found;
}

Times replayShared(const Graph& graph,
                   const Settings& settings,
                   const Resources& resources,
                   const std::vector<std::int64_t>& dispatchNs) {
  return Simulation(graph, settings, resources, dispatchNs).run();
}

}  // namespace sonde::engine::replay
