// Which session a file or folder belongs to that somebody names, and where the sessions are. Plain
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

// What a trace says of the recording it came from.
struct TraceState {
  std::string session;
  bool finished = false;
  bool drained = false;  // all records are in it; the finaliser was cut short
};
Result<TraceState> stateOf(const std::filesystem::path& trace);

struct Session {
  std::filesystem::path folder;
  std::filesystem::path onlyFile;  // of the folder, when a spool file was named
  std::optional<Manifest> manifest;
};

// `named`: a session's folder, one of its spool files, its trace, finished or not, or the folder
// that was named to --spool; the session of a trace is looked for in `places`. NotFound, or what is
// wrong with the file, with what to name instead; InvalidArgument where the folder of --spool has
// several sessions, which the message lists.
Result<Session> findSession(const std::filesystem::path& named,
                            const std::vector<std::filesystem::path>& places);

// The folder of the session in `places` that was writing this `.part`; empty when there is none.
std::filesystem::path sessionWriting(const std::filesystem::path& part,
                                     const std::vector<std::filesystem::path>& places);

// All of this user, or of another, in `places`, each once.
std::vector<std::filesystem::path> sessionFolders(const std::vector<std::filesystem::path>& places);
std::vector<std::filesystem::path> sessionFolders(const std::vector<std::filesystem::path>& places,
                                                  uid_t user);

bool holdsSpool(const std::filesystem::path& folder);

}  // namespace sonde::recorder
