#include "session/recover.h"

#include "analysis/store/trace_file.h"
#include "collector/launcher/process_stat.h"
#include "session/completion.h"
#include "session/manifest.h"
#include "session/spool_lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

constexpr auto kFollowEvery = std::chrono::milliseconds(200);

// What a trace says of the recording it came from.
struct TraceState {
  std::string session;
  bool finished = false;
  bool drained = false;  // all records are in it; the finaliser was cut short
};

Result<TraceState> stateOf(const fs::path& path) {
  SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
  TraceState state;
  SONDE_TRY_ASSIGN(state.finished, store::isFinished(trace));
  const auto value = [&](const char* key) {
    const auto text = trace.queryText(fmt::format("SELECT value FROM meta WHERE key = '{}'", key));
    return text ? *text : std::string();
  };
  state.session = value("session");
  state.drained = value("drained") == "1";
  return state;
}

bool isThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Also false for a `.part` that was made, but not yet written to.
bool isTraceOf(const fs::path& path, const std::string& session) {
  if (!isThere(path))
    return false;
  const auto state = stateOf(path);
  return state && state->session == session;
}

// The recorder's log goes along: what it committed last may be nowhere else.
Result<void> copyPart(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  for (const char* suffix : {"", "-wal"}) {
    const fs::path source = from.string() + suffix;
    const fs::path target = to.string() + suffix;
    fs::remove(target, failure);
    if (!isThere(source))
      continue;
    fs::copy_file(source, target, failure);
    if (failure)
      return Error{ErrorCode::Io,
                   fmt::format("{} could not be copied to {}: {}",
                               source.string(),
                               target.string(),
                               failure.message())};
  }
  return {};
}

struct Session {
  fs::path folder;
  fs::path onlyFile;
  std::optional<Manifest> manifest;
};

Result<Session> findSession(const fs::path& spool) {
  std::error_code failure;
  const fs::path path = fs::absolute(spool, failure).lexically_normal();
  Session session;
  if (fs::is_directory(path, failure)) {
    session.folder = path.has_filename() ? path : path.parent_path();
  } else if (fs::is_regular_file(path, failure)) {
    session.folder = path.parent_path();
    session.onlyFile = path;
  } else {
    return Error{ErrorCode::NotFound,
                 fmt::format("{} does not exist: name a session folder or a "
                             "spool file",
                             spool.string())};
  }
  auto manifest = readManifest(session.folder);
  if (manifest)
    session.manifest = *std::move(manifest);
  else if (manifest.error().code != ErrorCode::NotFound)
    return std::move(manifest).error();
  return session;
}

Error stillRecorded(const Session& session) {
  const std::string who = session.manifest
                              ? fmt::format("process {}", session.manifest->launcherPid)
                              : "another process";
  return {ErrorCode::InvalidArgument,
          fmt::format("{} is being recorded or recovered by {}: that will finish the trace",
                      session.folder.string(),
                      who)};
}

Result<std::unique_ptr<Drainer>> openDrainer(const Session& session, DrainerOptions options) {
  options.folder = session.folder;
  if (session.manifest)
    options.job = session.manifest->job;
  auto drainer = Drainer::open(std::move(options));
  if (!drainer && drainer.error().code == ErrorCode::InvalidArgument)
    return stillRecorded(session);
  return drainer;
}

// Drains until nothing runs any more. False when something does and it is not to be waited for.
bool drainToTheEnd(Drainer& drainer, const RecoverOptions& options) {
  bool said = false;
  for (;;) {
    const DrainProgress progress = drainer.drainOnce();
    if (progress.liveImages == 0 || progress.stopped)
      return true;
    if (!options.follow)
      return false;
    if (options.stop != nullptr && options.stop->load()) {
      drainer.stopRecording();
      return true;
    }
    if (!std::exchange(said, true))
      options.say(
          fmt::format("{} processes of this recording still run: recording them until they "
                      "end, or until Ctrl-C",
                      progress.liveImages));
    std::this_thread::sleep_for(kFollowEvery);
  }
}

