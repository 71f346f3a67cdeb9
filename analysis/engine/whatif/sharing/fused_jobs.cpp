#include "analysis/engine/whatif/sharing/fused_jobs.h"

#include "analysis/engine/whatif/compute/device_works.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/network/retimed_collectives.h"
#include "analysis/engine/whatif/sharing/kernel_waves.h"
#include "analysis/engine/whatif/sharing/long_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// The relative error of waves as a measure of time: blocks of a wave that is not full also share
// the bandwidth of memory.
constexpr double kWaves = 0.2;

class FusingJobs {
 public:
  FusingJobs(Asking& asking, const FusedJobs& of) : asking_(asking), of_(of) {}

  Result<void> run() {
    SONDE_TRY_ASSIGN(const std::vector<DeviceWork> works,
                     readDeviceWorks(asking_.trace, asking_.scenario.job()));
    SONDE_TRY_ASSIGN(shapes_, readLaunchShapes(asking_.trace));
    for (const DeviceWork& each : works) {
      if (each.name.empty())
        grow(each, static_cast<double>(of_.jobs));  // a copy
      else if (!each.isCollective)
        growKernel(each);
    }
    SONDE_TRY(check());
    SONDE_TRY(growCollectives());
    asking_.modelError = std::max(asking_.modelError, kWaves);
    asking_.notes.push_back(fmt::format(
        "the jobs share their launches: {} of {} kernels have recorded shapes, and take {:.2f} "
        "times as long together, by their waves; others, and copies, take {} times as long",
        known_,
        kernels_,
        beforeNs_ > 0 ? afterNs_ / beforeNs_ : 1,
        of_.jobs));
    addThroughputNote(LongRun(asking_.scenario, works));
    return {};
  }

 private:
  std::optional<DeviceLimits> limitsOf(const LaunchShape& shape) {
    const std::string& name = of_.device.empty() ? shape.device : of_.device;
    const auto [at, isNew] = limits_.try_emplace(name);
    if (isNew)
      at->second = deviceLimitsOf(name);
    return at->second;
  }

  void grow(const DeviceWork& work, double factor) {
    const auto now = static_cast<double>(asking_.scenario.durNs()[work.node]);
    asking_.scenario.setNode(work.node, std::llround(now * factor), Origin::Modelled);
  }

  void growKernel(const DeviceWork& work) {
    ++kernels_;
    const auto shape = shapes_.find(asking_.scenario.graph().row[work.node]);
    const std::optional<DeviceLimits> limits =
        shape == shapes_.end() ? std::nullopt : limitsOf(shape->second);
    if (!limits) {
      grow(work, static_cast<double>(of_.jobs));
      return;
    }
    ++known_;
    const double factor = static_cast<double>(wavesOf(*limits, shape->second, of_.jobs)) /
                          static_cast<double>(wavesOf(*limits, shape->second, 1));
    beforeNs_ += static_cast<double>(asking_.scenario.durNs()[work.node]);
    grow(work, factor);
    afterNs_ += static_cast<double>(asking_.scenario.durNs()[work.node]);
  }

  Result<void> check() const {
    if (kernels_ == 0)
      return notFound(
          "the trace has no kernels of a device, so nothing says how much of it a job leaves free");
    if (limits_.empty())  // none of these has a shape
      return notFound(
          "the trace has no grids and blocks of its kernels, so nothing says how much of the "
          "device they fill: record with --sources cuda, or import a trace of torch.profiler");
    if (known_ == 0)
      return notFound(
          fmt::format("how many blocks the trace's device{} holds is unknown: give device=…, such "
                      "as device=H100",
                      limits_.begin()->first.empty() ? "" : " " + limits_.begin()->first));
    return {};
  }

  Result<void> growCollectives() {
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking_.trace, asking_.scenario.job()));
    if (all.empty())
      return {};
    const Networks networks(asking_.scenario, all, asking_.models.collectives);
    double error = 0;
    SONDE_TRY_ASSIGN(
        const std::int64_t kept,
        retime(asking_.scenario, all, [&](const MovedBytes& each) -> std::optional<double> {
          const NetworkModel* model = networks.find(each.communicator, each.op);
          const auto jobs = static_cast<double>(of_.jobs);
          if (model == nullptr)
            return each.presentNs ? std::optional(*each.presentNs * jobs) : std::nullopt;
          const double now = model->ns(costOf(each.op, each.bytes, each.ranks));
          const double then = model->ns(costOf(each.op, each.bytes * of_.jobs, each.ranks));
          error = std::max(error, model->error);
          if (each.presentNs)
            return now > 0 ? *each.presentNs * then / now : *each.presentNs * jobs;
          return then * each.callFactor;
        }));
    asking_.modelError = std::max(asking_.modelError, error);
    if (kept > 0)
      asking_.notes.push_back(fmt::format(
          "{} collectives keep their times, since the trace lacks some of their ranks", kept));
    return {};
  }

  // With all that the questions behind this one change.
  void addThroughputNote(LongRun run) {
    asking_.afterwards.emplace_back(
        [jobs = of_.jobs, run = std::move(run)](Asking& asking) -> Result<void> {
          const double then = run.iterationNs(asking);
          if (then > 0)
            asking.notes.push_back(fmt::format(
                "{} jobs in one have {:.2f} times the throughput of one job on the device, "
                "and each has "
                "{:.2f} times",
                jobs,
                static_cast<double>(jobs) * run.measuredNs() / then,
                run.measuredNs() / then));
          return {};
        });
  }

  Asking& asking_;
  const FusedJobs& of_;
  std::unordered_map<std::int64_t, LaunchShape> shapes_;
  std::map<std::string, std::optional<DeviceLimits>> limits_;
  std::int64_t kernels_ = 0;
  std::int64_t known_ = 0;  // of them
  double beforeNs_ = 0;     // of the known ones
  double afterNs_ = 0;
};

}  // namespace

Question fusedJobs(FusedJobs of) {
  return [of = std::move(of)](Asking& asking) -> Result<void> {
    if (of.jobs < 2)
      return Error{ErrorCode::InvalidArgument, "two jobs or more can run as one"};
    if (!of.device.empty() && !deviceLimitsOf(of.device))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is not a device whose multiprocessors are known", of.device)};
    return FusingJobs(asking, of).run();
  };
}

}  // namespace sonde::engine::whatif
