#include "analysis/engine/calibration/in_run.h"

#include "analysis/engine/correction/correct.h"
#include "analysis/engine/correction/recorded_program.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::calibration {
namespace {

using correction::CostTable;
using correction::EventCost;
using correction::RecordedProgram;
using correction::Timeline;

// So many blocks share a level and a slope: few enough that a machine's drift is even in them, many
// enough that each has all kinds of blocks.
constexpr std::size_t kBlocksOfStretch = 8;

struct Iteration {
  std::int64_t number;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t mask;
  std::size_t block = 0;
  std::vector<double> costNs;  // by probe, as it was recorded
};

// The iterations of one process, by number.
struct Run {
  std::int64_t processId;
  std::int64_t fullMask = 0;
  std::vector<Iteration> iterations;
};

Result<std::vector<Run>> readRuns(const store::Database& trace) {
  std::vector<Run> runs;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT process_id, number, start_ns, start_ns + dur_ns, probe_mask FROM iteration "
      "WHERE dur_ns > 0 AND probe_mask <> 0 ORDER BY process_id, start_ns",
      [&](const store::Statement& row) -> Result<void> {
        if (runs.empty() || runs.back().processId != row.integer(0))
          runs.push_back({row.integer(0), 0, {}});
        Run& run = runs.back();
        run.fullMask = std::max(run.fullMask, row.integer(4));
        run.iterations.push_back(
            {row.integer(1), row.integer(2), row.integer(3), row.integer(4), 0, {}});
        return {};
      }));
  std::erase_if(runs, [](const Run& run) {
    return std::all_of(run.iterations.begin(), run.iterations.end(), [&](const Iteration& each) {
      return each.mask == run.fullMask;
    });
  });
  return runs;
}

// A block ends where what is recorded changes. Its first iteration is not like the others: caches
// are still those of before, and hooks are put in place or taken out.
void dropFirstOfBlocks(Run& run) {
  std::vector<Iteration> kept;
  std::int64_t mask = -1;
  std::size_t block = 0;
  for (Iteration& each : run.iterations) {
    const bool isFirst = each.mask != mask;
    block += isFirst ? 1 : 0;
    mask = each.mask;
    each.block = block;
    if (!isFirst)
      kept.push_back(each);
  }
  run.iterations = std::move(kept);
}

class Calibration {
 public:
  Calibration(const CostTable& known, const RecordedProgram& program, std::vector<Run> runs)
      : known_(known), program_(program), runs_(std::move(runs)) {}

  Result<CalibratedCosts> run() {
    for (Run& run : runs_)
      dropFirstOfBlocks(run);
    for (const std::string& probe : switchedProbes())
      measure(probe);
    if (probes_.empty())
      return Error{ErrorCode::NotFound,
                   "nothing was recorded of the probes that were switched off and on"};
    observe();
    SONDE_TRY_ASSIGN(const Factors factors, fitFactors(observations_, priorsOf(known_, probes_)));
    CalibratedCosts result =
        applyFactors(known_, probes_, meanCosts(), factors, "in-run");
    result.iterations = static_cast<std::int64_t>(observations_.size());
    result.iterationNs = full_.durationNs / static_cast<double>(std::max<std::size_t>(full_.count, 1));
    return result;
  }

 private:
  std::vector<std::string> switchedProbes() const {
    std::vector<std::string> probes;
    for (const std::string_view probe : model::kProbeWords) {
      const std::int64_t bit = model::probeBit(probe);
      for (const Run& run : runs_)
        if ((run.fullMask & bit) != 0 &&
            std::any_of(run.iterations.begin(), run.iterations.end(), [&](const Iteration& each) {
              return (each.mask & bit) == 0;
            })) {
          probes.emplace_back(probe);
          break;
        }
    }
    return probes;
  }

