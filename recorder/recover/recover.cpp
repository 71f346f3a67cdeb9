#include "recorder/recover/recover.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "base/file_place.h"
#include "base/shell_quote.h"
#include "recorder/drain/capture_note.h"
#include "recorder/drain/completion.h"
#include "recorder/drain/image_set.h"
#include "recorder/drain/process_capture.h"
#include "recorder/launcher/descriptor_limit.h"
#include "recorder/launcher/process_stat.h"
#include "recorder/recover/part_check.h"
#include "recorder/spool/find_session.h"
#include "recorder/spool/manifest.h"
#include "recorder/spool/recording_switch.h"
#include "recorder/spool/spool_lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr auto kFollowEvery = std::chrono::milliseconds(200);

// Copies the write-ahead log too: the latest commits may be only there.
Result<void> copyPart(const fs::path& from, const Completion& copy) {
  for (const char* suffix : {"", "-wal"}) {
    const fs::path source = from.string() + suffix;
    const fs::path target = copy.part.string() + suffix;
    if (!isThere(source))
      continue;
    if (::access(source.c_str(), R_OK) != 0)
      return Error{
          ErrorCode::Io,
          fmt::format(
              "{} cannot be read ({}): let this user read it, then finish the trace with {}",
              source.string(),
              std::generic_category().message(errno),
              commandAgain(copy))};
    std::error_code failure;
    fs::copy_file(source, target, failure);
    if (failure)
      return cannotWrite(
          {failure == std::errc::no_space_on_device ? ErrorCode::NoSpace : ErrorCode::Io,
           fmt::format("copying {} to it: {}", source.string(), failure.message())},
          copy);
  }
  return {};
}

Error nameTaken(const Session& session, const PartCheck& check) {
  const Manifest& manifest = *session.manifest;
  const bool unfinished = check.state == PartCheck::State::OfAnother;
  const std::string without =
      check.recordsGone == 0
          ? ""
          : fmt::format(" -f, without at least {} records that only its unfinished trace had",
                        check.recordsGone);
  return {ErrorCode::Io,
          fmt::format("{} is {} another recording: write this one elsewhere with sonde recover {} "
                      "-o OTHER{}{}",
                      (unfinished ? manifest.part : manifest.output).string(),
                      unfinished ? "being written by" : "of",
                      shellQuoted(session.folder.string()),
                      without,
                      unfinished ? "" : ", or give -f to replace it")};
}

// Decisions about a session are valid as long as its lock is held.
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

// Drains until no process runs any more. False: one still runs and is not to be waited for.
bool drainToTheEnd(Drainer& drainer, const Redactor& redactor, const RecoverOptions& options) {
  bool said = false;
  bool saidWhy = false;
  std::set<ImageId> described;
  for (;;) {
    const DrainProgress progress = drainer.drainOnce();
    for (const ImageId& image : progress.newImages) {
      auto captured = described.contains(image) ? std::nullopt : captureImage(image, redactor);
      if (!captured)
        continue;
      described.insert(image);
      drainer.notes().add(std::move(captured->facts));
    }
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

// Fails with the reason if the whole trace may not be written to the options' output.
Result<void> checkCopy(const Session& session, const RecoverOptions& options) {
  if (session.manifest && samePlace(options.output, session.manifest->output))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} is the name of this session's own trace: omit -o, or name another file",
                    options.output.string())};
  SONDE_TRY(store::checkName(options.output, options.replace));
  for (const fs::path& file : store::filesOf(store::partOf(options.output)))
    if (isThere(file))
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} is in the way: name another file with -o, or move it away if "
                               "nothing needs it",
                               file.string())};
  if (session.manifest && !isThere(session.manifest->part) &&
      isTraceOf(session.manifest->output, session.manifest->session))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("the recording is finished: its trace is {}",
                             session.manifest->output.string())};
  return {};
}

// `hasOwn`: includes the contents of the session's own part.
Result<Recovered> fillCopy(const Session& session,
                           const RecoverOptions& options,
                           bool hasOwn,
                           std::optional<SpoolLock> lock) {
  const bool lone = !session.onlyFile.empty();
  const Completion completion{lone ? session.onlyFile : session.folder,
                              store::partOf(options.output),
                              options.output,
                              true,
                              options.replace,
                              options.progress};
  if (hasOwn)
    SONDE_TRY(copyPart(session.manifest->part, completion));
  DrainerOptions drain;
  drain.part = completion.part;
  drain.keepSpool = true;
  drain.onlyFile = session.onlyFile;
  drain.replace = options.replace;
  drain.progress = options.progress;
  Recovered recovered;
  recovered.trace = options.output;
  auto drainer = openDrainer(session, std::move(drain), std::move(lock));
  if (const auto page = SessionPage::open(session.folder); drainer && page)
    noteCapture(**drainer, *page);
  const auto totals =
      drainer ? (*drainer)->finish(options.output) : cannotWrite(drainer.error(), completion);
  if (!totals && totals.error().code == ErrorCode::Corrupt && hasOwn)
    return damagedPart(session.manifest->part, "a copy of it cannot be continued", completion);
  SONDE_TRY_ASSIGN(recovered.totals, totals);
  return recovered;
}

