#include "analysis/engine/pipeline/rearrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace sonde::engine::pipeline {
namespace {

using graph::EdgeKind;
using graph::kNoNode;
using graph::LaneIndex;
using graph::NodeIndex;
using graph::NodeKind;
using whatif::Origin;
using whatif::Scenario;

// The nodes of an operation; kNoNode: it has none of the kind.
struct Made {
  NodeIndex compute = kNoNode;
  NodeIndex send = kNoNode;
  NodeIndex receive = kNoNode;
  NodeIndex meeting = kNoNode;  // at which its receive begins, with the send of the other stage

  NodeIndex last() const noexcept { return send == kNoNode ? compute : send; }
};

// One copy of the model. The nodes of a stage's operations follow each other as in its order.
class CopyMaker {
 public:
  CopyMaker(const Scenario& scenario,
            const PipelineJob& job,
            const Target& target,
            const OperationTimes& times,
            const std::vector<Order>& orders)
      : scenario_(scenario),
        job_(job),
        target_(target),
        times_(times),
        orders_(orders),
        sources_(sameStages(job.shape.stages, target.shape.stages)) {}

  void make(std::size_t copy, Scenario::Structure& into) {
    copy_ = copy;
    into_ = &into;
    made_.assign(orders_.size(), {});
    places_.clear();
    for (std::size_t stage = 0; stage < orders_.size(); ++stage)
      addNodes(stage);
    for (std::size_t stage = 0; stage < orders_.size(); ++stage) {
      addOrder(stage);
      addBorders(stage);
      if (job_.hasTransfers)
        addTransfers(stage);
      else
        addMessages(stage);
    }
  }

 private:
  // An operation of a part of the model on another stage.
  struct Neighbour {
    std::size_t stage = 0;
    Turn turn;
  };

  std::int64_t parts() const { return target_.shape.stages * target_.shape.chunks; }
  std::int64_t partOf(std::size_t stage, const Turn& turn) const {
    return turn.chunk * target_.shape.stages + static_cast<std::int64_t>(stage);
  }
  // `step`: 1 is towards the last part in forwards, and towards the first in backwards.
  std::optional<Neighbour> neighbour(std::size_t stage, const Turn& turn, int step) const {
    const std::int64_t part = partOf(stage, turn) + (turn.isForward ? step : -step);
    if (part < 0 || part >= parts() || target_.shape.stages == 1)
      return std::nullopt;
    Neighbour found{static_cast<std::size_t>(part % target_.shape.stages), turn};
    found.turn.chunk = part / target_.shape.stages;
    return found;
  }
  Made& madeOf(const Neighbour& of) {
    return made_[of.stage][places_.at({of.stage, keyOf(of.turn)})];
  }
  static std::tuple<bool, std::int64_t, std::int64_t, std::int64_t> keyOf(const Turn& turn) {
    return {turn.isForward, turn.iteration, turn.chunk, turn.microbatch};
  }
  const StageRun& run(std::int64_t iteration, std::size_t stage) const {
    return job_.iterations[static_cast<std::size_t>(iteration)].runs[copy_][stage];
  }

  NodeIndex addNode(LaneIndex lane, NodeKind kind, std::int64_t beginNs, const Span& span) {
    const Origin origin = times_.isOwn()           ? Origin::Measured
                          : kind == NodeKind::Host ? Origin::Scaled
                                                   : Origin::Modelled;
    into_->nodes.push_back({lane, beginNs, kind, span.row, std::llround(span.ns), origin});
    return static_cast<NodeIndex>(scenario_.graph().nodes() + into_->nodes.size() - 1);
  }
  void addEdge(NodeIndex from, NodeIndex to, EdgeKind kind, double lagNs = 0) {
    into_->edges.push_back({from, to, kind, std::llround(lagNs)});
  }

  void addNodes(std::size_t stage);
  void addOrder(std::size_t stage);
  void addBorders(std::size_t stage);
  void addEntries(std::size_t stage, std::size_t at, std::int64_t iteration);
  void addExits(std::size_t stage, std::size_t at, std::int64_t iteration);
  void addMessages(std::size_t stage);
  void addTransfers(std::size_t stage);

