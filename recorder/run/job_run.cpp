#include "recorder/run/job_run.h"

#include "analysis/store/trace_name.h"
#include "recorder/calibrate/calibration_found.h"
#include "recorder/calibrate/cost_cache.h"
#include "recorder/calibrate/cost_loops.h"
#include "recorder/environment/environment.h"
#include "recorder/environment/job_identity.h"
#include "recorder/launcher/child.h"
#include "recorder/launcher/command_path.h"
#include "recorder/launcher/descriptor_limit.h"
#include "recorder/launcher/follow_check.h"
#include "recorder/launcher/group_witness.h"
#include "recorder/launcher/reaper.h"
#include "recorder/launcher/signal_relay.h"
#include "recorder/launcher/supervisor.h"
#include "recorder/live/live_watch.h"
#include "recorder/options/calibration_rule.h"
#include "recorder/options/sources.h"
#include "recorder/recover/recover.h"
#include "recorder/run/closing.h"
#include "recorder/run/job_plan.h"
#include "recorder/run/output_name.h"
#include "recorder/run/recording.h"
#include "recorder/run/run_checks.h"
#include "recorder/run/run_summary.h"
#include "recorder/run/verdict.h"
#include "recorder/spool/find_session.h"
#include "recorder/spool/manifest.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

// One run, step by step. A failure before the job starts ends it with 125, 126 or 127.
class JobRun {
 public:
  JobRun(const RunOptions& options, const Say& say)
      : options_(options),
        say_(say),
        environment_(ownEnvironment()),
        identity_(jobIdentity(environment_)) {}

  RunEnd run() {
    plan_ = planJob(options_, environment_);
    if (!plan_.refusal.empty()) {
      say_(plan_.refusal);
      return {plan_.exitStatus, std::nullopt};
    }
    auto relay = launcher::SignalRelay::install();
    if (!relay)
      return refuse(relay.error().message);
    if (auto witness = launcher::GroupWitness::start())
      witness_.emplace(*std::move(witness));
    auto child = launcher::Child::fork({plan_.program, options_.command}, *relay);
    if (!child)
      return refuse(child.error().message);
    launcher::raiseDescriptorLimit();  // only now, because the job keeps its own limit
    if (auto claimed = claim(child->pid()); !claimed)
      return refuse(claimed.error().message);
    if (auto opened = openRecording(); !opened)
      return refuse(opened.error().message);
    if (!recording_) {
      store::removeTrace(store::partOf(output_));
      say_(fmt::format("not recording: {}", whyNot_));
    }
    return supervise(*relay, *child);
  }

 private:
  RunEnd refuse(const std::string& message) {
    say_(message);
    return {kExitCannotBegin, std::nullopt};
  }

  std::optional<std::string> variable(const std::string& name) const {
    return findVariable(environment_, name);
  }

  // Next to the trace.
  fs::path tensorFolder() const {
    fs::path folder;
    if (plan_.records(wire::Probe::Tensor))
      folder = fs::absolute(output_).string() + ".tensors";
    return folder;
  }

  SpoolRequest spoolRequest() const {
    return {options_.spool,
            [this](const std::string& name) { return variable(name); },
            options_.spoolLimitBytes};
  }

  Result<void> claim(pid_t pid) {
    OutputRequest request{options_.output,
                          options_.command.front(),
                          pid,
                          currentHostName(),
                          identity_.rank,
                          [this](const std::string& name) { return variable(name); }};
    SONDE_TRY_ASSIGN(output_, outputPath(request));
    if (!options_.summaryFile.empty())
      SONDE_TRY(checkSummaryIsApart(options_.summaryFile, output_));
    if (options_.force)
      SONDE_TRY(dropSessionOf(store::partOf(output_), spoolPlaces(spoolRequest())));
    auto claimed = claimOutput(output_, options_.force);
    std::error_code ignored;
    if (claimed && options_.force)  // tensors of the trace that is replaced
      fs::remove_all(fs::absolute(output_).string() + ".tensors", ignored);
    if (claimed || claimed.error().code != ErrorCode::Busy)
      return claimed;
    // Its spool may be outside the places where `sonde recover` looks by default.
    const fs::path part = store::partOf(output_);
    return partTaken(part, sessionWriting(part, spoolPlaces(spoolRequest())));
  }

  // Tries one place for the spool after the other; if none works, the job runs unrecorded. Fails if
  // the output cannot be written.
  Result<void> openRecording() {
    std::string refused;  // why the place that the user named is unusable
    for (const PlaceCheck& check : makePlaces(spoolRequest())) {
      auto prepared = check.usable
                          ? prepareAt(check)
                          : Result<PreparedRecording>(Error{ErrorCode::Unsupported, check.why});
      if (prepared) {
        if (!refused.empty())
          say_(fmt::format("spool in {}: {}", check.place.string(), refused));
        return begin(*std::move(prepared));
      }
      const std::string& why = prepared.error().message;
      if (check.named)
        refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", check.place.string(), why);
      whyNot_ += fmt::format("{}{}: {}", whyNot_.empty() ? "" : "; ", check.place.string(), why);
    }
    whyNot_ += ": name a folder on a local disk with --spool";
    return {};
  }

