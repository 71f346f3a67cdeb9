#include "recorder/run/job_plan.h"

#include "plugins/host/plugin_set.h"
#include "recorder/environment/job_identity.h"
#include "recorder/launcher/command_path.h"
#include "recorder/live/webhook.h"
#include "recorder/options/sources.h"
#include "recorder/options/tensor_plan.h"
#include "recorder/run/run_summary.h"

#include <utility>

namespace sonde::recorder {
namespace {

// Runs before any of the plugins' code: a job with an unusable plugin is not started.
Result<void> takePlugins(const RunOptions& options,
                         const std::vector<std::string>& environment,
                         JobPlan& plan) {
  if (options.plugins.empty())
    return {};
  SONDE_TRY_ASSIGN(const auto plugins, plugins::checkPlugins(options.plugins));
  SONDE_TRY(plugins::tryLoading(plugins, "/proc/self/exe", environment));
  for (const plugins::PluginFile& plugin : plugins)
    plan.plugins.push_back(plugin.path);
  plan.probeMask |= 1U << static_cast<unsigned>(wire::Probe::Plugin);
  return {};
}

Result<void> takeJobFolder(const std::string& folder,
                           const std::vector<std::string>& environment,
                           JobPlan& plan) {
  const JobIdentity identity = jobIdentity(environment);
  if (!identity.rank || !identity.worldSize)
    return Error{ErrorCode::InvalidArgument,
                 "--job-dir needs the rank: set RANK and WORLD_SIZE, or let torchrun, mpirun or "
                 "srun start sonde run"};
  SONDE_TRY(JobWatch::prepare(folder));
  plan.watchedJob = WatchedJob{folder, *identity.rank, *identity.worldSize};
  return {};
}

Result<void> readFiles(const RunOptions& options,
                       const std::vector<std::string>& environment,
                       JobPlan& plan) {
  if (!options.summaryFile.empty())
    SONDE_TRY(checkSummaryFile(options.summaryFile));
  if (!options.rulesFile.empty()) {
    SONDE_TRY_ASSIGN(plan.rules, rules::readConfiguration(options.rulesFile, ""));
  }
  SONDE_TRY_ASSIGN(plan.onFire, parseOnFire(options.onFire));
  for (const std::string& url : plan.onFire.webhooks)
    SONDE_TRY(postTo(url));
  if (!options.jobFolder.empty())
    SONDE_TRY(takeJobFolder(options.jobFolder, environment, plan));
  if (!options.tensorsFile.empty()) {
    SONDE_TRY_ASSIGN(plan.tensorPlan, readTensorPlan(options.tensorsFile));
  }
  return {};
}

Result<void> fill(const RunOptions& options,
                  const std::vector<std::string>& environment,
                  JobPlan& plan) {
  SONDE_TRY_ASSIGN(plan.installation, findInstallation());
  plan.probeMask = defaultSources();
  if (options.sources) {
    SONDE_TRY_ASSIGN(plan.probeMask, parseSources(*options.sources));
  }
  SONDE_TRY(takePlugins(options, environment, plan));
  if (std::string unmet = unmetNeed(options, plan.probeMask); !unmet.empty())
    return Error{ErrorCode::InvalidArgument, std::move(unmet)};
  return readFiles(options, environment, plan);
}

}  // namespace

JobPlan planJob(const RunOptions& options, const std::vector<std::string>& environment) {
  JobPlan plan;
  const std::string searchPath =
      findVariable(environment, "PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  auto found = launcher::findCommand(options.command.front(), searchPath);
  if (found.exitStatus != 0) {
    plan.refusal = std::move(found.message);
    plan.exitStatus = found.exitStatus;
    return plan;
  }
  plan.program = std::move(found.path);
  if (const auto filled = fill(options, environment, plan); !filled) {
    plan.refusal = filled.error().message;
    plan.exitStatus = kExitCannotBegin;
  }
  return plan;
}

}  // namespace sonde::recorder
