// `manifest.json` in a session's spool folder: which trace the recording writes and which recorder
// writes it, so that `sonde recover` can finish a killed recorder's work. Plain functions; any
// thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::recorder {

struct Manifest {
  std::string session;           // the folder's own name; meta.session of its trace
  std::filesystem::path output;  // absolute
  std::filesystem::path part;    // absolute: output + ".part"
  std::int32_t launcherPid = 0;
  std::uint64_t launcherStartTime = 0;  // field 22 of /proc/PID/stat
  std::string bootId;
  std::string job;                   // meta.job
  std::vector<std::string> command;  // redacted
  std::vector<std::string> redact;   // patterns of Redactor
};

// Written completely under a temporary name, then renamed.
Result<void> writeManifest(const std::filesystem::path& folder, const Manifest& manifest);
Result<Manifest> readManifest(const std::filesystem::path& folder);

// Field 22 of /proc/PID/stat; 0: no such process.
std::uint64_t processStartTime(std::int32_t pid);
std::string currentBootId();
std::string currentHostName();

}  // namespace sonde::recorder
