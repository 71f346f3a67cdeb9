#include "recorder/run/recording.h"

#include "analysis/store/trace_name.h"
#include "recorder/drain/capture_note.h"
#include "recorder/drain/drain_pace.h"
#include "recorder/launcher/process_stat.h"
#include "recorder/run/output_name.h"
#include "recorder/run/polite_thread.h"
#include "recorder/spool/host_clock.h"
#include "recorder/spool/manifest.h"
#include "recorder/spool/spool_place.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

namespace sonde::recorder {

namespace {

constexpr std::int64_t kLiveWaitNs = 1'000'000'000;     // with rules that judge while it runs
constexpr std::chrono::milliseconds kListenEvery{100};  // for requests of sonde ctl

// As a shell reports it.
int shellStatus(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? 128 + WTERMSIG(waitStatus) : WEXITSTATUS(waitStatus);
}

// Unwinding stacks needs the files and memory of running processes: samples do not wait.
std::uint64_t waitBytesOf(const RecordingOptions& options) {
  if ((options.probeMask & wire::probeBit(wire::Probe::Stack)) != 0)
    return 0;
  return bytesThatWait(options.spoolLimitBytes, options.maxTraceBytes);
}

}  // namespace

Result<PreparedRecording> Recording::prepare(RecordingOptions options) {
  SONDE_TRY_ASSIGN(SessionPage page,
                   SessionPage::create(options.folder, options.probeMask, options.spoolLimitBytes));
  page.setCapture(options.capture);
  page.setStacks(options.stacks);
  page.setCalibration(options.calibration);
  page.setMemoryThreshold(options.memoryThreshold);
  CaptureControl::prepare(page, options.times);
  Manifest manifest;
  manifest.session = options.folder.filename();
  manifest.output = options.output;
  manifest.part = store::partOf(options.output);
  manifest.launcherPid = getpid();
  manifest.launcherStartTime = processStartTime(getpid());
  manifest.bootId = currentBootId();
  manifest.job = options.job;
  manifest.command = options.redactor.arguments(options.command);
  manifest.redact = options.redactor.patterns();
  SONDE_TRY(writeManifest(options.folder, manifest));
  SONDE_TRY_ASSIGN(SpoolLock lock, SpoolLock::take(options.folder));
  return PreparedRecording{std::move(options), std::move(page), std::move(lock)};
}

Result<std::unique_ptr<Recording>> Recording::begin(PreparedRecording prepared) {
  RecordingOptions& options = prepared.options;
  DrainerOptions drain;
  drain.folder = options.folder;
  drain.part = store::partOf(options.output);
  drain.job = options.job;
  drain.redactor = options.redactor;
  drain.limitBytes = options.maxTraceBytes;
  drain.waitBytes = waitBytesOf(options);
  if (options.judgesLive)
    drain.longestWaitNs = kLiveWaitNs;
  drain.capture = options.capture;
  drain.replace = options.replace;
  drain.progress = options.progress;
  SONDE_TRY_ASSIGN(auto drainer, Drainer::open(std::move(drain), std::move(prepared.lock)));
  return std::unique_ptr<Recording>(
      new Recording(std::move(options), std::move(prepared.page), std::move(drainer)));
}

Recording::Recording(RecordingOptions options, SessionPage page, std::unique_ptr<Drainer> drainer)
    : options_(std::move(options)),
      page_(std::move(page)),
      drainer_(std::move(drainer)),
      control_(options_.folder, page_, *drainer_, options_.times, options_.capture.every),
      beganNs_(nowNs(CLOCK_MONOTONIC)),
      jobKnown_(!options_.job.empty()) {}

Recording::~Recording() {
  stopWorker();
}

void Recording::start(pid_t mainPid) {
  share_.jobBegins();
  if (!options_.capture.isAll())
    drainer_->noteWarning(
        fmt::format("recorded in part (--capture {}): outside of it only iterations were recorded",
                    options_.capture.text));
  // The main process is known without /proc, so that it is stored even if it ends immediately.
  if (options_.sampleInterval.count() > 0)
    sampler_ = std::make_unique<system::Sampler>(options_.sampleInterval, options_.samplesMachine);
  if (const auto stat = launcher::readProcessStat(mainPid)) {
    const ImageId image{mainPid, stat->startTime, 0};
    storeCaptured(describeImage(image, options_.command, options_.environment, options_.redactor));
    if (sampler_)
      sampler_->add(image);
  }
  capture_ = std::make_unique<ProcessCapture>(options_.folder, options_.redactor);
  if (options_.lastNs > 0)
    flight_ = std::make_unique<FlightRecorder>(FlightOptions{options_.folder,
                                                             options_.output,
                                                             options_.lastNs,
                                                             options_.job,
                                                             options_.redactor,
                                                             options_.say},
                                               page_,
                                               *drainer_);
  control_.begin();
  worker_ = std::thread([this] { work(); });
}

void Recording::noteNotFollowed(const std::string& program, const std::string& reason) {
  drainer_->noteWarning(
      fmt::format("{} is not recorded ({}): it runs without Sonde", program, reason));
  drainer_->notes().addLoss("process", "exec", "not followed", 1);
  drainer_->notes().setMeta("not_followed", fmt::format("{}: {}", program, reason));
}

void Recording::noteOtherNcclPlugin(const std::string& plugin) {
  drainer_->noteWarning(fmt::format(
      "nccl records calls only: NCCL loads one profiler plugin, and this is another tool's: {}",
      plugin));
}

void Recording::noteReaped(const launcher::ReapedChild& child) {
  share_.jobEnds();
  const std::lock_guard lock(mutex_);
  reaped_.push_back(child);
}

void Recording::work() {
  std::optional<PoliteThread> polite;
  if (!flight_)
    polite.emplace();
  DrainPace pace(options_.spoolLimitBytes, waitBytesOf(options_), flight_ != nullptr);
  std::chrono::milliseconds pause{0};
  while (waitForNext(pause)) {
    DrainProgress found;
    const auto drains = [&] { found = drainBeside(pace.isBehind()); };
    if (pace.givesWay())
      polite->run(drains);
    else
      drains();
    pause = pace.after(found);
  }
}

// In a run with --calibrate, iterations that run during storing are left out.
DrainProgress Recording::drainBeside(bool isHurried) {
  if (options_.calibration.blockIterations == 0)
    return drain(isHurried);
  share_.storingBegins();
  DrainProgress found = drain(isHurried);
  share_.storingEnds(found.bytes > 0);
  return found;
}

// Waits that long, or until there is a request. False: the recording ends.
bool Recording::waitForNext(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto listen = std::chrono::steady_clock::now() + kListenEvery;
    if (wake_.wait_until(lock, std::min(until, listen), [this] { return ending_; }))
      return false;
    if (listen >= until || control_.isCalled() || isDumpWanted_.load() || requests_.any())
      return true;
  }
}

