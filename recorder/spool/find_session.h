// Finds the session that a named file or folder belongs to, and the folders of sessions. Plain
// functions; any thread.
#pragma once

#include "base/result.h"
#include "recorder/spool/manifest.h"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

// A trace's facts about its recording.
struct TraceState {
  std::string session;
  bool finished = false;
  bool drained = false;  // all records are in it; only the finaliser was interrupted
};
Result<TraceState> stateOf(const std::filesystem::path& trace);

struct Session {
  std::filesystem::path folder;
  std::filesystem::path onlyFile;  // in the folder, if a spool file was named
  std::optional<Manifest> manifest;
};

// `named`: a session's folder, one of its spool files, its trace, finished or not, or the folder
// that was given to --spool. Looks for the session of a trace in `places`. NotFound, or the error of
// the file; the message suggests what to name instead. InvalidArgument if the folder of --spool has
// several sessions; the message lists them.
Result<Session> findSession(const std::filesystem::path& named,
                            const std::vector<std::filesystem::path>& places);

// The folder of the session in `places` that was writing this `.part`; empty: none.
std::filesystem::path sessionWriting(const std::filesystem::path& part,
                                     const std::vector<std::filesystem::path>& places);

// All session folders of this user, or of another, in `places`, each once.
std::vector<std::filesystem::path> sessionFolders(const std::vector<std::filesystem::path>& places);
std::vector<std::filesystem::path> sessionFolders(const std::vector<std::filesystem::path>& places,
                                                  uid_t user);

bool holdsSpool(const std::filesystem::path& folder);

}  // namespace sonde::recorder