Result<Recovered> writeWhole(const Session& session, const RecoverOptions& options) {
  const fs::path part = options.output.string() + ".part";
  if (isThere(options.output))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} exists: name another file", options.output.string())};
  if (isThere(part) && !isTraceOf(part, session.folder.filename()))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} exists and is no copy of this session: name another file", part.string())};
  if (session.manifest && !isThere(session.manifest->part) &&
      isTraceOf(session.manifest->output, session.manifest->session))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the recording is finished: its trace is {}",
                             session.manifest->output.string())};
  if (session.manifest) {
    // Held while the copy is made; the drainer takes it again.
    const auto lock = SpoolLock::take(session.folder);
    if (!lock && lock.error().code == ErrorCode::InvalidArgument)
      return stillRecorded(session);
    SONDE_TRY(copyPart(session.manifest->part, part));
  }
  DrainerOptions drain;
  drain.part = part;
  drain.keepSpool = true;
  drain.lock = session.manifest.has_value();
  drain.onlyFile = session.onlyFile;
  SONDE_TRY_ASSIGN(const auto drainer, openDrainer(session, std::move(drain)));
  Recovered recovered;
  recovered.trace = options.output;
  SONDE_TRY_ASSIGN(recovered.totals, drainer->finish(options.output));
  return recovered;
}

// The recorder died after its last record was stored.
Result<Recovered> completeOnly(const Session& session) {
  const auto lock = SpoolLock::take(session.folder);
  if (!lock)
    return lock.error().code == ErrorCode::InvalidArgument ? stillRecorded(session) : lock.error();
  Recovered recovered;
  recovered.trace = session.manifest->output;
  recovered.wasFinished = true;
  const fs::path& part = session.manifest->part;
  if (isThere(part)) {
    SONDE_TRY_ASSIGN(store::Database trace, store::reopenTrace(part));
    SONDE_TRY(completeTrace(std::move(trace), part, session.manifest->output));
  }
  deleteSession(session.folder);
  return recovered;
}

Result<Recovered> finishPart(const Session& session, const RecoverOptions& options) {
  const Manifest& manifest = *session.manifest;
  const std::string name = session.folder.filename();
  if (!isThere(manifest.part) && isTraceOf(manifest.output, name))
    return completeOnly(session);
  if (isTraceOf(manifest.part, name)) {
    SONDE_TRY_ASSIGN(const TraceState state, stateOf(manifest.part));
    if (state.finished || state.drained)
      return completeOnly(session);
  }
  DrainerOptions drain;
  drain.part = manifest.part;
  SONDE_TRY_ASSIGN(const auto drainer, openDrainer(session, std::move(drain)));
  Recovered recovered;
  if (!drainToTheEnd(*drainer, options)) {
    recovered.why = "its processes still run";
    return recovered;
  }
  recovered.trace = manifest.output;
  SONDE_TRY_ASSIGN(recovered.totals, drainer->finish(manifest.output));
  return recovered;
}

bool launcherLives(const fs::path& folder) {
  if (const auto manifest = readManifest(folder))
    return manifest->bootId == currentBootId() &&
           launcher::processAlive(manifest->launcherPid, manifest->launcherStartTime);
  // Between making the folder and writing the manifest there is only its name, "<pid>-<hex>".
  const std::string name = folder.filename();
  pid_t pid = 0;
  std::from_chars(name.data(), name.data() + name.size(), pid);
  return pid > 0 && processStartTime(pid) != 0;
}

bool holdsSpool(const fs::path& folder) {
  std::error_code failure;
  const fs::directory_iterator entries(folder, failure);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().extension() == ".spool";
  });
}

}  // namespace

Result<Recovered> recoverSession(const fs::path& spool, const RecoverOptions& options) {
  SONDE_TRY_ASSIGN(const Session session, findSession(spool));
  const bool toTheSame = session.manifest && options.output == session.manifest->output;
  if (!options.output.empty() && !toTheSame)
    return writeWhole(session, options);
  if (!session.manifest)
    return Error{ErrorCode::NotFound,
                 fmt::format("{} has no manifest.json that says where its trace belongs: name the "
                             "trace with -o",
                             session.folder.string())};
  return finishPart(session, options);
}

std::vector<fs::path> abandonedSessions(const std::vector<fs::path>& places) {
  std::vector<fs::path> found;
  for (const fs::path& place : places) {
    std::error_code failure;
    const fs::path mine = place / fmt::format("sonde-{}", ::geteuid());
    for (const auto& entry : fs::directory_iterator(mine, failure)) {
      if (!entry.is_directory(failure) || launcherLives(entry.path()))
        continue;
      if (isThere(entry.path() / "manifest.json") || holdsSpool(entry.path()))
        found.push_back(entry.path());
      else
        deleteSession(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace sonde::session
