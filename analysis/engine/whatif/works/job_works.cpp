#include "analysis/engine/whatif/works/job_works.h"

#include "analysis/engine/whatif/launches.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/engine/whatif/span_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::whatif {
namespace {

// Sums of times must not overflow: eleven days, and a factor far beyond every use.
constexpr std::int64_t kMostNs = 1'000'000'000'000'000;
constexpr double kMostFactor = 1e6;

Result<void> checkFactor(double factor) {
  if (!(factor >= 0 && factor <= kMostFactor))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a factor of {} is not between 0 and a million", factor)};
  return {};
}

Result<void> checkNs(std::int64_t ns) {
  if (ns < 0 || ns > kMostNs)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a time of {} ns is not between 0 and 10^15", ns)};
  return {};
}

WorkKind kindOf(const graph::Graph& graph, graph::NodeIndex node) {
  switch (graph.lanes[graph.lane[node]].kind) {
    case graph::LaneKind::Thread:
      return WorkKind::Host;
    case graph::LaneKind::Connection:
      return WorkKind::Message;
    default:
      return graph.kind[node] == graph::NodeKind::Copy       ? WorkKind::Copy
             : graph.kind[node] == graph::NodeKind::Transfer ? WorkKind::Collective
                                                             : WorkKind::Kernel;
  }
}

graph::NodeIndex receiverOf(const graph::Graph& graph, std::uint32_t edge) {
  const auto after = std::upper_bound(graph.firstIn.begin(), graph.firstIn.end(), edge);
  return static_cast<graph::NodeIndex>(after - graph.firstIn.begin() - 1);
}

}  // namespace

JobWorks::JobWorks(Asking& asking)
    : asking_(asking),
      iterations_(graph::jobIterations(asking.scenario.job())),
      windows_(asking.scenario.graph(), iterations_),
      lookup_(asking.scenario.graph()) {}

Result<std::vector<Work>> JobWorks::select(const std::string& selector) {
  SONDE_TRY_ASSIGN(const Selector parsed, parseSelector(selector));
  SONDE_TRY_ASSIGN(const Selection selection,
                   whatif::select(asking_.trace, asking_.scenario.job(), parsed));
  std::vector<Known> found;
  for (const SelectedThing& thing : selection.things)
    found.push_back(
        {{selection.parts.begin() + thing.first, selection.parts.begin() + thing.last}, kNoEdge});
  const graph::Graph& graph = asking_.scenario.graph();
  std::stable_sort(found.begin(), found.end(), [&](const Known& a, const Known& b) {
    const SelectedPart& first = a.parts.front();
    const SelectedPart& second = b.parts.front();
    return std::pair(graph.lane[first.node], first.beginNs) <
           std::pair(graph.lane[second.node], second.beginNs);
  });
  for (const std::uint32_t edge : selection.messages)
    found.push_back({{}, edge});
  std::vector<Work> works;
  for (Known& each : found) {
    SONDE_TRY_ASSIGN(Work work, describe(numberOf(std::move(each))));
    works.push_back(std::move(work));
  }
  return works;
}

WorkNumber JobWorks::numberOf(Known known) {
  const Place place = known.parts.empty() ? Place{graph::kNoNode, 0, 0, known.edge}
                                          : Place{known.parts.front().node,
                                                  known.parts.front().beginNs,
                                                  known.parts.back().endNs,
                                                  kNoEdge};
  const auto [at, isNew] = numbers_.emplace(place, known_.size() + 1);
  if (isNew)
    known_.push_back(std::move(known));
  return at->second;
}

Result<Work> JobWorks::describe(WorkNumber id) {
  const graph::Graph& graph = asking_.scenario.graph();
  if (!names_) {
    SONDE_TRY_ASSIGN(names_, WorkNames::read(asking_.trace, graph));
  }
  const Known& known = known_[id - 1];
  Work work;
  work.id = id;
  work.nowNs = std::llround(nowNs(known));
  if (known.parts.empty()) {
    describeMessage(work, known.edge);
    return work;
  }
  const SelectedPart& first = known.parts.front();
  const graph::LaneIndex lane = graph.lane[first.node];
  const std::int64_t row = graph.row[first.node];
  work.kind = kindOf(graph, first.node);
  work.lane = graph.lanes[lane].name;
  work.rank = graph.lanes[lane].rank;
  work.beginNs = first.beginNs;
  work.iteration = iterationOf(lane, first.beginNs);
  for (const SelectedPart& part : known.parts)
    work.measuredNs += part.lengthNs();
  if (work.kind == WorkKind::Host)
    work.name = row != 0 ? names_->ofSlice(row)
                         : names_->around(lane, first.beginNs, known.parts.back().endNs);
  else if (work.kind != WorkKind::Message)
    work.name = work.kind == WorkKind::Copy ? names_->ofCopy(row) : names_->ofKernel(row);
  return work;
}