  // What the recording of one probe alone took of each iteration, waits that absorb it considered.
  void measure(const std::string& probe) {
    std::vector<EventCost> costs = known_.costs();
    for (std::size_t at = 0; at < costs.size(); ++at)
      if (known_.rows()[at].probe != probe)
        costs[at] = {};
    const std::vector<Timeline> lanes = correction::correct(program_.program, costs);
    bool any = false;
    std::vector<std::vector<double>> taken;
    for (const Run& run : runs_) {
      const auto lane = program_.ofProcess.find(run.processId);
      taken.emplace_back();
      for (const Iteration& each : run.iterations) {
        const double ns = lane == program_.ofProcess.end()
                              ? 0
                              : static_cast<double>(lanes[lane->second].delayAt(each.end) -
                                                    lanes[lane->second].delayAt(each.begin));
        any = any || ns > 0;
        taken.back().push_back(std::max(ns, 0.0));
      }
    }
    if (!any)
      return;
    probes_.push_back(probe);
    for (std::size_t run = 0; run < runs_.size(); ++run)
      for (std::size_t at = 0; at < runs_[run].iterations.size(); ++at)
        runs_[run].iterations[at].costNs.push_back(taken[run][at]);
  }

  // In place of what an iteration recorded stands what those around it with all probes did in the
  // mean: one that has more to do records more, which would count as if it took longer for that.
  void observe() {
    std::size_t stretches = 0;
    for (const Run& run : runs_) {
      const std::vector<Iteration>& all = run.iterations;
      for (std::size_t first = 0; first < all.size(); ++stretches) {
        std::size_t last = first;
        while (last < all.size() &&
               all[last].block / kBlocksOfStretch == all[first].block / kBlocksOfStretch)
          ++last;
        observeStretch(run, {first, last}, stretches);
        first = last;
      }
    }
  }

  void observeStretch(const Run& run, std::pair<std::size_t, std::size_t> range, std::size_t number) {
    std::vector<double> mean(probes_.size(), 0);
    std::size_t count = 0;
    for (std::size_t at = range.first; at < range.second; ++at) {
      const Iteration& each = run.iterations[at];
      if (each.mask != run.fullMask)
        continue;
      ++count;
      full_.durationNs += static_cast<double>(each.end - each.begin);
      ++full_.count;
      for (std::size_t probe = 0; probe < probes_.size(); ++probe)
        mean[probe] += each.costNs[probe];
    }
    if (count == 0)
      return;
    full_.costNs.resize(probes_.size());
    for (std::size_t probe = 0; probe < probes_.size(); ++probe) {
      full_.costNs[probe] += mean[probe];
      mean[probe] /= static_cast<double>(count);
    }
    for (std::size_t at = range.first; at < range.second; ++at) {
      const Iteration& each = run.iterations[at];
      Observation observation{static_cast<double>(each.end - each.begin), mean, number, each.block};
      for (std::size_t probe = 0; probe < probes_.size(); ++probe)
        if ((each.mask & model::probeBit(probes_[probe])) == 0)
          observation.costNs[probe] = 0;
      observations_.push_back(std::move(observation));
    }
  }

  std::vector<double> meanCosts() const {
    std::vector<double> costs = full_.costNs;
    for (double& cost : costs)
      cost /= static_cast<double>(full_.count);
    return costs;
  }

  const CostTable& known_;
  const RecordedProgram& program_;
  std::vector<Run> runs_;
  std::vector<std::string> probes_;  // that recorded anything
  std::vector<Observation> observations_;
  struct {
    double durationNs = 0;
    std::vector<double> costNs;
    std::size_t count = 0;
  } full_;  // the sums over iterations with all probes
};

}  // namespace

Result<std::optional<CalibratedCosts>> calibrateInRun(const store::Database& trace) {
  SONDE_TRY_ASSIGN(std::vector<Run> runs, readRuns(trace));
  if (runs.empty())
    return std::optional<CalibratedCosts>();
  SONDE_TRY_ASSIGN(const CostTable known, CostTable::read(trace));
  SONDE_TRY_ASSIGN(const RecordedProgram program, correction::readProgram(trace, known));
  SONDE_TRY_ASSIGN(CalibratedCosts costs, Calibration(known, program, std::move(runs)).run());
  return std::optional(std::move(costs));
}

}  // namespace sonde::engine::calibration
