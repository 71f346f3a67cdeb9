#include "analysis/engine/calibration/separate_runs.h"

#include "analysis/engine/calibration/iteration_costs.h"
#include "analysis/model/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::engine::calibration {
namespace {

constexpr std::size_t kFewestIterations = 20;

// Some iterations take far longer than most, and recording's part of that belongs to its cost. So
// disturbed stretches of the run are trimmed, not single iterations.
constexpr std::size_t kStretchIterations = 10;

// Iterations of a process that has too few for one stretch form a single stretch.
void addStretchMeans(const std::vector<double>& durations, std::vector<double>& means) {
  const std::size_t length = std::min(kStretchIterations, durations.size());
  for (std::size_t first = 0; length > 0 && first + length <= durations.size(); first += length) {
    const auto begin = durations.begin() + static_cast<std::ptrdiff_t>(first);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(length), 0.0) /
                    static_cast<double>(length));
  }
}

Error tooFewIterations(std::size_t made) {
  if (made >= kFewestIterations)
    return {ErrorCode::NotFound,
            fmt::format("none of the {} iterations of the command counts, since the first one of "
                        "each process is ignored: let each process make more",
                        made)};
  return {
      ErrorCode::NotFound,
      fmt::format("the command made {} iterations, too few to measure the cost of recording: let "
                  "it make {} or more (`with sonde.iteration():`, or steps of a PyTorch optimiser)",
                  made,
                  kFewestIterations)};
}

double trimmedMean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::ptrdiff_t>(
      values.size() < 3 ? 0 : std::max<std::size_t>(values.size() / 10, 1));
  return std::accumulate(values.begin() + cut, values.end() - cut, 0.0) /
         static_cast<double>(static_cast<std::ptrdiff_t>(values.size()) - 2 * cut);
}

std::int64_t fullMaskOf(const std::vector<CalibrationRun>& runs) {
  std::int64_t mask = 0;
  for (const CalibrationRun& run : runs)
    mask |= run.mask;
  return mask;
}

// Means over all runs with all probes: each probe's recording cost, and the iteration's length.
struct Full {
  std::map<std::string, double> costNs;
  std::map<std::string, double> unrecordedNs;
  double iterationNs = 0;
};

Full fullOf(const std::vector<CalibrationRun>& runs, std::int64_t fullMask) {
  Full full;
  double count = 0;
  for (const CalibrationRun& run : runs) {
    if (run.mask != fullMask)
      continue;
    ++count;
    full.iterationNs += run.iterationNs;
    for (const auto& [probe, ns] : run.costNs)
      full.costNs[probe] += ns;
    for (const auto& [probe, ns] : run.unrecordedNs)
      full.unrecordedNs[probe] += ns;
  }
  count = std::max(count, 1.0);
  full.iterationNs /= count;
  for (auto* const sums : {&full.costNs, &full.unrecordedNs})
    for (auto& [probe, ns] : *sums)
      ns /= count;
  return full;
}

}  // namespace

Result<CalibrationRun> readCalibrationRun(const store::Database& trace,
                                          const correction::CostTable& known) {
  SONDE_TRY_ASSIGN(const IterationCosts costs, readIterationCosts(trace, known));
  CalibrationRun run;
  std::size_t made = 0;
  std::size_t count = 0;
  std::vector<double> means;
  for (const CostedProcess& process : costs.processes) {
    std::vector<double> durations;
    for (const CostedIteration& each : process.iterations) {
      run.mask |= each.mask;
      durations.push_back(each.durationNs());
      for (std::size_t at = 0; at < costs.probes.size(); ++at)
        run.costNs[costs.probes[at]] += each.costNs[at];
    }
    made += process.made;
    count += durations.size();
    addStretchMeans(durations, means);
  }
  if (made < kFewestIterations || means.empty())
    return tooFewIterations(made);
  run.iterations = static_cast<std::int64_t>(count);
  for (auto& [probe, ns] : run.costNs)
    ns /= static_cast<double>(count);
  for (std::size_t at = 0; at < costs.probes.size(); ++at)
    run.unrecordedNs[costs.probes[at]] = run.costNs[costs.probes[at]] * costs.unrecorded[at];
  run.iterationNs = trimmedMean(std::move(means));
  return run;
}

Error nothingToCalibrate() {
  return {ErrorCode::NotFound,
          "the command recorded nothing but its own annotations: there is nothing to calibrate"};
}

Result<CalibratedCosts> calibrateRuns(const std::vector<CalibrationRun>& runs,
                                      const correction::CostTable& known) {
  const std::int64_t fullMask = fullMaskOf(runs);
  Full full = fullOf(runs, fullMask);
  std::vector<std::string> probes;
  std::vector<double> recordedNs;
  for (const auto& [probe, ns] : full.costNs) {
    const auto isOff = [bit = model::probeBit(probe)](const CalibrationRun& run) {
      return (run.mask & bit) == 0;
    };
    if (ns <= 0 || std::none_of(runs.begin(), runs.end(), isOff))
      continue;
    probes.push_back(probe);
    recordedNs.push_back(ns);
  }
  if (probes.empty())
    return nothingToCalibrate();
  std::vector<Observation> observations;
  std::int64_t iterations = 0;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    Observation observation{runs[at].iterationNs, recordedNs, runs[at].round, at};
    for (std::size_t probe = 0; probe < probes.size(); ++probe)
      if ((runs[at].mask & model::probeBit(probes[probe])) == 0)
        observation.costNs[probe] = 0;
    observations.push_back(std::move(observation));
    iterations += runs[at].iterations;
  }
  SONDE_TRY_ASSIGN(const Factors factors,
                   fitFactors(observations, Trend::Level, priorsOf(known, probes)));
  std::vector<ProbeCost> recorded;
  for (std::size_t at = 0; at < probes.size(); ++at)
    recorded.push_back({probes[at], recordedNs[at], full.unrecordedNs[probes[at]]});
  CalibratedCosts result =
      applyFactors(known, recorded, factors, correction::method::kSeparateRuns);
  result.iterationNs = full.iterationNs;
  result.iterations = iterations;
  return result;
}

}  // namespace sonde::engine::calibration