void JobWorks::describeMessage(Work& work, std::uint32_t edge) const {
  const graph::Graph& graph = asking_.scenario.graph();
  const graph::NodeIndex from = graph.from[edge];
  const graph::LaneIndex lane = graph.lane[from];
  work.kind = WorkKind::Message;
  work.lane = graph.lanes[lane].name;
  work.rank = graph.lanes[lane].rank;
  work.beginNs = graph.endNs(from);
  work.measuredNs = graph.lagNs[edge];
  work.iteration = iterationOf(graph.lane[receiverOf(graph, edge)], work.beginNs);
}

std::int64_t JobWorks::iterationOf(graph::LaneIndex lane, std::int64_t ns) const {
  const std::uint32_t index = windows_.at(asking_.scenario.graph().lanes[lane], ns);
  return index == replay::kNoIteration ? -1 : iterations_[index].number;
}

Result<const JobWorks::Known*> JobWorks::find(WorkNumber id) const {
  if (id == 0 || id > known_.size())
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there is no work {}: use an id that select() returned", id)};
  return &known_[id - 1];
}

double JobWorks::nowNs(const Known& known) const {
  if (known.parts.empty())
    return asking_.scenario.lagNs()[known.edge];
  return presentNs(asking_.scenario, known.parts);
}

void JobWorks::setTo(const Known& known, double ns, Origin origin) {
  if (known.parts.empty()) {
    asking_.scenario.setLag(known.edge, ns, origin);
    return;
  }
  setParts(asking_.scenario, known.parts, ns, origin);
}

Result<void> JobWorks::scale(WorkNumber id, double factor) {
  SONDE_TRY_ASSIGN(const Known* known, find(id));
  SONDE_TRY(checkFactor(factor));
  const double ns = nowNs(*known) * factor;
  SONDE_TRY(checkNs(std::llround(std::min(ns, 2.0 * kMostNs))));
  setTo(*known, ns, Origin::Scaled);
  return {};
}

Result<void> JobWorks::set(WorkNumber id, std::int64_t ns) {
  SONDE_TRY_ASSIGN(const Known* known, find(id));
  SONDE_TRY(checkNs(ns));
  setTo(*known, static_cast<double>(ns), Origin::Modelled);
  return {};
}

Result<void> JobWorks::insert(WorkNumber id, std::int64_t ns) {
  SONDE_TRY_ASSIGN(const Known* known, find(id));
  SONDE_TRY(checkNs(ns));
  SONDE_TRY(checkNs(std::llround(nowNs(*known)) + ns));
  if (known->parts.empty()) {
    setTo(*known, nowNs(*known) + static_cast<double>(ns), Origin::Modelled);
    return {};
  }
  const SelectedPart& last = known->parts.back();
  const double present = asking_.scenario.lengthNs(last.node, last.beginNs, last.endNs);
  asking_.scenario.setStretch(
      last.node, last.beginNs, last.endNs, present + static_cast<double>(ns), Origin::Modelled);
  return {};
}

Result<void> JobWorks::readCalls() {
  calls_.emplace();
  return forEachLaunch(asking_.trace, asking_.scenario.graph(), [&](const Launched& each) {
    calls_->emplace(std::pair(each.isCopy, each.row), CallOf(each.thread, each.call));
  });
}

Result<void> JobWorks::remove(WorkNumber id) {
  SONDE_TRY_ASSIGN(const Known* known, find(id));
  setTo(*known, 0, Origin::Scaled);
  const graph::Graph& graph = asking_.scenario.graph();
  if (known->parts.empty() || kindOf(graph, known->parts.front().node) == WorkKind::Host)
    return {};
  if (!calls_)
    SONDE_TRY(readCalls());
  const graph::NodeIndex node = known->parts.front().node;
  const bool isCopy = graph.kind[node] == graph::NodeKind::Copy;
  if (const auto call = calls_->find({isCopy, graph.row[node]}); call != calls_->end())
    scaleSpan(
        asking_.scenario, lookup_, call->second.first, call->second.second, 0, Origin::Scaled);
  return {};
}

Result<void> JobWorks::scaleSelected(const std::string& selector, double factor) {
  SONDE_TRY(checkFactor(factor));
  SONDE_TRY_ASSIGN(Selector parsed, parseSelector(selector));
  return whatif::scale(std::move(parsed), factor)(asking_);
}

Result<void> JobWorks::setSelected(const std::string& selector, std::int64_t ns) {
  SONDE_TRY(checkNs(ns));
  SONDE_TRY_ASSIGN(Selector parsed, parseSelector(selector));
  return whatif::set(std::move(parsed), ns)(asking_);
}

Result<void> JobWorks::removeSelected(const std::string& selector) {
  SONDE_TRY_ASSIGN(Selector parsed, parseSelector(selector));
  return whatif::remove(std::move(parsed))(asking_);
}

}  // namespace sonde::engine::whatif