  Result<PreparedRecording> prepareAt(const PlaceCheck& check) {
    SONDE_TRY_ASSIGN(const fs::path folder, makeSessionFolder(check.place));
    RecordingOptions recording;
    recording.folder = folder;
    recording.output = output_;
    recording.replace = options_.force;
    recording.probeMask = plan_.probeMask;
    recording.capture = options_.capture;
    recording.calibration = calibrationRule(options_.calibrate, plan_.probeMask, identity_.job);
    // The recorders of the ranks on one host share the host's limit.
    recording.spoolLimitBytes =
        check.limitBytes / static_cast<unsigned>(std::max(identity_.localWorldSize.value_or(1), 1));
    recording.maxTraceBytes = traceLimit(options_, output_);
    if (plan_.records(wire::Probe::System))
      recording.sampleInterval =
          std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / options_.samplesPerSecond));
    if (plan_.records(wire::Probe::Stack))
      recording.stacks = options_.stacks.rule();
    recording.memoryThreshold = options_.memoryThreshold.value_or(kMemoryThreshold);
    recording.times = options_.times;
    recording.lastNs = options_.lastNs;
    recording.judgesLive = judgesLive();
    recording.samplesMachine = identity_.localRank.value_or(0) == 0;  // by one rank only
    recording.job = identity_.job;
    recording.progress = options_.progress;
    recording.say = say_;
    recording.command = options_.command;
    recording.redactor = Redactor(options_.redact);
    CudaOptions cuda = options_.cuda;
    cuda.flushes = options_.lastNs > 0;
    jobEnvironment_ =
        injectedEnvironment(environment_,
                            plan_.installation,
                            {folder,
                             options_.sources,
                             cuda,
                             companionsOf(plan_.probeMask),
                             launcher::checkFollow(plan_.program, environment_).companions,
                             options_.torchOperators,
                             options_.moduleCategories,
                             plan_.tensorPlan,
                             tensorFolder(),
                             plan_.plugins});
    recording.environment = jobEnvironment_;
    recording.sources = sourceWords(plan_.probeMask);
    recording.build = buildOf(plan_.installation);
    costLoops_ = {.installation = plan_.installation,
                  .environment = environment_,
                  .probeMask = plan_.probeMask,
                  .session = folder,
                  .places = spoolPlaces(spoolRequest()),
                  .part = store::partOf(output_),
                  .python = pythonOf(plan_.program),
                  .cuda = calibrates(),
                  .say = say_,
                  .build = recording.build,
                  .cache = costCacheFolder(environment_),
                  .isAnew = calibrates()};
    auto prepared = Recording::prepare(std::move(recording));
    if (!prepared)
      removeSessionFolder(folder);
    return prepared;
  }

  bool judgesLive() const { return plan_.rules && options_.lastNs == 0; }

  // Whether the run reports its own cost of recording.
  bool calibrates() const {
    return options_.calibrate.blockIterations != 0 && !options_.calibrate.without;
  }

  Result<void> begin(PreparedRecording prepared) {
    const fs::path folder = prepared.options.folder;
    auto begun = Recording::begin(std::move(prepared));
    if (!begun) {
      removeSessionFolder(folder);
      if (begun.error().code != ErrorCode::Busy)
        store::removeTrace(store::partOf(output_));
      return cannotBegin(begun.error(), store::partOf(output_));
    }
    recording_ = *std::move(begun);
    nameOtherNcclPlugin();
    return {};
  }

  void nameOtherNcclPlugin() {
    const std::string other = otherNcclPlugin(environment_);
    if (plan_.records(wire::Probe::Nccl) && !other.empty())
      recording_->noteOtherNcclPlugin(other);
  }

  // The job's environment, with Sonde's library unless that would break the program.
  std::vector<std::string> chooseEnvironment() {
    if (!recording_)
      return environment_;
    const auto check = launcher::checkFollow(plan_.program, environment_);
    if (check.follow)
      return jobEnvironment_;
    recording_->noteNotFollowed(plan_.program, check.reason);
    return environment_;
  }

  RunEnd supervise(const launcher::SignalRelay& relay, launcher::Child& child) {
    if (options_.subreaper) {
      if (auto adopted = launcher::becomeSubreaper(); !adopted)
        say_(adopted.error().message);
    }
    const auto environment = chooseEnvironment();
    if (const int error = child.release(environment); error != 0)
      return cannotExecute(error);
    if (recording_)
      recording_->start(child.pid());
    if (recording_ && judgesLive())
      beginWatch();
    launcher::SupervisorOptions supervision;
    supervision.mainChild = child.pid();
    supervision.witness = witness_ ? &*witness_ : nullptr;
    if (!options_.subreaper && recording_)
      supervision.othersAlive = [this] { return recording_->othersAlive(); };
    const launcher::SupervisorCallbacks callbacks{
        [this, main = child.pid()](const launcher::ReapedChild& reaped) {
          if (recording_ && reaped.pid == main)
            recording_->noteMainEnded();
          if (recording_)
            recording_->noteReaped(reaped);
        },
        [this](int signal) { return signal == SIGUSR2 && recording_ && recording_->requestDump(); },
        [this](pid_t pid) { return watch_ && watch_->isSpared(pid); }};
    launcher::RunOutcome outcome = launcher::supervise(relay, supervision, callbacks);
    const bool isStopped = endWatch(outcome, callbacks);
    if (recording_)
      closeRecording(relay, outcome);
    else
      noteUnrecorded(whyNot_, outcome);
    if (isStopped)
      return {kExitStopped, std::nullopt};
    return {0, outcome.waitStatus};
  }

  void beginWatch() {
    watch_ = std::make_unique<LiveWatch>(
        WatchOptions{store::partOf(output_),
                     *plan_.rules,
                     plan_.onFire,
                     plan_.watchedJob,
                     say_,
                     [this](model::Severity severity, const std::string& source, std::string text) {
                       recording_->note(severity, source, std::move(text));
                     },
                     [this](std::int64_t forNs) { recording_->requests().recordFully(forNs); },
                     [this] { recording_->requests().takeStacks(std::chrono::seconds(3)); }});
    if (witness_)
      watch_->spare(witness_->pid());
  }

  // Returns whether a rule stopped the job.
  bool endWatch(launcher::RunOutcome& outcome, const launcher::SupervisorCallbacks& callbacks) {
    if (!watch_)
      return false;
    const bool isGone = watch_->end();
    if (!watch_->hasStopped())
      return false;
    outcome.askedToEnd = true;
    outcome.restRunning = !isGone;
    for (const launcher::ReapedChild& child : launcher::reapEnded().reaped)
      callbacks.reaped(child);
    return true;
  }

  RunEnd cannotExecute(int error) {
    if (recording_)
      recording_->discard();
    say_(fmt::format("{}: {}", plan_.program, std::generic_category().message(error)));
    return {error == ENOENT ? launcher::kExitNotFound : launcher::kExitNotExecutable, std::nullopt};
  }

  void closeRecording(const launcher::SignalRelay& relay, const launcher::RunOutcome& outcome) {
    costLoops_.cudaHindrance = hindranceOf(outcome);
    const auto finish = [recording = std::shared_ptr<Recording>(std::move(recording_)),
                         restRunning = outcome.restRunning,
                         loops = std::move(costLoops_)](const std::stop_token& asked) {
      return recording->finish(restRunning, [&] { return measureCosts(loops, asked); });
    };
    auto summary = finishInterruptibly(finish, relay, say_);
    if (!summary) {
      say_(summary.error().message);
      noteUnrecorded(summary.error().message, outcome);
      return;
    }
    if (plan_.rules)
      sayVerdict(summary->output, *plan_.rules, say_);
    noteCalibration(*summary);
    if (!options_.summaryFile.empty()) {
      const int status = launcher::exitStatusOf(outcome.waitStatus);
      if (auto written = writeSummary(options_.summaryFile, *summary, status); !written)
        say_(written.error().message);
    }
    for (const std::string& line : summaryLines(*summary, identity_.worldSize))
      say_(line);
  }

  void noteCalibration(RecordingSummary& summary) const {
    if (!calibrates())
      return;
    if (auto found = readCalibration(summary.output))
      summary.calibration = *std::move(found);
    else
      say_(found.error().message);
  }

  void noteUnrecorded(const std::string& why, const launcher::RunOutcome& outcome) const {
    if (options_.summaryFile.empty())
      return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    if (auto written = writeUnrecorded(
            options_.summaryFile, why, seconds.count(), launcher::exitStatusOf(outcome.waitStatus));
        !written)
      say_(written.error().message);
  }

  const RunOptions& options_;
  const Say& say_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<std::string> environment_;
  JobIdentity identity_;
  JobPlan plan_;
  fs::path output_;
  std::vector<std::string> jobEnvironment_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<LiveWatch> watch_;  // nullptr: nobody judges while the job runs
  std::string whyNot_;
  CostLoops costLoops_;
  std::optional<launcher::GroupWitness> witness_;
};

}  // namespace

RunEnd runJob(const RunOptions& options, const Say& say) {
  return JobRun(options, say).run();
}

void exitAs(const RunEnd& end) {
  if (!end.waitStatus)
    _exit(end.exitStatus);
  launcher::exitLike(*end.waitStatus);
}

}  // namespace sonde::recorder
