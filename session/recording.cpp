#include "session/recording.h"

#include "collector/launcher/process_stat.h"
#include "session/job_identity.h"
#include "session/manifest.h"
#include "session/output_name.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

constexpr int kNice = 19;
constexpr int kDrainEveryMs = 100;
constexpr int kIdleEveryMs = 500;  // when the last drain found nothing

std::int64_t nowNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::uint64_t largestResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t sizeOf(const fs::path& path) {
  std::error_code failure;
  const auto size = fs::file_size(path, failure);
  return failure ? 0 : size;
}

// As a shell shows it.
int shellStatus(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? 128 + WTERMSIG(waitStatus) : WEXITSTATUS(waitStatus);
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::begin(RecordingOptions options) {
  SONDE_TRY_ASSIGN(SessionPage page,
                   SessionPage::create(options.folder, options.probeMask, options.spoolLimitBytes));
  Manifest manifest;
  manifest.session = options.folder.filename();
  manifest.output = options.output;
  manifest.part = partPath(options.output);
  manifest.launcherPid = getpid();
  manifest.launcherStartTime = processStartTime(getpid());
  manifest.bootId = currentBootId();
  manifest.job = options.job;
  manifest.command = options.redactor.arguments(options.command);
  SONDE_TRY(writeManifest(options.folder, manifest));
  DrainerOptions drain;
  drain.folder = options.folder;
  drain.part = manifest.part;
  drain.job = options.job;
  SONDE_TRY_ASSIGN(auto drainer, Drainer::open(std::move(drain)));
  return std::unique_ptr<Recording>(
      new Recording(std::move(options), std::move(page), std::move(drainer)));
}

Recording::Recording(RecordingOptions options, SessionPage page, std::unique_ptr<Drainer> drainer)
    : options_(std::move(options)),
      page_(std::move(page)),
      drainer_(std::move(drainer)),
      watch_(std::make_unique<FolderWatch>(options_.folder)),
      beganNs_(nowNs(CLOCK_MONOTONIC)),
      jobKnown_(!options_.job.empty()) {}

Recording::~Recording() {
  if (worker_.joinable()) {
    watch_->stop();
    worker_.join();
  }
}

void Recording::start(pid_t mainPid) {
  // Known without /proc, so that it is stored even when the process ends at once.
  const auto stat = launcher::readProcessStat(mainPid);
  if (stat)
    describe(ImageId{mainPid, stat->startTime, 0}, options_.command, options_.environment);
  worker_ = std::thread([this] { work(); });
}

void Recording::noteNotFollowed(const std::string& program, const std::string& reason) {
  notes_.push_back(fmt::format("{} is not recorded ({}): it runs as it is", program, reason));
  drainer_->noteLoss("process", "exec", "not followed", 1);
  drainer_->noteMeta("not_followed", fmt::format("{}: {}", program, reason));
}

void Recording::noteReaped(const launcher::ReapedChild& child) {
  const std::lock_guard lock(mutex_);
  reaped_.push_back(child);
}

void Recording::work() {
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread alone
  int waitMs = 0;
  while (!watch_->stopped()) {
    for (const ImageId& image : watch_->wait(waitMs))
      capture(image);
    const std::uint64_t before = drainer_->totals().bytes;
    drain();
    waitMs = drainer_->totals().bytes == before ? kIdleEveryMs : kDrainEveryMs;
  }
}

void Recording::drain() {
  const DrainProgress progress = drainer_->drainOnce();
  for (const ImageId& image : progress.newImages)
    capture(image);
  liveImages_.store(progress.liveImages);
  storeReaped();
  if (progress.stopped && !std::exchange(trimmed_, true)) {
    notes_.push_back(progress.why);
    page_.stopRecording();
    drainer_->stopRecording();
  }
  holdToMaxSize();
}

void Recording::holdToMaxSize() {
  const fs::path part = partPath(options_.output);
  const std::uint64_t size = sizeOf(part) + sizeOf(part.string() + "-wal");
  if (trimmed_ || options_.maxTraceBytes == 0 || size < options_.maxTraceBytes)
    return;
  trimmed_ = true;
  page_.stopRecording();
  drainer_->stopRecording();
  notes_.push_back(
      fmt::format("the trace reached --max-size ({} MiB): the rest of the run is not in it",
                  options_.maxTraceBytes >> 20));
}

void Recording::capture(const ImageId& image) {
  const ProcessKey key{image.pid, image.startTime};
  const auto known = lastImage_.find(key);
  if (known != lastImage_.end() && known->second >= image.execCount)
    return;
  lastImage_[key] = image.execCount;
  // The pid is that of the process's own namespace: make sure that ours means the same process.
  const auto stat = launcher::readProcessStat(image.pid);
  if (!stat || stat->startTime != image.startTime)
    return;
  const auto argv = launcher::readCommandLine(image.pid);
  if (!argv.empty())
    describe(image, argv, launcher::readEnvironment(image.pid));
}

void Recording::describe(const ImageId& image,
                         const std::vector<std::string>& argv,
                         const std::vector<std::string>& environment) {
  const JobIdentity identity = jobIdentity(environment);
  ProcessFacts facts;
  facts.image = image;
  facts.rank = identity.rank;
  facts.localRank = identity.localRank;
  facts.worldSize = identity.worldSize;
  facts.command = options_.redactor.commandLine(argv);
  for (const auto& [name, value] : options_.redactor.environment(environment))
    facts.arguments["env." + name] = value;
  drainer_->noteProcess(std::move(facts));
  if (!jobKnown_ && !identity.job.empty()) {
    jobKnown_ = true;
    drainer_->noteMeta("job", identity.job);
  }
}

void Recording::storeReaped() {
  std::vector<launcher::ReapedChild> reaped;
  {
    const std::lock_guard lock(mutex_);
    reaped.swap(reaped_);
  }
  for (const launcher::ReapedChild& child : reaped) {
    // A drain has passed since it ended, so that its last image has been seen.
    const auto known = lastImage_.find({child.pid, child.startTime});
    ProcessFacts facts;
    facts.image = {child.pid, child.startTime, known == lastImage_.end() ? 0 : known->second};
    facts.exitStatus = shellStatus(child.waitStatus);
    drainer_->noteProcess(std::move(facts));
    if (known != lastImage_.end())
      lastImage_.erase(known);
  }
}

Result<RecordingSummary> Recording::finish(bool restRunning) {
  watch_->stop();
  if (worker_.joinable())
    worker_.join();
  if (restRunning) {
    page_.stopRecording();
    drainer_->stopRecording();
    notes_.emplace_back("processes of the job still run: they are not recorded any more");
  }
  drain();
  RecordingSummary summary;
  drainer_->noteMeta("recorder_cpu_ns", std::to_string(nowNs(CLOCK_PROCESS_CPUTIME_ID)));
  drainer_->noteMeta("recorder_rss_bytes", std::to_string(largestResidentBytes()));
  drainer_->noteMeta("recorder_bytes", std::to_string(drainer_->totals().bytes));
  SONDE_TRY_ASSIGN(summary.totals, drainer_->finish(options_.output));
  drainer_.reset();
  std::error_code ignored;  // what stays behind is empty and in a folder for temporary files
  fs::remove_all(options_.folder, ignored);
  fs::remove(options_.folder.parent_path(), ignored);
  summary.output = options_.output;
  summary.seconds = static_cast<double>(nowNs(CLOCK_MONOTONIC) - beganNs_) / 1e9;
  summary.recorderCpuNs = static_cast<std::uint64_t>(nowNs(CLOCK_PROCESS_CPUTIME_ID));
  summary.recorderBytes = largestResidentBytes();
  summary.notes = notes_;
  return summary;
}

void Recording::discard() {
  drainer_.reset();
  std::error_code ignored;
  const fs::path part = partPath(options_.output);
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    fs::remove(part.string() + suffix, ignored);
  fs::remove_all(options_.folder, ignored);
  fs::remove(options_.folder.parent_path(), ignored);
}

}  // namespace sonde::session
