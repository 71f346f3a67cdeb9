#include "analysis/engine/whatif/network/serial_transfers.h"

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using Group = std::vector<const JobCollective*>;

// Those of a communicator that overlap, by arrival.
std::vector<Group> overlapping(const std::vector<const JobCollective*>& collectives) {
  std::vector<Group> groups;
  std::int64_t end = 0;
  for (const JobCollective* each : collectives) {
    const bool isApart = groups.empty() || each->lastArrivalNs() >= end;
    if (isApart)
      groups.emplace_back();
    groups.back().push_back(each);
    end = isApart ? each->endNs() : std::max(end, each->endNs());
  }
  std::erase_if(groups, [](const Group& group) { return group.size() < 2; });
  return groups;
}

double modelledNs(const JobCollective& of, const Networks& networks) {
  const NetworkModel* model = networks.find(of.communicator, of.op);
  return model == nullptr ? static_cast<double>(of.bytes)
                          : model->ns(costOf(of.op, of.bytes, of.ranks));
}

}  // namespace

Result<void> serialiseTransfers(Asking& asking) {
  SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                   readCollectives(asking.trace, asking.scenario.job()));
  const Networks networks(asking.scenario, all, asking.models.collectives);
  TransferEdits edits(asking.scenario);
  std::map<std::string, std::vector<const JobCollective*>> byCommunicator;
  for (const JobCollective& each : all)
    if (!each.isOnDevice && each.isComplete() && !edits.isReplaced(each))
      byCommunicator[each.communicator].push_back(&each);
  for (const auto& [communicator, collectives] : byCommunicator)
    for (const Group& group : overlapping(collectives)) {
      const std::int64_t begin = group.front()->lastArrivalNs();
      std::int64_t end = begin;
      double sum = 0;
      for (const JobCollective* each : group) {
        end = std::max(end, each->endNs());
        sum += modelledNs(*each, networks);
      }
      const double factor = sum > 0 ? static_cast<double>(end - begin) / sum : 0;
      for (const JobCollective* each : group)
        edits.set(*each, modelledNs(*each, networks) * factor, Origin::Scaled);
    }
  return edits.apply();
}

}  // namespace sonde::engine::whatif
