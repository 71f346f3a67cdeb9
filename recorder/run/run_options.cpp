#include "recorder/run/run_options.h"

#include "collector/wire/calibration.h"

#include <fmt/format.h>

#include <string_view>

namespace sonde::recorder {
namespace {

// Close to 100, but never in step with periodic work.
constexpr std::uint32_t kStacksPerSecond = 99;

struct Need {
  bool isGiven;
  std::string_view options;
  wire::Probe probe;
  std::string_view source;
};

}  // namespace

wire::StackRule StackOptions::rule() const {
  wire::StackRule rule{perSecond.value_or(kStacksPerSecond), 0};
  if (wall)
    rule.flags |= wire::StackRule::kWall;
  if (wall || atWaits)
    rule.flags |= wire::StackRule::kAtBlock;
  if (atCollectives)
    rule.flags |= wire::StackRule::kAtCollective;
  if (atAllocations)
    rule.flags |= wire::StackRule::kAtAllocation;
  if (atCudaCalls)
    rule.flags |= wire::StackRule::kAtCuda;
  return rule;
}

std::string unmetNeed(const RunOptions& options, std::uint32_t probeMask) {
  using wire::Probe;
  const Need needs[] = {
      {!options.cuda.counters.empty(), "--counters needs", Probe::Cuda, "cuda"},
      {options.stacks.isGiven(),
       "--stack-rate, --stack-mode and --stacks-at need",
       Probe::Stack,
       "stack"},
      {options.memoryThreshold.has_value(), "--memory-threshold needs", Probe::Memory, "memory"},
      {options.stacks.atAllocations, "--stacks-at alloc needs", Probe::Memory, "memory"},
      {options.stacks.atCudaCalls, "--stacks-at cuda needs", Probe::Cuda, "cuda"},
      {!options.torchOperators.empty(), "--torch-operators needs", Probe::Torch, "torch"},
      {!options.moduleCategories.empty(), "--module-category needs", Probe::Python, "python"},
      {!options.tensorsFile.empty(), "--tensors needs", Probe::Tensor, "tensor"},
      {(probeMask >> static_cast<unsigned>(Probe::Tensor) & 1U) != 0,
       "--sources tensor needs",
       Probe::Torch,
       "torch"},
  };
  if (options.calibrate.blockIterations != 0 && (probeMask & wire::kMaskableProbes) == 0)
    return "--calibrate has no probe to switch off: give --sources a probe other than annotation, "
           "nvtx and system";
  if (options.calibrate.blockIterations != 0 &&
      options.capture.kind == wire::CaptureRule::Kind::Range)
    return "--calibrate needs iterations, and --capture range:NAME has none: give one of them, or "
           "--capture iterations:A-B";
  if (!options.onFire.empty() && options.rulesFile.empty())
    return "--on-fire needs rules: name them with --rules FILE";
  if (!options.jobFolder.empty() && (options.rulesFile.empty() || options.lastNs > 0))
    return "--job-dir needs rules that judge while the job runs: name them with --rules FILE, and "
           "leave --last out";
  if (!options.onFire.empty() && options.lastNs > 0)
    return "--on-fire needs rules that judge while the job runs, and with --last they see its end "
           "only: give one of them";
  for (const Need& need : needs) {
    if (need.isGiven && (probeMask >> static_cast<unsigned>(need.probe) & 1U) == 0)
      return fmt::format("{} the {} probe, which is off: give --sources +{}",
                         need.options,
                         need.source,
                         need.source);
  }
  return "";
}

}  // namespace sonde::recorder
