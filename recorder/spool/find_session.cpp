#include "recorder/spool/find_session.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "base/file_place.h"
#include "base/shell_quote.h"
#include "recorder/spool_file/spool_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWhatToName =
    "name the folder of --spool, the folder of a session in it (PLACE/sonde-UID/PID-HEX), one of "
    "the session's .spool files, or the session's .part";

bool isSame(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

Result<Session> withManifest(Session session) {
  auto manifest = readManifest(session.folder);
  if (manifest)
    session.manifest = *std::move(manifest);
  else if (manifest.error().code != ErrorCode::NotFound)
    return std::move(manifest).error();
  return session;
}

// The user has to name one of several sessions in a place.
Error manySessions(const fs::path& place, const std::vector<fs::path>& folders) {
  std::string listed;
  for (const fs::path& folder : folders) {
    const auto manifest = readManifest(folder);
    listed += fmt::format(
        "\n  {}  {}",
        shellQuoted(folder.string()),
        manifest ? fmt::format("{}", fmt::join(manifest->command, " ")) : "(command unknown)");
  }
  return {ErrorCode::InvalidArgument,
          fmt::format(
              "{} has {} sessions; name one of them:{}", place.string(), folders.size(), listed)};
}

Result<Session> ofFolder(const fs::path& path) {
  Session session;
  session.folder = path.has_filename() ? path : path.parent_path();
  if (isThere(session.folder / "manifest.json") || holdsSpool(session.folder))
    return withManifest(std::move(session));
  const std::vector<fs::path> inside = sessionFolders({session.folder});
  if (inside.size() > 1)
    return manySessions(path, inside);
  if (inside.empty())
    return notFound(
        fmt::format("{} is not the folder of a session: {}", path.string(), kWhatToName));
  session.folder = inside.front();
  return withManifest(std::move(session));
}

Result<Session> ofSpoolFile(const fs::path& path) {
  if (const auto reader = SpoolReader::open(path, SpoolReader::Access::ReadOnly); !reader)
    return Error{reader.error().code, fmt::format("{}: {}", reader.error().message, kWhatToName)};
  return withManifest({path.parent_path(), path, std::nullopt});
}

std::string nameOf(const std::string& session) {
  return fmt::format("sonde-{}/{}", ::geteuid(), session);
}

Error withoutSession(const fs::path& path,
                     const TraceState& state,
                     const std::vector<fs::path>& places) {
  if (state.finished && path.extension() != ".part")
    return notFound(fmt::format("{} is complete: there is nothing to recover", path.string()));
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const fs::path& place : places)
    names.push_back(place.string());
  const std::string searched = fmt::format("{}", fmt::join(names, ", "));
  if (state.session.empty())
    return notFound(
        fmt::format("no session in {} wrote {}: name its folder, in the --spool of that run",
                    searched,
                    path.string()));
  return notFound(
      fmt::format("the session of {} is not in {}: name its folder, {} in the --spool "
                  "of that run",
                  path.string(),
                  searched,
                  nameOf(state.session)));
}

Result<Session> ofTrace(const fs::path& path, const std::vector<fs::path>& places) {
  const auto state = stateOf(path);
  if (!state && path.extension() != ".part")
    return Error{state.error().code, fmt::format("{}; or {}", state.error().message, kWhatToName)};
  const fs::path folder = sessionWriting(path, places);
  if (folder.empty())
    return withoutSession(path, state ? *state : TraceState{}, places);
  SONDE_TRY_ASSIGN(Session session, withManifest({folder, {}, std::nullopt}));
  const Manifest& manifest = *session.manifest;
  if (!isSame(path, manifest.part) && !isThere(manifest.part) && !isSame(path, manifest.output))
    return Error{ErrorCode::NotFound,
                 fmt::format("{} was recorded as {}: move it back there, with its -wal",
                             path.string(),
                             manifest.part.string())};
  return session;
}

}  // namespace

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

Result<Session> findSession(const fs::path& named, const std::vector<fs::path>& places) {
  std::error_code failure;
  const fs::path path = fs::absolute(named, failure).lexically_normal();
  if (fs::is_directory(path, failure))
    return ofFolder(path);
  if (!fs::is_regular_file(path, failure)) {
    if (fs::is_regular_file(store::partOf(path), failure))
      return ofTrace(store::partOf(path), places);
    return notFound(fmt::format("{} {}: {}",
                                named.string(),
                                isThere(path) ? "is not a file" : "does not exist",
                                kWhatToName));
  }
  return path.extension() == ".spool" ? ofSpoolFile(path) : ofTrace(path, places);
}

// By the session name in the trace; before its first commit only the manifest has it.
fs::path sessionWriting(const fs::path& part, const std::vector<fs::path>& places) {
  const auto state = stateOf(part);
  const std::string name = state ? state->session : "";
  for (const fs::path& folder : sessionFolders(places)) {
    const auto manifest = readManifest(folder);
    if (manifest && (name.empty() ? isSame(manifest->part, part) : manifest->session == name))
      return folder;
  }
  return {};
}

std::vector<fs::path> sessionFolders(const std::vector<fs::path>& places) {
  return sessionFolders(places, ::geteuid());
}

std::vector<fs::path> sessionFolders(const std::vector<fs::path>& places, uid_t user) {
  std::vector<fs::path> found;
  for (const fs::path& place : places) {
    std::error_code failure;
    const fs::path theirs = place / fmt::format("sonde-{}", user);
    for (const auto& entry : fs::directory_iterator(theirs, failure))
      if (entry.is_directory(failure))
        found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool holdsSpool(const fs::path& folder) {
  std::error_code failure;
  const fs::directory_iterator entries(folder, failure);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().extension() == ".spool";
  });
}

}  // namespace sonde::recorder
