#include "session/recover.h"

#include "analysis/base/shell_quote.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "collector/launcher/descriptor_limit.h"
#include "collector/launcher/process_stat.h"
#include "session/completion.h"
#include "session/find_session.h"
#include "session/image_set.h"
#include "session/manifest.h"
#include "session/process_capture.h"
#include "session/session_page.h"
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

bool isThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
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

// Whether the name of its unfinished trace was taken by another recording since.
bool ofAnother(const Session& session) {
  const auto state = stateOf(session.manifest->part);
  return state && !state->session.empty() && state->session != session.folder.filename();
}

Error nameTaken(const Session& session) {
  const Manifest& manifest = *session.manifest;
  const bool unfinished = ofAnother(session);
  return {ErrorCode::Io,
          fmt::format("{} is {} another recording: write this one elsewhere with sonde recover {} "
                      "-o OTHER{}",
                      (unfinished ? manifest.part : manifest.output).string(),
                      unfinished ? "being written by" : "of",
                      shellQuoted(session.folder.string()),
                      unfinished ? "" : ", or give -f to replace it")};
}

// The records that its unfinished trace alone had, when that is gone.
std::uint64_t goneWithPart(const Session& session) {
  if (!session.manifest || (isThere(session.manifest->part) && !ofAnother(session)))
    return 0;
  const auto page = SessionPage::open(session.folder);
  return page ? page->givenBack() : 0;
}

Error partGone(const Session& session, std::uint64_t records) {
  return {
      ErrorCode::NotFound,
      fmt::format("{} is not there any more, and with it at least {} records that the spool has "
                  "no more: move it back there, with its -wal, or give -f to write a trace "
                  "without them",
                  session.manifest->part.string(),
                  records)};
}

void noteGone(Drainer& drainer, const Session& session, std::uint64_t records) {
  if (records == 0)
    return;
  drainer.noteLoss("process", "unknown", "part missing", records);
  drainer.noteWarning(fmt::format(
      "the unfinished trace {} was not there when this one was recovered: what it alone "
      "had, at least {} records, is lost",
      session.manifest->part.string(),
      records));
}

// What is decided about a session holds as long as its lock is held.
Result<SpoolLock> lockSession(Session& session) {
  SONDE_TRY_ASSIGN(SpoolLock lock, SpoolLock::take(session.folder));
  SONDE_TRY_ASSIGN(session.manifest, readManifest(session.folder));
  return lock;
}

Result<std::unique_ptr<Drainer>> openDrainer(const Session& session,
                                             DrainerOptions options,
                                             std::optional<SpoolLock> lock) {
  options.folder = session.folder;
  if (session.manifest) {
    options.job = session.manifest->job;
    options.redactor = Redactor(session.manifest->redact);
  }
  return Drainer::open(std::move(options), std::move(lock));
}

// Drains until nothing runs any more. False when something does and it is not to be waited for.
bool drainToTheEnd(Drainer& drainer, const Redactor& redactor, const RecoverOptions& options) {
  bool said = false;
  bool saidWhy = false;
  for (;;) {
    const DrainProgress progress = drainer.drainOnce();
    for (const ImageId& image : progress.newImages)
      if (auto captured = captureImage(image, redactor))
        drainer.noteProcess(std::move(captured->facts));
    if (progress.liveImages == 0)
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
    if (progress.stopped && !std::exchange(saidWhy, true))
      options.say(progress.why);
    std::this_thread::sleep_for(kFollowEvery);
  }
}

Result<Recovered> writeWhole(Session& session, const RecoverOptions& options) {
  const fs::path part = store::partOf(options.output);
  if (isThere(options.output) && !options.replace)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} exists: name another file, or -f to replace it", options.output.string())};
  if (isThere(part) && !isTraceOf(part, session.folder.filename()))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} exists and is no copy of this session: name another file", part.string())};
  if (session.manifest && !isThere(session.manifest->part) &&
      isTraceOf(session.manifest->output, session.manifest->session))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the recording is finished: its trace is {}",
                             session.manifest->output.string())};
  std::optional<SpoolLock> lock;
  std::uint64_t gone = 0;
  if (session.manifest) {
    SONDE_TRY_ASSIGN(SpoolLock held, lockSession(session));
    lock.emplace(std::move(held));
    gone = goneWithPart(session);
    if (gone > 0 && !options.replace)
      return partGone(session, gone);
    if (!ofAnother(session))
      SONDE_TRY(copyPart(session.manifest->part, part));
  }
  DrainerOptions drain;
  drain.part = part;
  drain.keepSpool = true;
  drain.onlyFile = session.onlyFile;
  drain.replace = options.replace;
  drain.progress = options.progress;
  SONDE_TRY_ASSIGN(const auto drainer, openDrainer(session, std::move(drain), std::move(lock)));
  noteGone(*drainer, session, gone);
  Recovered recovered;
  recovered.trace = options.output;
  SONDE_TRY_ASSIGN(recovered.totals, drainer->finish(options.output));
  return recovered;
}

