#include "analysis/engine/whatif/ranks/processors.h"

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/replay/shared_replay.h"
#include "analysis/engine/whatif/network/network_model.h"
#include "analysis/engine/whatif/ranks/arrival_spread.h"
#include "analysis/engine/whatif/ranks/processor_use.h"
#include "analysis/engine/whatif/ranks/rank_copies.h"
#include "analysis/engine/whatif/ranks/transfer_work.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde::engine::whatif {
namespace {

using graph::Graph;
using graph::NodeIndex;

// Short, so that threads share processors evenly all the time, as under a fair scheduler in the
// long run.
constexpr std::int64_t kTurnNs = 200'000;

// The error of an iteration in which threads share processors: who gets one first, and what the
// replay does not know. On a real job each of four ranks on two processors needed a quarter more
// processor time than each of two.
constexpr double kOrderError = 0.1;

constexpr std::size_t kMostNodes = 100'000'000;

struct HostRow {
  std::int64_t id = 0;
  std::int64_t processors = 0;

  SONDE_COLUMNS(id, processors)
};
constexpr const char* kHosts = "SELECT id, coalesce(cpu_count, 0) AS processors FROM host";

// Messages of data, not of a store of addresses.
constexpr const char* kMessages =
    "SELECT count(*) FROM transfer t JOIN channel c ON c.id = t.channel_id WHERE c.kind = 'tcp' "
    "AND "
    "t.direction = 'receive' AND t.bytes >= 2048";

// The number of the i-th rank of a job whose first ranks are these.
std::int64_t numberOf(const std::vector<std::int64_t>& ranks, std::size_t place) {
  return place < ranks.size() ? ranks[place] : static_cast<std::int64_t>(place);
}

// The owner of each rank's nodes, by node; kNoResource: the rank has none.
std::vector<std::uint32_t> ownersOf(const Graph& graph,
                                    const std::vector<std::int64_t>& ranks,
                                    const std::vector<std::uint32_t>& ownerOfPlace) {
  std::map<std::int64_t, std::uint32_t> ofRank;
  for (std::size_t place = 0; place < ownerOfPlace.size(); ++place)
    ofRank[numberOf(ranks, place)] = ownerOfPlace[place];
  std::vector<std::uint32_t> owners(graph.nodes(), replay::kNoResource);
  for (NodeIndex node = 0; node < graph.nodes(); ++node)
    if (const auto owner = ofRank.find(graph.lanes[graph.lane[node]].rank); owner != ofRank.end())
      owners[node] = owner->second;
  return owners;
}

std::vector<ProcessorUse> usesOf(const std::vector<Busy>& times,
                                 const std::vector<std::uint32_t>& owners,
                                 const std::vector<std::int64_t>& processors) {
  std::vector<ProcessorUse> all(processors.begin(), processors.end());
  for (const Busy& each : times)
    if (owners[each.node] != replay::kNoResource)
      all[owners[each.node]].add(each);
  for (ProcessorUse& each : all)
    each.complete();
  return all;
}

// The most threads of each rank that were busy at once, by place.
std::vector<std::int64_t> peaksOf(const Graph& graph,
                                  const std::vector<Busy>& times,
                                  const std::vector<std::int64_t>& ranks) {
  std::vector<std::uint32_t> own;
  for (std::uint32_t place = 0; place < ranks.size(); ++place)
    own.push_back(place);
  std::vector<std::int64_t> peaks;
  for (const ProcessorUse& each :
       usesOf(times, ownersOf(graph, ranks, own), std::vector<std::int64_t>(ranks.size(), 0)))
    peaks.push_back(each.most());
  return peaks;
}

// Whether ranks of these peaks may need more processors of a host than it has.
bool isCrowded(const std::vector<std::int64_t>& peaks,
               const std::vector<std::uint32_t>& hostOfPlace,
               const std::vector<std::int64_t>& processors) {
  std::vector<std::int64_t> needed(processors.size(), 0);
  for (std::size_t place = 0; place < hostOfPlace.size(); ++place)
    needed[hostOfPlace[place]] += peaks[place % peaks.size()];
  for (std::size_t host = 0; host < processors.size(); ++host)
    if (processors[host] > 0 && needed[host] > processors[host])
      return true;
  return false;
}

// Gives each busy thread the time that it had a processor: where more threads of a host were busy
// than it has processors, each had an equal share. A thread that could go on while all processors
// were busy waited for one. Returns the time that the ranks had for the
// transfers of collectives in iterations.
double removeSharing(Scenario& scenario,
                     const std::vector<Busy>& times,
                     const std::vector<std::uint32_t>& hosts,
                     const std::vector<std::int64_t>& processors) {
  const std::vector<ProcessorUse> uses = usesOf(times, hosts, processors);
  const Graph& graph = scenario.graph();
  const replay::IterationWindows windows(graph, replay::jobIterations(scenario.job()));
  double transfersNs = 0;
  for (const Busy& each : times) {
    if (hosts[each.node] == replay::kNoResource)
      continue;
    const double own = uses[hosts[each.node]].processorNs(each);
    const double factor = own / static_cast<double>(each.endNs - each.beginNs);
    if (each.isTransfer)
      transfersNs +=
          windows.at(graph.lanes[graph.lane[each.node]], each.beginNs) == replay::kNoIteration
              ? 0
              : own;
    else if (factor < 1)
      scenario.scale(each.node, each.beginNs, each.endNs, factor, Origin::Scaled);
  }
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const bool isThread = graph.lanes[graph.lane[node]].kind == graph::LaneKind::Thread;
    const std::int64_t gap = graph.gapNs[node];
    if (!isThread || hosts[node] == replay::kNoResource || gap <= 0)
      continue;
    const std::int64_t begin = graph.beginNs[node];
    scenario.setGap(node, std::llround(uses[hosts[node]].freeNs(begin - gap, begin)));
  }
  return transfersNs;
}

