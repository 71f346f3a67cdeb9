#include "analysis/engine/whatif/sharing/second_job.h"

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/compute/overlap_penalty.h"
#include "analysis/engine/whatif/sharing/idle_time.h"
#include "analysis/engine/whatif/sharing/long_run.h"
#include "analysis/engine/whatif/sharing/two_waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

constexpr double kOfUser =
    0.2;  // the relative error of a given slow-down, and of a guessed overlap

struct BesideOther {
  double slowdown = 0;
  double error = 0;
};

Result<BesideOther> slowdownOf(Asking& asking, const SecondJob& of) {
  if (of.slowdown)
    return BesideOther{*of.slowdown, kOfUser};
  const auto measured = measureOverlapPenalty(asking.trace, asking.scenario.job());
  if (!measured && measured.error().code == ErrorCode::NotFound)
    return notFound(
        fmt::format("how much a second job slows down kernels beside it is not known: give "
                    "slowdown=…, such as slowdown=30% ({})",
                    measured.error().message));
  if (!measured)
    return measured.error();
  const bool isNone = measured->slowdown <= 2 * measured->standardError;
  asking.notes.push_back(
      fmt::format("kernels beside a second job's take {:.1f} % longer, as beside collectives: "
                  "measured, {:.1f} % "
                  "± {:.1f} %",
                  isNone ? 0.0 : 100 * measured->slowdown,
                  100 * measured->slowdown,
                  200 * measured->standardError));
  return BesideOther{isNone ? 0 : measured->slowdown, kOfUser + measured->standardError};
}

// The kernel behind each gap has the end of the other job's last kernel beside it.
void slowDown(Scenario& scenario, const IdleTime& idle, double slowdown) {
  for (const DeviceGap& gap : idle.gaps) {
    if (gap.next == graph::kNoNode)
      continue;
    const std::int64_t begin = scenario.graph().beginNs[gap.next];
    const auto measured = static_cast<double>(scenario.graph().durNs[gap.next]);
    const auto now = static_cast<double>(scenario.durNs()[gap.next]);
    if (measured <= 0 || now <= 0)
      continue;
    // In measured time, of which the kernel takes another now.
    const double beside = std::min(static_cast<double>(idle.typicalNs) / 2, now) * measured / now;
    scenario.scale(gap.next, begin, begin + std::llround(beside), 1 + slowdown, Origin::Modelled);
  }
}

void addShareNotes(Asking& asking, const IdleTime& idle, LongRun run) {
  asking.notes.push_back(fmt::format(
      "a second job gets {:.3g} ms of a device in an iteration of {:.3g} ms: {:.1f} %, in gaps at "
      "least as long as the median kernel, {:.3g} us. {:.3g} ms are in shorter gaps, and in {:.3g} "
      "ms only collectives run, which do not count",
      idle.idleNs / 1e6,
      idle.iterationNs / 1e6,
      idle.iterationNs > 0 ? 100 * idle.idleNs / idle.iterationNs : 0,
      static_cast<double>(idle.typicalNs) / 1e3,
      idle.shortNs / 1e6,
      idle.collectiveNs / 1e6));
  asking.afterwards.emplace_back(
      [run = std::move(run), ns = idle.idleNs](Asking& then) -> Result<void> {
        const double before = run.measuredNs();
        const double after = run.iterationNs(then);
        if (after > 0)
          then.notes.push_back(fmt::format(
              "this job then has {:.3f} times its throughput, and the second one {:.3f} "
              "times that of a device of its own: {:.2f} times together",
              before / after,
              ns / after,
              (before + ns) / after));
        return {};
      });
}

Result<void> checkSecondJob(const SecondJob& of, const Scenario& scenario) {
  if (of.isWave && of.slowdown)
    return Error{ErrorCode::InvalidArgument,
                 "wave=yes lets kernels of both jobs take turns, so it has no slowdown"};
  if (of.slowdown && !(*of.slowdown >= 0 && std::isfinite(*of.slowdown)))
    return Error{ErrorCode::InvalidArgument,
                 "slowdown is how much longer kernels take, from 0 on, such as 30%"};
  if (scenario.setting().ranks)
    return Error{ErrorCode::InvalidArgument,
                 "ask about a second job before another number of ranks: new ranks have devices "
                 "that the trace does not show"};
  return {};
}

Result<void> runBeside(Asking& asking, const SecondJob& of, const IdleTime& idle, LongRun run) {
  SONDE_TRY_ASSIGN(const BesideOther beside, slowdownOf(asking, of));
  slowDown(asking.scenario, idle, beside.slowdown);
  asking.modelError = std::max(asking.modelError, beside.error);
  addShareNotes(asking, idle, std::move(run));
  return {};
}

}  // namespace

Question secondJob(SecondJob of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY(checkSecondJob(of, asking.scenario));
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking.trace, asking.scenario.job()));
    SONDE_TRY_ASSIGN(const IdleTime idle, findIdleTime(asking.trace, asking.scenario, works));
    LongRun run(asking.scenario, works);
    if (!of.isWave)
      return runBeside(asking, of, idle, std::move(run));
    asking.afterwards.emplace_back(
        [run = std::move(run)](Asking& then) { return runTwoWaves(then, run); });
    return {};
  };
}

}  // namespace sonde::engine::whatif