// The recorder died after its last record was stored. Requires: the lock is held.
Result<Recovered> completeOnly(const Session& session, const RecoverOptions& options) {
  Recovered recovered;
  recovered.trace = session.manifest->output;
  recovered.wasFinished = true;
  const fs::path& part = session.manifest->part;
  if (isThere(part)) {
    SONDE_TRY_ASSIGN(store::Database trace, store::reopenTrace(part));
    SONDE_TRY(completeTrace(std::move(trace),
                            {part, session.manifest->output, options.replace, options.progress}));
  }
  deleteSession(session.folder);
  return recovered;
}

Result<Recovered> finishPart(Session& session, const RecoverOptions& options) {
  SONDE_TRY_ASSIGN(SpoolLock lock, lockSession(session));
  const Manifest& manifest = *session.manifest;
  const std::string name = session.folder.filename();
  const bool outputIsOwn = isTraceOf(manifest.output, name);
  if (!isThere(manifest.part) && outputIsOwn)
    return completeOnly(session, options);
  if (ofAnother(session) || (isThere(manifest.output) && !outputIsOwn && !options.replace))
    return nameTaken(session);
  if (isTraceOf(manifest.part, name)) {
    SONDE_TRY_ASSIGN(const TraceState state, stateOf(manifest.part));
    if (state.finished || state.drained)
      return completeOnly(session, options);
  }
  const std::uint64_t gone = goneWithPart(session);
  if (gone > 0 && !options.replace)
    return partGone(session, gone);
  std::error_code ignored;
  fs::create_directories(manifest.part.parent_path(), ignored);  // it may have been removed
  DrainerOptions drain;
  drain.part = manifest.part;
  drain.replace = options.replace;
  drain.progress = options.progress;
  SONDE_TRY_ASSIGN(const auto drainer, openDrainer(session, std::move(drain), std::move(lock)));
  noteGone(*drainer, session, gone);
  Recovered recovered;
  if (!drainToTheEnd(*drainer, Redactor(manifest.redact), options)) {
    recovered.why = "its processes still run";
    return recovered;
  }
  recovered.trace = manifest.output;
  SONDE_TRY_ASSIGN(recovered.totals, drainer->finish(manifest.output));
  return recovered;
}

Result<Recovered> advise(Result<Recovered> recovered,
                         const fs::path& part,
                         const std::string& command) {
  if (recovered)
    return recovered;
  return withAdvice(std::move(recovered).error(), part, command);
}

// Of a trace that is written beside the session's own, which stays.
Result<Recovered> adviseElsewhere(Result<Recovered> recovered,
                                  const fs::path& part,
                                  const std::string& command) {
  if (recovered || recovered.error().code != ErrorCode::Io)
    return advise(std::move(recovered), part, command);
  return Error{ErrorCode::Io,
               fmt::format("{} cannot be written ({}): give another place with -o",
                           part.string(),
                           recovered.error().message)};
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

}  // namespace

Result<Recovered> recoverSession(const fs::path& spool, const RecoverOptions& options) {
  launcher::raiseDescriptorLimit();
  SONDE_TRY_ASSIGN(Session session, findSession(spool, options.places));
  const std::string again = "sonde recover " + shellQuoted(session.folder.string());
  const bool toTheSame = session.manifest && options.output == session.manifest->output;
  if (!options.output.empty() && !toTheSame)
    return adviseElsewhere(writeWhole(session, options),
                           store::partOf(options.output),
                           fmt::format("{} -o {}", again, shellQuoted(options.output.string())));
  if (!session.manifest)
    return Error{ErrorCode::NotFound,
                 fmt::format("{} has no manifest.json that says where its trace belongs: name the "
                             "trace with -o",
                             session.folder.string())};
  return advise(finishPart(session, options), session.manifest->part, again);
}

Result<void> dropSessionOf(const fs::path& part, const std::vector<fs::path>& places) {
  for (const fs::path& folder : sessionFolders(places)) {
    const auto manifest = readManifest(folder);
    if (!manifest || manifest->part != part)
      continue;
    if (launcherLives(folder))
      return Error{ErrorCode::Busy,
                   fmt::format("{} is being recorded by process {}: give another name with -o",
                               manifest->output.string(),
                               manifest->launcherPid)};
    // What it wrote may be gone already; what is in its spool may still be wanted. A part that
    // names no session yet is that of the manifest: its recorder was killed before the first
    // commit.
    const auto state = stateOf(part);
    if (!isThere(part) || (state && !state->session.empty() && state->session != manifest->session))
      continue;
    SONDE_TRY_ASSIGN(const SpoolLock lock, SpoolLock::take(folder));
    stopRecording(folder);
    deleteSession(folder);
  }
  return {};
}

std::vector<fs::path> abandonedSessions(const std::vector<fs::path>& places) {
  std::vector<fs::path> found;
  for (const fs::path& folder : sessionFolders(places)) {
    if (launcherLives(folder))
      continue;
    if (isThere(folder / "manifest.json") || holdsSpool(folder))
      found.push_back(folder);
    else
      deleteSession(folder);
  }
  return found;
}

}  // namespace sonde::session