void Recording::stopWorker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (worker_.joinable())
    worker_.join();
}

DrainProgress Recording::drain(bool isHurried) {
  // Before the drain, which then sees the last image of every process whose end was noted.
  noteExits();
  storeNotes();
  takeSamples();
  obey();
  const bool takesStacks = requests_.wantsStacks();
  if (takesStacks)
    drainer_->notes().wantStacks();
  DrainProgress progress = lookOrStore(isHurried);
  if (takesStacks)
    requests_.stacksAreTaken();
  for (CapturedImage& captured : capture_->take())
    storeCaptured(std::move(captured));
  for (const ImageId& image : progress.newImages) {
    if (sampler_)
      sampler_->add(image);
    if (described_.contains(image))
      continue;
    if (auto captured = captureImage(image, options_.redactor))  // missed by the watch
      storeCaptured(*std::move(captured));
  }
  liveImages_.store(progress.liveImages);
  if (!progress.newImages.empty())
    control_.tellAgain();
  if (progress.limitReached && !full_) {
    full_ = true;
    fullNs_ = nowNs(CLOCK_MONOTONIC);
    stopJobRecording("recording has ended: the trace has reached --max-size");
  }
  return progress;
}

void Recording::obey() {
  if (const std::int64_t forNs = requests_.takeFullTime(); forNs > 0)
    control_.recordFullyFor(forNs);
  control_.obey([this] {
    const auto answer = [this](const Result<std::string>& done) {
      answerRequest(page_.words(), done);
    };
    if (flight_)
      flight_->dump("sonde ctl dump", answer);
    else
      answer(Error{
          ErrorCode::Unsupported,
          "it stores records continuously and has nothing to dump: dump needs sonde run --last"});
  });
  if (isDumpWanted_.exchange(false) && flight_)
    flight_->dump("SIGUSR2", [](const Result<std::string>&) {});
}

bool Recording::requestDump() {
  if (!flight_)
    return false;
  isDumpWanted_.store(true);
  return true;
}

// Records from before a pause are kept during the pause.
DrainProgress Recording::lookOrStore(bool isHurried) {
  if (!flight_)
    return drainer_->drainOnce(isHurried);
  if (mainEnded_.load())
    flight_->settle();
  return flight_->look(mainEnded_.load() || !control_.isOn());
}

void Recording::note(model::Severity severity, const std::string& source, std::string text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back({severity, nowNs(CLOCK_MONOTONIC), std::move(text), source});
}

void Recording::storeNotes() {
  std::vector<RecorderNotes::Note> notes;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(notes_);
  }
  for (RecorderNotes::Note& each : notes)
    drainer_->notes().addNote(std::move(each));
}

void Recording::takeSamples() {
  if (!sampler_)
    return;
  system::Batch batch = sampler_->take();
  if (!control_.isOn())
    batch.readings.clear();  // keeps the metrics, whose numbering continues
  drainer_->noteSamples(std::move(batch));
}

void Recording::storeCaptured(CapturedImage captured) {
  if (!described_.insert(captured.facts.image).second)
    return;
  drainer_->notes().add(std::move(captured.facts));
  if (!jobKnown_ && !captured.job.empty()) {
    jobKnown_ = true;
    drainer_->notes().setMeta("job", captured.job);
  }
}

// From then on no records of the job are counted: it must run as if it were not recorded.
void Recording::stopJobRecording(const std::string& why) {
  if (sampler_)
    sampler_->stop();
  control_.end(why);
}

void Recording::noteExits() {
  std::vector<launcher::ReapedChild> reaped;
  {
    const std::lock_guard lock(mutex_);
    reaped.swap(reaped_);
  }
  for (const launcher::ReapedChild& child : reaped) {
    ProcessFacts facts;
    facts.image = {child.pid, child.startTime, ImageId::kLast};
    facts.exitStatus = shellStatus(child.waitStatus);
    if (WIFSIGNALED(child.waitStatus))
      facts.exitSignal = WTERMSIG(child.waitStatus);
    facts.endMonotonicNs = child.monotonicNs;
    drainer_->notes().add(std::move(facts));
  }
}

}  // namespace sonde::recorder