// The time that models give the iterations' collectives on threads.
double modelledNs(const Scenario& scenario,
                  const std::vector<JobCollective>& all,
                  const std::map<std::string, NetworkModel>& networks) {
  const graph::TraceGraph& job = scenario.job();
  const replay::IterationWindows windows(job.graph, replay::jobIterations(job));
  double sum = 0;
  for (const JobCollective& each : all) {
    const CollectivePart& part = each.parts.front();
    const auto network = networks.find(each.communicator);
    if (!each.isOnDevice && network != networks.end() &&
        windows.at(job.graph.lanes[part.lane], part.beginNs) != replay::kNoIteration)
      sum += network->second.ns(costOf(each.op, each.bytes, each.ranks));
  }
  return sum;
}

// Threads that compute, and those that move data, need a processor.
replay::Resources resourcesOf(const Scenario& scenario,
                              const std::vector<std::int64_t>& ranks,
                              const Processors& processors) {
  const Graph& graph = scenario.graph();
  replay::Resources resources;
  for (const std::int64_t each : processors.ofHost)
    resources.all.push_back({each > 0 ? static_cast<std::uint32_t>(each) : 1U << 30,
                             replay::Discipline::Fifo,
                             kTurnNs});
  resources.ofNode = ownersOf(graph, ranks, processors.hostOfRank);
  for (NodeIndex node = 0; node < graph.nodes(); ++node) {
    const graph::Lane& lane = graph.lanes[graph.lane[node]];
    const bool isReplaced = lane.background == graph::Background::Transfers && lane.id != 0;
    if (lane.kind != graph::LaneKind::Thread || isReplaced || scenario.durNs()[node] == 0)
      resources.ofNode[node] = replay::kNoResource;
  }
  return resources;
}

// Completes a job whose threads take turns, if more are busy at a time than there are processors.
// `transfersNs`: the processor time that the measured ranks had for the transfers of collectives.
Result<void> takeTurns(const std::vector<std::int64_t>& ranks,
                       const std::vector<JobCollective>& all,
                       const Processors& processors,
                       double transfersNs,
                       Asking& asking) {
  Scenario& scenario = asking.scenario;
  const std::size_t count = processors.hostOfRank.size();
  const std::map<std::string, NetworkModel> networks = fitNetworks(all);
  const double networksNs = modelledNs(scenario, all, networks) * static_cast<double>(ranks.size());
  if (count < ranks.size())
    SONDE_TRY(dropRanks(scenario, ranks, static_cast<std::int64_t>(count)));
  const std::vector<std::int64_t> left(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(count, ranks.size())));
  if (processors.moveData && networksNs > 0)
    SONDE_TRY(addTransferWork(
        scenario, left, static_cast<std::int64_t>(count), networks, transfersNs / networksNs));
  if (count > ranks.size() && scenario.graph().nodes() / ranks.size() * count > kMostNodes)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} ranks that share processors are too many for the trace: it has {} "
                             "nodes of {} ranks, and at most {} can be replayed",
                             count,
                             scenario.graph().nodes(),
                             ranks.size(),
                             kMostNodes)};
  if (count > ranks.size())
    SONDE_TRY(copyRanks(scenario, ranks, static_cast<std::int64_t>(count)));
  asking.orderError = std::max(asking.orderError, kOrderError);
  asking.notes.push_back(fmt::format(
      "{} ranks share the {} processors of {} evenly{}",
      count,
      *std::max_element(processors.ofHost.begin(), processors.ofHost.end()),
      processors.ofHost.size() == 1 ? std::string("a host")
                                    : fmt::format("each of {} hosts", processors.ofHost.size()),
      processors.moveData ? ", with the threads that move the data of collectives" : ""));
  scenario.share(resourcesOf(scenario, ranks, processors));
  return {};
}

