#include "recorder/live/job_watch.h"

#include "analysis/engine/merge/merge.h"
#include "analysis/engine/recent/recent_trace.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/database.h"
#include "analysis/store/trace_file.h"
#include "base/spawned.h"
#include "recorder/spool/host_clock.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kJobLookEvery{1000};
// Parts are small, because rank 0 joins those of all ranks.
constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr engine::recent::RecentSize kPart{.events = 30'000, .iterations = 20, .spanNs = kMinuteNs};
constexpr engine::recent::RecentSize kUrgentPart{
    .events = 1'000, .iterations = 2, .spanNs = kMinuteNs};
constexpr std::string_view kUrgentRules[] = {"hang", "collective-mismatch"};
constexpr const char* kStopFile = "stop.txt";

std::int64_t jobCpuNs() {
  return nowNs(CLOCK_THREAD_CPUTIME_ID);
}

std::chrono::nanoseconds pauseFor(std::int64_t cpuNs) {
  return std::max<std::chrono::nanoseconds>(kJobLookEvery,
                                            std::chrono::nanoseconds(static_cast<std::int64_t>(
                                                static_cast<double>(cpuNs) / JobWatch::kShare)));
}

Error io(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::Io, fmt::format("{}: {}", path.string(), error.message())};
}

Result<void> renameTo(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error)
    return io(to, error);
  return {};
}

// Writes a short text so that it appears complete.
Result<void> writeWhole(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + fmt::format(".{}.part", getpid());
  {
    std::ofstream file(part, std::ios::binary);
    file << text;
    if (!file.flush())
      return Error{ErrorCode::Io, fmt::format("cannot write {}", part.string())};
  }
  return renameTo(part, path);
}

// Now, by the clock of the folder's file system.
fs::file_time_type timeOfNow(const fs::path& folder) {
  const fs::path file = folder / fmt::format("now.{}", getpid());
  std::error_code ignored;
  fs::file_time_type now{};
  if (writeWhole(file, ""))
    now = fs::last_write_time(file, ignored);
  fs::remove(file, ignored);
  return now;
}

bool isUrgent(const rules::ConfiguredRule& rule) {
  return std::find(std::begin(kUrgentRules), std::end(kUrgentRules), rule.info->name) !=
         std::end(kUrgentRules);
}

// The processes of a recorder that ends have ended, too.
Result<void> noteEnd(const fs::path& part) {
  SONDE_TRY_ASSIGN(auto trace, store::Database::open(part, store::Access::ReadWrite));
  return trace.exec(
      "DELETE FROM open_call;"
      "UPDATE process SET state = 'exited', end_ns = (SELECT max(start_ns + coalesce(dur_ns, 0)) "
      "FROM "
      "slice) WHERE state = 'running'");
}

}  // namespace

Result<void> JobWatch::prepare(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--job-dir {}: {}: name a folder that all ranks can write",
                             folder.string(),
                             error.message())};
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("--job-dir {} cannot be written: name a folder that all ranks can write",
                    folder.string())};
  return {};
}

JobWatch::JobWatch(JobWatchOptions options) : options_(std::move(options)) {
  rules::Configuration urgent = options_.rules;
  rules::Configuration others = options_.rules;
  std::erase_if(urgent.rules, [](const auto& rule) { return !isUrgent(rule); });
  std::erase_if(others.rules, [](const auto& rule) { return isUrgent(rule); });
  if (!urgent.rules.empty())
    scopes_.push_back({kUrgentPart, "-urgent", std::move(urgent)});
  if (!others.rules.empty())
    scopes_.push_back({kPart, "", std::move(others)});
  std::error_code ignored;
  for (const Scope& scope : scopes_)
    fs::remove(partOf(options_.job.rank, scope), ignored);
  oldStop_ = fs::last_write_time(options_.job.folder / kStopFile, ignored);
  begun_ = timeOfNow(options_.job.folder);
  thread_ = std::thread([this] { work(); });
}

JobWatch::~JobWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
  for (const Scope& scope : scopes_)
    report(publish(scope, true));
}

fs::path JobWatch::partOf(int rank, const Scope& scope) const {
  return options_.job.folder / fmt::format("rank{}{}.sonde", rank, scope.suffix);
}

bool JobWatch::waitForNext() {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, kJobLookEvery, [this] { return ending_; });
}

void JobWatch::stopOthers(const std::string& why) {
  if (const auto written = writeWhole(options_.job.folder / kStopFile, why); !written)
    options_.say("the other ranks could not be told to stop: " + written.error().message);
}

void JobWatch::work() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
  while (waitForNext()) {
    lookForStop();
    for (Scope& scope : scopes_)
      step(scope);
  }
}

// Each complaint once.
void JobWatch::report(const Result<void>& done) {
  if (!done && said_.insert(done.error().message).second)
    options_.say("--job-dir: " + done.error().message);
}

void JobWatch::step(Scope& scope) {
  const auto timed = [&](Clock::time_point& due, const auto& act) {
    if (Clock::now() < due)
      return;
    const std::int64_t begunNs = jobCpuNs();
    report(act());
    due = Clock::now() + pauseFor(jobCpuNs() - begunNs);
  };
  timed(scope.publishDue, [&] { return publish(scope, false); });
  if (options_.job.rank == 0)
    timed(scope.judgeDue, [&] { return judge(scope); });
}

Result<void> JobWatch::publish(const Scope& scope, bool hasEnded) const {
  const auto trace = store::Database::open(options_.part, store::Access::ReadOnly);
  if (!trace)
    return {};  // the drainer has not created it yet
  const fs::path part = partOf(options_.job.rank, scope);
  const fs::path written = part.string() + ".part";
  SONDE_TRY(engine::recent::writeRecent(*trace, written, scope.size));
  if (hasEnded)
    SONDE_TRY(noteEnd(written));
  return renameTo(written, part);
}

// Joins the parts of all ranks that have one, if any is new.
Result<void> JobWatch::judge(Scope& scope) {
  std::vector<fs::path> parts;
  bool isNew = false;
  for (int rank = 0; rank < options_.job.worldSize; ++rank) {
    std::error_code missing;
    const FileTime time = fs::last_write_time(partOf(rank, scope), missing);
    if (missing || time < begun_)
      continue;  // the rank has not begun, or its part is of an earlier run
    parts.push_back(partOf(rank, scope));
    FileTime& known = scope.joined[rank];
    isNew = isNew || known != time;
    known = time;
  }
  if (!isNew || parts.size() < static_cast<std::size_t>(options_.job.worldSize))
    return {};
  SONDE_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  const fs::path joined = folder.path() / "job.sonde";
  SONDE_TRY(engine::merge::merge({parts, joined}));
  SONDE_TRY_ASSIGN(store::Database trace, store::openTrace(joined));
  SONDE_TRY(store::addCommunicationPatterns(trace, options_.rules.communication));
  SONDE_TRY_ASSIGN(const rules::CheckReport found, rules::check(trace, scope.rules));
  for (const rules::CheckResult& result : found.results)
    if (firings_.begins(result))
      options_.fired(result);
  return {};
}

void JobWatch::lookForStop() {
  const fs::path file = options_.job.folder / kStopFile;
  std::error_code missing;
  const FileTime time = fs::last_write_time(file, missing);
  if (missing || time == oldStop_ || isStopped_)
    return;
  isStopped_ = true;
  std::ifstream text(file, std::ios::binary);
  options_.stopped(std::string(std::istreambuf_iterator<char>(text), {}));
}

}  // namespace sonde::recorder
