#include "analysis/engine/correction/unexplained.h"

#include "analysis/engine/iterations/iterations.h"
#include "analysis/engine/statistics/series.h"
#include "analysis/model/words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sonde::engine::correction {
namespace {

// Machines drift, so only blocks of one stretch are compared, in which the drift is linear.
constexpr std::size_t kBlocksOfStretch = 8;
constexpr std::size_t kFewestStretches = 5;

struct Iteration {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t mask;
  bool isDisturbed;  // the recorder stored meanwhile
  std::size_t block = 0;
};

using Iterations = std::vector<Iteration>;  // of one process, in the order of time

// By process.
std::map<std::int64_t, Iterations> measurableOf(const iterations::Iterations& iterations) {
  std::map<std::int64_t, Iterations> processes;
  for (const iterations::Iteration& each : iterations.all())
    if (each.durNs.value_or(0) > 0 && each.probeMask != 0 && !each.isInner())
      processes[each.processId].push_back(
          {each.startNs, each.endNs(), each.probeMask, each.isDisturbed});
  return processes;
}

// Leaves out the first iteration of each block, which is in transition between two states.
Iterations withoutFirstOfBlocks(const Iterations& all) {
  Iterations kept;
  std::size_t block = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const bool isFirst = at == 0 || all[at].mask != all[at - 1].mask;
    block += isFirst ? 1 : 0;
    if (isFirst || all[at].isDisturbed)
      continue;
    kept.push_back(all[at]);
    kept.back().block = block;
  }
  return kept;
}

std::int64_t fewestProbes(const Iterations& all) {
  std::int64_t fewest = all.front().mask;
  for (const Iteration& each : all)
    if (std::popcount(static_cast<std::uint64_t>(each.mask)) <
        std::popcount(static_cast<std::uint64_t>(fewest)))
      fewest = each.mask;
  return fewest;
}

class Mean {
 public:
  void add(double value) noexcept {
    sum_ += value;
    ++count_;
  }
  bool isKnown() const noexcept { return count_ > 0; }
  double value() const noexcept { return isKnown() ? sum_ / static_cast<double>(count_) : 0; }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

// Observes a process by its iterations and the lane they are on.
class Observer {
 public:
  Observer(const Iterations& iterations,
           std::int64_t fullMask,
           const Timeline& times,
           const Lane& lane,
           const CostTable& costs)
      : iterations_(iterations), full_(fullMask), times_(times), lane_(lane), costs_(costs) {}

  Unexplained observe() const {
    const std::int64_t off = fewestProbes(iterations_);
    std::map<std::size_t, std::pair<Mean, Mean>> stretches;  // durations with probes, and without
    Mean on;
    for (const Iteration& each : iterations_) {
      const auto ns = static_cast<double>(times_(each.end) - times_(each.begin));
      std::pair<Mean, Mean>& stretch = stretches[each.block / kBlocksOfStretch];
      if ((each.mask & full_) == full_) {
        stretch.first.add(ns);
        on.add(ns);
      } else if (each.mask == off) {
        stretch.second.add(ns);
      }
    }
    std::vector<double> differences;
    for (const auto& [number, stretch] : stretches)
      if (stretch.first.isKnown() && stretch.second.isKnown())
        differences.push_back(stretch.first.value() - stretch.second.value());
    if (differences.size() < kFewestStretches || on.value() <= 0)
      return {};
    const double middle = statistics::median(differences);
    return {(middle + unrecordedNs(off)) / on.value(), errorOf(differences, middle) / on.value()};
  }

 private:
  // The cost of an iteration's calls to probes that are off, while only those in the mask `off` are
  // on.
  double unrecordedNs(std::int64_t off) const {
    std::vector<double> unrecorded;
    for (const MeasuredCost& row : costs_.rows())
      unrecorded.push_back((model::probeBit(row.probe) & off) != 0 ? 0 : row.unrecordedNs);
    Mean mean;
    auto point = lane_.points.begin();
    for (const Iteration& each : iterations_) {
      if ((each.mask & full_) != full_)
        continue;
      point =
          std::lower_bound(point, lane_.points.end(), each.begin, [](const CostPoint& of, auto ns) {
            return of.at < ns;
          });
      double sum = 0;
      for (; point != lane_.points.end() && point->at < each.end; ++point)
        if (point->end != CostPoint::End::End)
          sum += unrecorded[point->cost];
      mean.add(sum);
    }
    return mean.value();
  }

  // Standard error of a median.
  static double errorOf(const std::vector<double>& values, double middle) {
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const double value : values)
      distances.push_back(std::abs(value - middle));
    return 1.2533 * 1.4826 * statistics::median(std::move(distances)) /
           std::sqrt(static_cast<double>(values.size()));
  }

  const Iterations& iterations_;
  std::int64_t full_;
  const Timeline& times_;
  const Lane& lane_;
  const CostTable& costs_;
};

// The sum over the recorders of a host, as a mean over hosts.
double recorderShare(const store::Database& trace) {
  const auto ppm = trace.queryInteger(
      "SELECT value / (SELECT max(count(*), 1) FROM host) FROM meta WHERE key = "
      "'recorder_beside_ppm'");
  return ppm ? std::clamp(static_cast<double>(*ppm) / 1e6, 0.0, 1.0) : 0;
}

}  // namespace

Result<Unexplained> unexplainedOf(const store::Database& trace,
                                  const CorrectedTimes& times,
                                  const CostTable& costs) {
  SONDE_TRY_ASSIGN(const auto iterationsOfTrace, iterations::Iterations::read(trace));
  const RecordedProgram& program = *times.program();
  Mean share;
  Mean error;
  for (const auto& [process, all] : measurableOf(iterationsOfTrace)) {
    const Iterations iterations = withoutFirstOfBlocks(all);
    const auto lane = program.ofProcess.find(process);
    const std::int64_t full = iterationsOfTrace.fullMaskOf(process);
    if (iterations.empty() || full == 0 || lane == program.ofProcess.end())
      continue;
    const Unexplained found =
        Observer(
            iterations, full, times.timesOfProcess(process), program.lanes[lane->second], costs)
            .observe();
    if (found.error == 0)
      continue;
    share.add(found.share);
    error.add(found.error);
  }
  return Unexplained{share.value(), error.value(), recorderShare(trace)};
}

}  // namespace sonde::engine::correction