  const Scenario& scenario_;
  const PipelineJob& job_;
  const Target& target_;
  const OperationTimes& times_;
  const std::vector<Order>& orders_;
  std::vector<std::vector<std::size_t>> sources_;
  std::size_t copy_ = 0;
  Scenario::Structure* into_ = nullptr;
  std::vector<std::vector<Made>> made_;  // by stage, then by place in its order
  std::map<std::pair<std::size_t, std::tuple<bool, std::int64_t, std::int64_t, std::int64_t>>,
           std::size_t>
      places_;
};

void CopyMaker::addNodes(std::size_t stage) {
  const std::size_t from = sources_[stage].front();
  graph::Lane lane = job_.lanes[copy_][from];
  lane.id = 0;
  if (job_.shape.stages != target_.shape.stages)
    lane.name = fmt::format("stage {} of {}", stage, target_.shape.stages);
  const auto index = static_cast<LaneIndex>(scenario_.graph().lanes.size() + into_->lanes.size());
  into_->lanes.push_back(lane);
  for (const Turn& turn : orders_[stage]) {
    const std::int64_t beginNs = run(turn.iteration, from).beginNs;
    Made made;
    const auto source = neighbour(stage, turn, -1);
    if (source && job_.hasTransfers) {
      made.meeting = addNode(index, NodeKind::Meeting, beginNs, {});
      made.receive =
          addNode(index, NodeKind::Transfer, beginNs, times_.receive(copy_, stage, turn));
    }
    made.compute = addNode(index, NodeKind::Host, beginNs, times_.own(copy_, stage, turn));
    if (neighbour(stage, turn, 1))
      made.send = addNode(index,
                          job_.hasTransfers ? NodeKind::Transfer : NodeKind::Host,
                          beginNs,
                          times_.send(copy_, stage, turn));
    places_.emplace(std::pair(stage, keyOf(turn)), made_[stage].size());
    made_[stage].push_back(made);
  }
}

// A stage computes one after the other; calls that send take its time, too.
void CopyMaker::addOrder(std::size_t stage) {
  const Order& order = orders_[stage];
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Made& made = made_[stage][at];
    if (!job_.hasTransfers && made.send != kNoNode)
      addEdge(made.compute, made.send, EdgeKind::Order);
    const bool goesOn = at > 0 && (order[at - 1].iteration == order[at].iteration ||
                                   target_.schedule == Schedule::Async);
    if (goesOn) {
      const Made& before = made_[stage][at - 1];
      addEdge(job_.hasTransfers ? before.compute : before.last(), made.compute, EdgeKind::Order);
    }
  }
}

// An iteration's run ends with its last operation; the next one begins behind it.
void CopyMaker::addBorders(std::size_t stage) {
  const Order& order = orders_[stage];
  std::vector<std::size_t> last(job_.iterations.size(), 0);
  for (std::size_t at = 0; at < order.size(); ++at)
    last[static_cast<std::size_t>(order[at].iteration)] = at;
  std::size_t first = 0;
  for (std::size_t iteration = 0; iteration < last.size(); ++iteration) {
    addEntries(stage, first, static_cast<std::int64_t>(iteration));
    addExits(stage, last[iteration], static_cast<std::int64_t>(iteration));
    first = last[iteration] + 1;
  }
}

void CopyMaker::addEntries(std::size_t stage, std::size_t at, std::int64_t iteration) {
  const Order& order = orders_[stage];
  for (const std::size_t from : sources_[stage])
    for (const Entry& entry : run(iteration, from).entries) {
      std::size_t to = at;
      if (entry.chunk != kAllChunks && target_.schedule != Schedule::Async)
        while (to + 1 < order.size() &&
               (!order[to].isForward || order[to].chunk != entry.chunk % target_.shape.chunks))
          ++to;
      addEdge(
          entry.node, made_[stage][to].compute, EdgeKind::Order, static_cast<double>(entry.lagNs));
    }
}

void CopyMaker::addExits(std::size_t stage, std::size_t at, std::int64_t iteration) {
  const Order& order = orders_[stage];
  const std::vector<Made>& made = made_[stage];
  for (const std::size_t from : sources_[stage])
    for (const Exit& exit : run(iteration, from).exits) {
      std::size_t last = at;
      if (exit.chunk != kAllChunks && target_.shape.chunks == job_.shape.chunks)
        while (order[last].isForward || order[last].chunk != exit.chunk ||
               order[last].iteration != iteration)
          --last;
      addEdge(
          job_.hasTransfers ? made[last].compute : made[last].last(), exit.node, EdgeKind::Order);
    }
  const NodeIndex end = job_.iterations[static_cast<std::size_t>(iteration)].end;
  if (end == kNoNode)
    return;
  // Its last sends end the iteration, too; earlier ones come before them.
  std::map<bool, NodeIndex> sends;
  for (std::size_t i = 0; i <= at; ++i)
    if (order[i].iteration == iteration && made[i].send != kNoNode)
      sends[order[i].isForward] = made[i].send;
  for (const auto& [isForward, send] : sends)
    addEdge(send, end, EdgeKind::Arrival);
}

void CopyMaker::addMessages(std::size_t stage) {
  for (std::size_t at = 0; at < orders_[stage].size(); ++at) {
    const Turn& turn = orders_[stage][at];
    if (const auto source = neighbour(stage, turn, -1))
      addEdge(madeOf(*source).compute,
              made_[stage][at].compute,
              EdgeKind::Message,
              times_.arrivalNs(copy_, source->stage, stage, turn.isForward));
  }
}

