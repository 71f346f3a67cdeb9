#include "analysis/engine/whatif/topology/level_times.h"

#include "analysis/engine/whatif/network/processor_limit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace sonde::engine::whatif {
namespace {

// The relative error of the algorithms' models on given links: an assumption.
constexpr double kOfAlgorithms = 0.1;

}  // namespace

TwoLevels LevelTimes::levelsOf(const GroupShape& shape, const NetworkModel* model) const {
  const double ownNs = model == nullptr ? 0 : model->stepNs;
  const auto given = [&](const std::optional<std::int64_t>& latency) {
    return latency ? static_cast<double>(*latency) : ownNs;
  };
  const double ofNode = static_cast<double>(of_.nics) * of_.betweenBytesPerNs;
  return {{given(of_.insideLatencyNs), 1 / of_.insideBytesPerNs},
          {given(of_.betweenLatencyNs), static_cast<double>(shape.sharers) / ofNode}};
}

std::optional<double> LevelTimes::ns(const MovedBytes& moved) {
  const auto shape = shapes_.find(moved.communicator);
  const NetworkModel* model = networks_.find(moved.communicator, moved.op);
  const bool isKnown = shape != shapes_.end() && shape->second.members == moved.ranks;
  if (!isKnown || (model == nullptr && needsModel()))
    return std::nullopt;
  const TwoLevels levels = levelsOf(shape->second, model);
  const auto bytes = static_cast<double>(moved.bytes);
  const TimedAlgorithm timed =
      timedAlgorithm(of_.algorithm, moved.op, bytes, shape->second, levels);
  const double latencyNs = *collectiveNs(timed.algorithm, moved.op, 0, shape->second, levels);
  ++counts_[timed.algorithm];
  totalNs_ += timed.ns;
  errorNs_ +=
      kOfAlgorithms * timed.ns + (needsModel() && model != nullptr ? model->error * latencyNs : 0);
  Largest& largest = largest_[{moved.communicator, moved.op}];
  if (bytes >= largest.bytes)
    largest = {bytes, moved.ranks, timed};
  return timed.ns;
}

Result<void> LevelTimes::apply(Scenario& scenario, const std::vector<JobCollective>& all) {
  SONDE_TRY_ASSIGN(kept_,
                   retime(scenario, all, [this](const MovedBytes& moved) { return ns(moved); }));
  return {};
}

// With the communicator's own number of ranks it takes as long at every size, by the algorithm of
// the largest one.
NetworkModel LevelTimes::ringLike(const NetworkKey& key, const Largest& of) const {
  const GroupShape& shape = shapes_.at(key.first);
  const NetworkModel* now = networks_.find(key.first, key.second);
  const double latencyNs =
      *collectiveNs(of.timed.algorithm, key.second, 0, shape, levelsOf(shape, now));
  const CollectiveCost cost = costOf(key.second, static_cast<std::int64_t>(of.bytes), of.ranks);
  NetworkModel made = now == nullptr ? NetworkModel() : *now;
  made.callNs = 0;
  made.payloadNs = 0;
  made.stepNs = latencyNs / cost.steps;
  made.byteNs = (of.timed.ns - latencyNs) / cost.bytes;
  return made;
}

void LevelTimes::explain(Asking& asking) const {
  if (totalNs_ > 0)
    asking.modelError = std::max(asking.modelError, errorNs_ / totalNs_);
  std::vector<std::string> used;
  for (const auto& [algorithm, count] : counts_)
    used.push_back(fmt::format("{} by '{}'", count, nameOf(algorithm)));
  asking.notes.push_back(fmt::format(
      "collectives take the time of α–β models of their algorithms: {}{}; the interval counts "
      "these models as 10 % wrong, which is an assumption",
      fmt::join(used, ", "),
      of_.algorithm ? "" : ", the fastest for each without sums in switches"));
  std::set<std::string> notes;
  for (const auto& [key, largest] : largest_) {
    const GroupShape& shape = shapes_.at(key.first);
    notes.insert(fmt::format(
        "communicator {}: {} ranks on {} node{}{}{}",
        key.first,
        shape.members,
        shape.nodes,
        shape.nodes == 1 ? "" : "s",
        shape.sharers == 1 ? "" : fmt::format(", {} such share the NICs of a node", shape.sharers),
        needsModel() ? fmt::format("; a latency that is not given is as now, {}",
                                   networks_.describe(key.first, key.second))
                     : ""));
    asking.scenario.setting().networks.insert_or_assign(key, ringLike(key, largest));
  }
  asking.notes.insert(asking.notes.end(), notes.begin(), notes.end());
  asking.afterwards.emplace_back(checkProcessors);
  if (kept_ > 0)
    asking.notes.push_back(fmt::format(
        "{} collectives keep their times, since the trace lacks some of their ranks or an earlier "
        "question changed their ranks",
        kept_));
}

}  // namespace sonde::engine::whatif
