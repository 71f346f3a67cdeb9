#include "analysis/engine/whatif/network.h"

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/network_model.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

Result<bool> usesTcp(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      const std::int64_t found,
      trace.queryInteger("SELECT EXISTS(SELECT 1 FROM transfer t JOIN channel c ON c.id = "
                         "t.channel_id WHERE c.kind = 'tcp')"));
  return found != 0;
}

NetworkModel changed(NetworkModel model, const Network& of, double efficiency) {
  if (of.bytesPerNs)
    model.byteNs = 1 / (*of.bytesPerNs * efficiency);
  if (of.bandwidthFactor)
    model.byteNs /= *of.bandwidthFactor;
  if (of.latencyNs)
    model.stepNs = static_cast<double>(*of.latencyNs);
  return model;
}

}  // namespace

Question network(Network of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, asking.scenario.job()));
    const std::map<std::string, NetworkModel> models = fitNetworks(all);
    if (models.empty())
      return notFound(
          "the trace has no collectives of all their ranks, so the network's speed is unknown: "
          "give "
          "the traces of all ranks");
    SONDE_TRY_ASSIGN(const bool isTcp, usesTcp(asking.trace));
    TransferEdits edits(asking.scenario);
    std::int64_t left = 0;
    double error = 0;
    double total = 0;
    for (const JobCollective& each : all) {
      const auto now = models.find(each.communicator);
      if (now == models.end()) {
        ++left;
        continue;
      }
      const NetworkModel then = changed(now->second, of, isTcp && !each.isOnDevice ? kOfTcp : 1);
      const CollectiveCost cost = costOf(each.op, each.bytes, each.ranks);
      if (!edits.set(each, then.ns(cost), Origin::Modelled))
        ++left;
      error += then.ns(cost) * errorOf(now->second, then, cost, of);
      total += then.ns(cost);
    }
    SONDE_TRY(edits.apply());
    if (total > 0)
      asking.modelError = std::max(asking.modelError, error / total);
    for (const auto& [communicator, model] : models) {
      asking.notes.push_back(fmt::format(
          "communicator {}: now {:.1f} µs a step and {:.2f} Gbit/s, fitted to {} sizes with {:.1f} "
          "% error",
          communicator,
          model.stepNs / 1e3,
          model.byteNs > 0 ? 8 / model.byteNs : 0,
          model.sizes,
          100 * model.error));
    }
    if (left > 0)
      asking.notes.push_back(fmt::format(
          "{} collectives keep their times, since the trace lacks some of their ranks", left));
    return {};
  };
}

}  // namespace sonde::engine::whatif