// Which host each measured rank has.
Result<void> readHosts(const store::Database& trace,
                       const graph::TraceGraph& job,
                       const std::vector<std::int64_t>& ranks,
                       Processors& found) {
  std::map<std::int64_t, std::int64_t> known;
  SONDE_TRY(store::forEach<HostRow>(
      trace, kHosts, [&](const HostRow& row) { known[row.id] = row.processors; }));
  std::map<std::int64_t, std::int64_t> hostOfRank;
  for (const graph::Lane& each : job.graph.lanes)
    if (each.rank >= 0)
      hostOfRank[each.rank] = each.hostId;
  std::map<std::int64_t, std::uint32_t> places;  // of hosts
  for (const std::int64_t rank : ranks) {
    const std::int64_t host = hostOfRank[rank];
    const auto [at, isNew] = places.emplace(host, static_cast<std::uint32_t>(places.size()));
    if (isNew)
      found.nowOfHost.push_back(known[host]);
    found.nowHostOfRank.push_back(at->second);
  }
  return {};
}

}  // namespace

Result<Processors> readProcessors(const store::Database& trace,
                                  const graph::TraceGraph& job,
                                  const std::vector<std::int64_t>& ranks,
                                  std::int64_t count,
                                  std::optional<std::int64_t> processors) {
  Processors found;
  SONDE_TRY(readHosts(trace, job, ranks, found));
  const std::vector<graph::Lane>& lanes = job.graph.lanes;
  const bool hasDevices = std::any_of(lanes.begin(), lanes.end(), [](const graph::Lane& each) {
    return each.kind == graph::LaneKind::Stream;
  });
  SONDE_TRY_ASSIGN(const std::int64_t messages, trace.queryInteger(kMessages));
  found.moveData = messages > 0 && !hasDevices;
  // Each new host then has as many ranks as a measured one, so nothing changes on it.
  if (hasDevices && !processors)
    std::fill(found.nowOfHost.begin(), found.nowOfHost.end(), 0);
  const auto now = static_cast<std::int64_t>(ranks.size());
  const auto hosts = static_cast<std::int64_t>(found.nowOfHost.size());
  const std::int64_t perHost = (now + hosts - 1) / hosts;
  for (std::int64_t place = 0; place < count; ++place)
    found.hostOfRank.push_back(
        static_cast<std::uint32_t>(hasDevices ? place / perHost : place * hosts / count));
  found.ofHost.resize(
      static_cast<std::size_t>(hasDevices ? (count + perHost - 1) / perHost : hosts));
  for (std::size_t host = 0; host < found.ofHost.size(); ++host)
    found.ofHost[host] = processors.value_or(found.nowOfHost[host % found.nowOfHost.size()]);
  return found;
}

Result<void> shareProcessors(const std::vector<std::int64_t>& ranks,
                             const std::vector<JobCollective>& all,
                             const Processors& processors,
                             Asking& asking) {
  Scenario& scenario = asking.scenario;
  const auto measured = static_cast<std::int64_t>(ranks.size());
  const auto count = static_cast<std::int64_t>(processors.hostOfRank.size());
  const std::vector<Busy> times = busyTimes(scenario.graph(), callsOf(all), processors.moveData);
  const std::vector<std::int64_t> peaks = peaksOf(scenario.graph(), times, ranks);
  const bool isCrowdedNow = isCrowded(peaks, processors.nowHostOfRank, processors.nowOfHost);
  const bool isCrowdedThen = isCrowded(peaks, processors.hostOfRank, processors.ofHost);
  if (isCrowdedNow || isCrowdedThen) {
    const double transfersNs =
        removeSharing(scenario,
                      times,
                      ownersOf(scenario.graph(), ranks, processors.nowHostOfRank),
                      processors.nowOfHost);
    if (count > measured && !isCrowdedThen)
      addArrivalSpread(scenario, ranks, count, asking.notes);
    return takeTurns(ranks, all, processors, transfersNs, asking);
  }
  if (count < measured)
    return dropRanks(scenario, ranks, count);
  addArrivalSpread(scenario, ranks, count, asking.notes);
  repeatRanks(scenario, ranks, count);
  return {};
}

}  // namespace sonde::engine::whatif
