#include "analysis/engine/whatif/network_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sonde::engine::whatif {
namespace {

constexpr double kErrorOfOneSize = 0.5;

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Busy times with the same cost, and how long they typically are.
struct Sample {
  CollectiveCost cost;
  double ns = 0;
  double weight = 0;  // of a relative error
};

// Least squares of relative errors in α and β, neither below 0.
NetworkModel fit(const std::vector<Sample>& samples) {
  double ss = 0;
  double sb = 0;
  double bb = 0;
  double st = 0;
  double bt = 0;
  for (const Sample& each : samples) {
    const double weight = each.weight / (each.ns * each.ns);
    ss += weight * each.cost.steps * each.cost.steps;
    sb += weight * each.cost.steps * each.cost.bytes;
    bb += weight * each.cost.bytes * each.cost.bytes;
    st += weight * each.cost.steps * each.ns;
    bt += weight * each.cost.bytes * each.ns;
  }
  NetworkModel model;
  const double determinant = ss * bb - sb * sb;
  constexpr double kSingular = 1e-9;
  if (determinant > kSingular * ss * bb) {
    model.stepNs = (st * bb - bt * sb) / determinant;
    model.byteNs = (bt * ss - st * sb) / determinant;
  }
  if (model.stepNs < 0 || model.byteNs <= 0) {
    const bool isFlat = model.byteNs < 0;
    model.stepNs = isFlat && ss > 0 ? st / ss : 0;
    model.byteNs = isFlat || bb <= 0 ? 0 : bt / bb;
  }
  return model;
}

// The collectives of one communicator, by last arrival.
std::vector<Sample> samplesOf(const std::vector<const JobCollective*>& collectives) {
  std::map<std::pair<double, double>, std::vector<double>> times;  // by steps and bytes
  for (auto first = collectives.begin(); first != collectives.end();) {
    const std::int64_t begin = (*first)->lastArrivalNs();
    std::int64_t end = begin;
    CollectiveCost cost;
    bool isComplete = true;
    auto next = first;
    for (; next != collectives.end() && (next == first || (*next)->lastArrivalNs() < end); ++next) {
      const CollectiveCost own = costOf((*next)->op, (*next)->bytes, (*next)->ranks);
      cost.steps += own.steps;
      cost.bytes += own.bytes;
      isComplete = isComplete && (*next)->isComplete();
      end = std::max(end, (*next)->endNs());
    }
    if (isComplete && end > begin)
      times[{cost.steps, cost.bytes}].push_back(static_cast<double>(end - begin));
    first = next;
  }
  std::vector<Sample> samples;
  for (const auto& [cost, each] : times)
    samples.push_back(
        {{cost.first, cost.second}, medianOf(each), static_cast<double>(each.size())});
  return samples;
}

}  // namespace

CollectiveCost costOf(const std::string& op, std::int64_t bytes, std::int64_t ranks) {
  if (ranks <= 1)
    return {};
  const double steps = static_cast<double>(ranks - 1);
  const double share = static_cast<double>(bytes) / static_cast<double>(ranks);
  if (op == "allreduce")
    return {2 * steps, 2 * steps * share};
  if (op == "allgather" || op == "reducescatter" || op == "alltoall")
    return {steps, steps * share};
  return {steps, static_cast<double>(bytes)};
}

std::map<std::string, NetworkModel> fitNetworks(const std::vector<JobCollective>& all) {
  std::map<std::string, std::vector<const JobCollective*>> byCommunicator;
  for (const JobCollective& each : all)
    byCommunicator[each.communicator].push_back(&each);
  std::map<std::string, NetworkModel> models;
  for (const auto& [communicator, collectives] : byCommunicator) {
    const std::vector<Sample> samples = samplesOf(collectives);
    if (samples.empty())
      continue;
    NetworkModel model = fit(samples);
    model.sizes = static_cast<std::int64_t>(samples.size());
    double sum = 0;
    double weights = 0;
    for (const Sample& each : samples) {
      sum += each.weight * std::abs(model.ns(each.cost) / each.ns - 1);
      weights += each.weight;
    }
    model.error = model.sizes > 1 ? sum / weights : kErrorOfOneSize;
    models.emplace(communicator, model);
  }
  return models;
}

}  // namespace sonde::engine::whatif