// Removes the part of a failed copy, which would keep the name and can be made again. A copy that
// only lacks its name is complete and stays.
Result<Recovered> writeCopy(Session& session, const RecoverOptions& options) {
  SONDE_TRY(checkCopy(session, options));
  std::optional<SpoolLock> lock;
  bool hasOwn = false;
  if (session.manifest) {
    SONDE_TRY_ASSIGN(SpoolLock held, lockSession(session));
    lock.emplace(std::move(held));
    const PartCheck check = checkPart(session);
    if (check.recordsGone > 0 && !options.replace)
      return partGone(session, check);
    hasOwn = check.state == PartCheck::State::Own;
  }
  auto recovered = fillCopy(session, options, hasOwn, std::move(lock));
  if (recovered)
    return recovered;
  const auto isFinished = [](const fs::path& trace) {
    const auto state = stateOf(trace);
    return state && state->finished;
  };
  const fs::path part = store::partOf(options.output);
  if (!isFinished(part) || (hasOwn && isFinished(session.manifest->part)))
    store::removeTrace(part);
  return recovered;
}

Completion completionOf(const Session& session, const RecoverOptions& options) {
  const Manifest& manifest = *session.manifest;
  return {session.folder, manifest.part, manifest.output, false, options.replace, options.progress};
}

// For a recorder that died after its last record was stored. Requires: the lock is held.
Result<Recovered> completeOnly(const Session& session, const RecoverOptions& options) {
  Recovered recovered;
  recovered.trace = session.manifest->output;
  recovered.wasFinished = true;
  const Completion completion = completionOf(session, options);
  if (isThere(completion.part)) {
    auto trace = store::reopenTrace(completion.part);
    if (!trace)
      return cannotWrite(trace.error(), completion);
    SONDE_TRY(completeTrace(*std::move(trace), completion));
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
  const PartCheck check = checkPart(session);
  SONDE_TRY(checkName(completionOf(session, options)));
  if (check.state == PartCheck::State::OfAnother ||
      (isThere(manifest.output) && !outputIsOwn && !options.replace))
    return nameTaken(session, check);
  if (isTraceOf(manifest.part, name)) {
    SONDE_TRY_ASSIGN(const TraceState state, stateOf(manifest.part));
    if (state.finished || state.drained)
      return completeOnly(session, options);
  }
  if (check.recordsGone > 0 && !options.replace)
    return partGone(session, check);
  std::error_code ignored;
  fs::create_directories(manifest.part.parent_path(), ignored);  // it may have been removed
  DrainerOptions drain;
  drain.part = manifest.part;
  drain.replace = options.replace;
  drain.progress = options.progress;
  auto opened = openDrainer(session, std::move(drain), std::move(lock));
  if (!opened)
    return cannotWrite(opened.error(), completionOf(session, options));
  const std::unique_ptr<Drainer> drainer = *std::move(opened);
  Recovered recovered;
  if (!drainToTheEnd(*drainer, Redactor(manifest.redact), options)) {
    recovered.why = "its processes still run";
    return recovered;
  }
  if (const auto page = SessionPage::open(session.folder))
    noteCapture(*drainer, *page);
  recovered.trace = manifest.output;
  SONDE_TRY_ASSIGN(recovered.totals, drainer->finish(manifest.output));
  return recovered;
}

bool launcherLives(const fs::path& folder) {
  if (const auto manifest = readManifest(folder))
    return manifest->bootId == currentBootId() &&
           launcher::processAlive(manifest->launcherPid, manifest->launcherStartTime);
  // Before the manifest is written, only the folder's name "<pid>-<hex>" identifies the recorder.
  const std::string name = folder.filename();
  pid_t pid = 0;
  std::from_chars(name.data(), name.data() + name.size(), pid);
  return pid > 0 && processStartTime(pid) != 0;
}

}  // namespace

Result<Recovered> recoverSession(const fs::path& spool, const RecoverOptions& options) {
  launcher::raiseDescriptorLimit();
  SONDE_TRY_ASSIGN(Session session, findSession(spool, options.places));
  if (!options.output.empty())
    return writeCopy(session, options);
  if (!session.manifest)
    return Error{
        ErrorCode::NotFound,
        fmt::format("{} has no manifest.json with the name of its trace: name the trace with -o",
                    session.folder.string())};
  return finishPart(session, options);
}

Result<void> dropSessionOf(const fs::path& part, const std::vector<fs::path>& places) {
  for (const fs::path& folder : sessionFolders(places)) {
    const auto manifest = readManifest(folder);
    if (!manifest || !samePlace(manifest->part, part))
      continue;
    if (launcherLives(folder))
      return Error{ErrorCode::Busy,
                   fmt::format("{} is being recorded by process {}: give another name with -o",
                               manifest->output.string(),
                               manifest->launcherPid)};
    // If the session's own part is gone, its spool may still be wanted. A part without a session's
    // name is the manifest's: its recorder was killed before the first commit.
    const auto state = stateOf(part);
    if (!isThere(part) || (state && !state->session.empty() && state->session != manifest->session))
      continue;
    SONDE_TRY_ASSIGN(const SpoolLock lock, SpoolLock::take(folder));
    setRecording(folder, wire::RecordingState::Off);
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

}  // namespace sonde::recorder
