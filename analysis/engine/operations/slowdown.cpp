#include "analysis/engine/operations/slowdown.h"

#include "analysis/engine/operations/step_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace sonde::engine::operations {
namespace {

using model::OperationType;

constexpr std::size_t kSlowestPercent = 3;

double meanOf(const std::vector<std::int64_t>& values) {
  double sum = 0;
  for (const std::int64_t value : values)
    sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double medianOf(std::vector<std::int64_t>& values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1)
    return upper;
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + upper) / 2;
}

// Sends and receives of a direction are one group, named by its send.
OperationType groupOf(OperationType type) noexcept {
  if (type == OperationType::ForwardReceive)
    return OperationType::ForwardSend;
  return type == OperationType::BackwardReceive ? OperationType::BackwardSend : type;
}

std::string nameOf(OperationType group) {
  if (group == OperationType::ForwardSend)
    return "forward-pp-comm";
  return group == OperationType::BackwardSend ? "backward-pp-comm" : std::string(word(group));
}

class Decomposition {
 public:
  explicit Decomposition(const OperationGraph& job)
      : job_(job), ideal_(idealDurations(job)), durations_(job.graph.durNs) {}

  Result<Slowdown> find() {
    Slowdown found;
    found.ownNs = meanOf(timesWithoutDelays(job_, job_.graph.durNs));
    found.idealNs = meanOf(timesWithoutDelays(job_, ideal_));
    if (found.idealNs <= 0)
      return notFound("the operations of the job take no time");
    found.slowdown = found.ownNs / found.idealNs;
    addTypes(found);
    addWorkers(
        found, [](const Worker& worker) { return worker.dataParallel; }, found.dataParallelRanks);
    addWorkers(
        found, [](const Worker& worker) { return worker.stage; }, found.stages);
    found.lastStageShare = shareOf(
        found, [&](std::uint32_t worker) { return job_.workers[worker].stage + 1 == job_.stages; });
    found.slowestWorkers = slowestWorkers(found);
    found.slowestWorkersShare = shareOf(found, [&](std::uint32_t worker) {
      return std::count(found.slowestWorkers.begin(), found.slowestWorkers.end(), worker) > 0;
    });
    return found;
  }

 private:
  // The mean step in which the operations that `isOwn` accepts take their own time.
  template <typename IsOwn>
  double meanWith(const IsOwn& isOwn) {
    for (std::size_t node = 0; node < durations_.size(); ++node) {
      const NodeOperation& each = job_.operations[node];
      const bool own = each.worker != kNoWorker && isOwn(each);
      durations_[node] = own ? job_.graph.durNs[node] : ideal_[node];
    }
    return meanOf(timesWithoutDelays(job_, durations_));
  }

  // The part of the slow-down that goes if these workers get ideal durations.
  template <typename IsIdeal>
  double shareOf(const Slowdown& found, const IsIdeal& isIdeal) {
    if (found.ownNs == found.idealNs)
      return 0;
    const double without =
        meanWith([&](const NodeOperation& each) { return !isIdeal(each.worker); });
    return (found.ownNs - without) / (found.ownNs - found.idealNs);
  }

  std::vector<std::uint32_t> slowestWorkers(const Slowdown& found) const {
    std::map<std::int64_t, double> ranks;
    for (const GroupSlowdown& each : found.dataParallelRanks)
      ranks[each.number] = each.slowdown;
    std::map<std::int64_t, double> stages;
    for (const GroupSlowdown& each : found.stages)
      stages[each.number] = each.slowdown;
    std::vector<std::uint32_t> workers(job_.workers.size());
    std::iota(workers.begin(), workers.end(), 0U);
    const auto slowdown = [&](std::uint32_t index) {
      const Worker& worker = job_.workers[index];
      return std::min(ranks[worker.dataParallel], stages[worker.stage]);
    };
    std::stable_sort(workers.begin(), workers.end(), [&](std::uint32_t a, std::uint32_t b) {
      return slowdown(a) > slowdown(b);
    });
    workers.resize(std::max<std::size_t>(1, workers.size() * kSlowestPercent / 100));
    return workers;
  }

  void addTypes(Slowdown& found) {
    std::set<OperationType> groups;
    for (const NodeOperation& each : job_.operations)
      if (each.worker != kNoWorker)
        groups.insert(groupOf(each.type));
    for (const OperationType group : groups) {
      const double mean =
          meanWith([&](const NodeOperation& each) { return groupOf(each.type) == group; });
      found.types.push_back({nameOf(group), 0, mean / found.idealNs});
    }
  }

  template <typename NumberOf>
  void addWorkers(const Slowdown& found,
                  const NumberOf& numberOf,
                  std::vector<GroupSlowdown>& into) {
    std::set<std::int64_t> numbers;
    for (const Worker& worker : job_.workers)
      numbers.insert(numberOf(worker));
    for (const std::int64_t number : numbers) {
      const double mean = meanWith(
          [&](const NodeOperation& each) { return numberOf(job_.workers[each.worker]) == number; });
      into.push_back({"", number, mean / found.idealNs});
    }
  }

  const OperationGraph& job_;
  std::vector<std::int64_t> ideal_;
  std::vector<std::int64_t> durations_;  // of the current replay
};

}  // namespace

std::vector<std::int64_t> idealDurations(const OperationGraph& job) {
  std::array<std::vector<std::int64_t>, model::kOperationTypes> byType;
  for (std::size_t node = 0; node < job.operations.size(); ++node)
    if (job.operations[node].worker != kNoWorker)
      byType[static_cast<std::size_t>(job.operations[node].type)].push_back(job.graph.durNs[node]);
  std::array<std::int64_t, model::kOperationTypes> typical{};
  for (std::size_t type = 0; type < byType.size(); ++type) {
    const bool isMedian = isCommunication(static_cast<OperationType>(type));
    typical[type] = std::llround(isMedian ? medianOf(byType[type]) : meanOf(byType[type]));
  }
  std::vector<std::int64_t> ideal(job.operations.size(), 0);
  for (std::size_t node = 0; node < ideal.size(); ++node)
    if (job.operations[node].worker != kNoWorker)
      ideal[node] = typical[static_cast<std::size_t>(job.operations[node].type)];
  return ideal;
}

Result<Slowdown> slowdownOf(const OperationGraph& job) {
  return Decomposition(job).find();
}

}  // namespace sonde::engine::operations
