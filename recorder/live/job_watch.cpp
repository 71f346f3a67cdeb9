#include "recorder/live/job_watch.h"

#include "analysis/engine/merge/merge.h"
#include "analysis/engine/recent/recent_trace.h"
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
#include <set>
#include <system_error>
#include <vector>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kJobLookEvery{1000};
// A part is small, because rank 0 joins those of all ranks.
constexpr engine::recent::RecentSize kPart{.events = 30'000, .iterations = 20};
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
  std::error_code ignored;
  fs::remove(partOf(options_.job.rank), ignored);
  oldStop_ = fs::last_write_time(options_.job.folder / kStopFile, ignored);
  thread_ = std::thread([this] { work(); });
}

JobWatch::~JobWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

fs::path JobWatch::partOf(int rank) const {
  return options_.job.folder / fmt::format("rank{}.sonde", rank);
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
  std::set<std::string> said;
  Clock::time_point publishDue{};
  Clock::time_point judgeDue{};
  const auto timed = [&](Clock::time_point& due, Result<void> (JobWatch::*act)()) {
    if (Clock::now() < due)
      return;
    const std::int64_t begunNs = jobCpuNs();
    if (const auto done = (this->*act)(); !done && said.insert(done.error().message).second)
      options_.say("--job-dir: " + done.error().message);
    due = Clock::now() + pauseFor(jobCpuNs() - begunNs);
  };
  while (waitForNext()) {
    lookForStop();
    timed(publishDue, &JobWatch::publish);
    if (options_.job.rank == 0)
      timed(judgeDue, &JobWatch::judge);
  }
}

Result<void> JobWatch::publish() {
  const auto trace = store::Database::open(options_.part, store::Access::ReadOnly);
  if (!trace)
    return {};  // the drainer has not created it yet
  const fs::path written = partOf(options_.job.rank).string() + ".part";
  SONDE_TRY(engine::recent::writeRecent(*trace, written, kPart));
  return renameTo(written, partOf(options_.job.rank));
}

// Joins the parts of all ranks that have one, if any is new.
Result<void> JobWatch::judge() {
  std::vector<fs::path> parts;
  bool isNew = false;
  for (int rank = 0; rank < options_.job.worldSize; ++rank) {
    std::error_code missing;
    const FileTime time = fs::last_write_time(partOf(rank), missing);
    if (missing)
      continue;
    parts.push_back(partOf(rank));
    FileTime& known = joined_[rank];
    isNew = isNew || known != time;
    known = time;
  }
  if (!isNew || parts.size() < static_cast<std::size_t>(options_.job.worldSize))
    return {};
  SONDE_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::make());
  const fs::path joined = folder.path() / "job.sonde";
  SONDE_TRY(engine::merge::merge({parts, joined}));
  SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(joined));
  SONDE_TRY_ASSIGN(const rules::CheckReport report, rules::check(trace, options_.rules));
  for (const rules::CheckResult& result : report.results)
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