// The rules of operations::needsOf(): a send and its receive begin together, behind those before
// them in their direction. A receive waits for the operation before its own, which frees the
// buffer. Their rule for the first backward transfers is left out: these hold nobody.
void CopyMaker::addTransfers(std::size_t stage) {
  std::map<bool, std::size_t> before;  // the operation before, by direction
  std::map<bool, NodeIndex> lastReceive;
  std::map<bool, NodeIndex> lastSend;
  const Order& order = orders_[stage];
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Turn& turn = order[at];
    const Made& made = made_[stage][at];
    const bool isNew =
        at > 0 && order[at - 1].iteration != turn.iteration && target_.schedule != Schedule::Async;
    if (isNew) {
      before.clear();
      lastReceive.clear();
      lastSend.clear();
    }
    if (const auto source = neighbour(stage, turn, -1)) {
      const Made& from = madeOf(*source);
      addEdge(from.compute, made.meeting, EdgeKind::Arrival);
      if (const auto last = before.find(turn.isForward); last != before.end())
        addEdge(made_[stage][last->second].compute, made.meeting, EdgeKind::Arrival);
      if (const auto last = lastReceive.find(turn.isForward); last != lastReceive.end())
        addEdge(last->second, made.meeting, EdgeKind::Arrival);
      addEdge(made.meeting, from.send, EdgeKind::Release);
      addEdge(made.meeting, made.receive, EdgeKind::Release);
      addEdge(made.receive, made.compute, EdgeKind::Data);
      lastReceive[turn.isForward] = made.receive;
    }
    if (const auto to = neighbour(stage, turn, 1)) {
      const NodeIndex meeting = madeOf(*to).meeting;
      if (const auto last = lastSend.find(turn.isForward); last != lastSend.end())
        addEdge(last->second, meeting, EdgeKind::Arrival);
      lastSend[turn.isForward] = made.send;
    }
    before[turn.isForward] = at;
  }
}

// The job's own operations take no time; other stages' parameters take as much more as they are
// more.
void clear(Scenario& scenario, const PipelineJob& job, const Target& target) {
  const double layers =
      static_cast<double>(job.shape.stages) / static_cast<double>(target.shape.stages);
  for (const PipelineIteration& iteration : job.iterations)
    for (const auto& copy : iteration.runs)
      for (const StageRun& run : copy) {
        for (const Stretch& each : run.inside) {
          if (each.beginNs < each.endNs)
            scenario.scale(each.node, each.beginNs, each.endNs, 0, Origin::Measured);
          if (scenario.graph().beginNs[each.node] > run.beginNs)
            scenario.setGap(each.node, 0);
        }
        if (job.shape.stages != target.shape.stages)
          for (const Stretch& each : run.outside)
            scenario.scale(each.node, each.beginNs, each.endNs, layers, Origin::Scaled);
      }
}

// Without a flush iterations follow each other at once.
void joinIterations(const PipelineJob& job, Scenario::Structure& structure) {
  for (std::size_t i = 1; i < job.iterations.size(); ++i)
    if (job.iterations[i].begin != kNoNode)
      structure.edges.push_back(
          {job.iterations[i - 1].end, job.iterations[i].begin, EdgeKind::Order});
}

Result<void> checkSize(const PipelineJob& job, const Target& target) {
  constexpr double kOfTurn = 10;  // nodes and edges
  double turns = 2;
  for (const auto each : {target.shape.stages,
                          target.shape.chunks,
                          target.shape.microbatches,
                          static_cast<std::int64_t>(job.iterations.size()),
                          static_cast<std::int64_t>(job.copies())})
    turns *= static_cast<double>(each);
  return whatif::checkAdded(kOfTurn * turns,
                            fmt::format("{} stages with {} microbatches and {} chunks",
                                        target.shape.stages,
                                        target.shape.microbatches,
                                        target.shape.chunks),
                            "give smaller numbers, or a trace of fewer iterations");
}

}  // namespace

Result<void> rearrange(Scenario& scenario, const PipelineJob& job, const Target& target) {
  SONDE_TRY(checkSize(job, target));
  SONDE_TRY_ASSIGN(
      const std::vector<Order> orders,
      ordersOf(target.schedule, target.shape, static_cast<std::int64_t>(job.iterations.size())));
  const OperationTimes times(job, target);
  Scenario::Structure structure;
  structure.dropped = job.dropped;
  CopyMaker maker(scenario, job, target, times, orders);
  for (std::size_t copy = 0; copy < job.copies(); ++copy)
    maker.make(copy, structure);
  if (target.schedule == Schedule::Async)
    joinIterations(job, structure);
  clear(scenario, job, target);
  return scenario.restructure(structure);
}

}  // namespace sonde::engine::pipeline
