#include "analysis/engine/whatif/network/network_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace sonde::engine::whatif {
namespace {

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Those of one communicator.
void addBusyTimes(const std::vector<const JobCollective*>& collectives,
                  std::vector<BusyTime>& times) {
  for (auto first = collectives.begin(); first != collectives.end();) {
    const std::int64_t begin = (*first)->lastArrivalNs();
    std::int64_t end = begin;
    CollectiveCost cost;
    bool isComplete = true;
    auto next = first;
    for (; next != collectives.end() && (next == first || (*next)->lastArrivalNs() < end); ++next) {
      cost += costOf((*next)->op, (*next)->bytes, (*next)->ranks);
      isComplete = isComplete && (*next)->isComplete();
      end = std::max(end, (*next)->endNs());
    }
    if (isComplete && end > begin)
      times.push_back({*first, cost, static_cast<double>(end - begin)});
    first = next;
  }
}

}  // namespace

std::vector<BusyTime> busyTimes(const std::vector<JobCollective>& all) {
  std::map<std::string, std::vector<const JobCollective*>> byCommunicator;
  for (const JobCollective& each : all)
    byCommunicator[each.communicator].push_back(&each);
  std::vector<BusyTime> times;
  for (const auto& [communicator, collectives] : byCommunicator)
    addBusyTimes(collectives, times);
  return times;
}

std::vector<models::CollectivePoint> pointsOf(const std::vector<BusyTime>& times) {
  // By ranks, steps and bytes.
  std::map<std::tuple<std::int64_t, double, double>, std::vector<const BusyTime*>> byCost;
  for (const BusyTime& each : times)
    byCost[{each.first->ranks, each.cost.steps, each.cost.bytes}].push_back(&each);
  std::vector<models::CollectivePoint> points;
  for (const auto& [key, same] : byCost) {
    std::vector<double> ns;
    for (const BusyTime* each : same)
      ns.push_back(each->ns);
    points.push_back({same.front()->cost,
                      medianOf(std::move(ns)),
                      static_cast<double>(same.size()),
                      std::get<0>(key)});
  }
  return points;
}

std::map<std::string, NetworkModel> fitNetworks(const std::vector<JobCollective>& all) {
  std::map<std::string, std::vector<BusyTime>> byCommunicator;
  for (const BusyTime& each : busyTimes(all))
    byCommunicator[each.first->communicator].push_back(each);
  std::map<std::string, NetworkModel> fitted;
  for (const auto& [communicator, times] : byCommunicator)
    fitted.emplace(communicator, models::fitCollectives(pointsOf(times)));
  return fitted;
}

std::string describe(const NetworkModel& model) {
  const double perByte = model.byteNs + model.payloadNs;
  return fmt::format("{:.1f} µs a step and {:.2f} Gbit/s, fitted to {} {} with {:.1f} % error{}",
                     model.stepNs / 1e3,
                     perByte > 0 ? 8 / perByte : 0,
                     model.sizes,
                     model.sizes == 1 ? "size" : "sizes",
                     100 * model.error,
                     model.isErrorMeasured ? " on sizes left out of the fit" : ", an assumption");
}

}  // namespace sonde::engine::whatif
