#include "analysis/engine/whatif/network/network.h"

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/network/processor_limit.h"
#include "analysis/engine/whatif/network/retimed_collectives.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// A network never gives a program all of its nominal bandwidth.
constexpr double kOfBandwidth = 0.03;

// The part of a collective's new time that may be wrong.
double errorOf(const NetworkModel& now,
               const NetworkModel& then,
               const CollectiveCost& cost,
               const Network& of) {
  const double total = then.ns(cost);
  if (total <= 0)
    return 0;
  const double fitted = (of.bytesPerNs ? 0 : then.byteNs * cost.bytes) +
                        (of.latencyNs ? 0 : then.stepNs * cost.steps);
  return kOfBandwidth + now.error * fitted / total;
}

// The part of an Ethernet link's bandwidth that TCP gives a program: frames have 1,514 bytes, of
// which 1,448 are data.
constexpr double kOfTcp = 1448.0 / 1514;
constexpr double kMostReceiveNs = 5;  // for a byte; a call that takes longer waited

struct Received {
  std::int64_t bytes = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(bytes, durNs)
};
constexpr const char* kReceived =
    "SELECT t.bytes, t.dur_ns FROM transfer t JOIN channel c ON c.id = t.channel_id WHERE c.kind = "
    "'tcp' AND t.direction = 'receive' AND t.bytes >= 2048 AND t.dur_ns IS NOT NULL";

// How a job's programs use its network.
struct Sockets {
  bool isTcp = false;
  double receiveNs = 0;  // a processor's time for a byte, after the link has brought it
};

Result<Sockets> readSockets(const store::Database& trace) {
  std::vector<double> perByte;
  SONDE_TRY(store::forEach<Received>(trace, kReceived, [&](const Received& row) {
    perByte.push_back(static_cast<double>(row.durNs) / static_cast<double>(row.bytes));
  }));
  if (perByte.empty())
    return Sockets{};
  const auto middle = perByte.begin() + static_cast<std::ptrdiff_t>(perByte.size() / 2);
  std::nth_element(perByte.begin(), middle, perByte.end());
  return Sockets{true, std::min(*middle, kMostReceiveNs)};
}

NetworkModel changed(NetworkModel model, const Network& of, const Sockets& sockets) {
  if (of.bytesPerNs && sockets.isTcp)
    model.byteNs = 1 / (*of.bytesPerNs * kOfTcp) + sockets.receiveNs;
  else if (of.bytesPerNs)
    model.byteNs = 1 / *of.bytesPerNs;
  if (of.bytesPerNs)
    model.payloadNs = 0;
  if (of.bandwidthFactor) {
    model.byteNs /= *of.bandwidthFactor;
    model.payloadNs /= *of.bandwidthFactor;
  }
  if (of.latencyNs)
    model.stepNs = static_cast<double>(*of.latencyNs);
  if (of.latencyNs && *of.latencyNs == 0)
    model.callNs = 0;  // nothing but bytes takes time
  return model;
}

}  // namespace

Question network(Network of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, asking.scenario.job()));
    const Networks networks(asking.scenario, all, asking.models.collectives);
    if (networks.empty())
      return notFound(
          "the trace has no collectives of all their ranks, so the network's speed is unknown: "
          "give "
          "the traces of all ranks");
    SONDE_TRY_ASSIGN(const Sockets sockets, readSockets(asking.trace));
    std::map<NetworkKey, NetworkModel> changedModels;
    for (const JobCollective& each : all)
      if (const NetworkModel* now = networks.find(each.communicator, each.op))
        changedModels.emplace(NetworkKey(each.communicator, each.op),
                              changed(*now, of, each.isOnDevice ? Sockets() : sockets));
    double error = 0;
    double total = 0;
    SONDE_TRY_ASSIGN(
        const std::int64_t left,
        retime(asking.scenario, all, [&](const MovedBytes& each) -> std::optional<double> {
          const NetworkModel* now = networks.find(each.communicator, each.op);
          const auto then = changedModels.find({each.communicator, each.op});
          if (now == nullptr || then == changedModels.end())
            return std::nullopt;
          const CollectiveCost cost = costOf(each.op, each.bytes, each.ranks);
          const double ns = then->second.ns(cost);
          error += ns * errorOf(*now, then->second, cost, of);
          total += ns;
          return ns;
        }));
    if (total > 0)
      asking.modelError = std::max(asking.modelError, error / total);
    std::set<std::string> notes;
    for (const auto& [key, then] : changedModels)
      notes.insert(fmt::format(
          "communicator {}: now {}", key.first, networks.describe(key.first, key.second)));
    asking.notes.insert(asking.notes.end(), notes.begin(), notes.end());
    for (auto& [key, then] : changedModels)
      asking.scenario.setting().networks.insert_or_assign(key, then);
    if (left > 0)
      asking.notes.push_back(fmt::format(
          "{} collectives keep their times, since the trace lacks some of their ranks", left));
    asking.afterwards.emplace_back(checkProcessors);
    return {};
  };
}

}  // namespace sonde::engine::whatif
