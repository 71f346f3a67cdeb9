#include "session/image_life.h"

#include "collector/launcher/process_stat.h"
#include "session/manifest.h"

#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace sonde::session {

namespace {

std::uint64_t pidNamespaceOf(const std::string& pid) {
  struct stat info {};
  const std::string path = "/proc/" + pid + "/ns/pid";
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// Its pid means nothing here, but its start time and namespace do.
bool runsInNamespace(std::uint64_t pidNamespace, std::uint64_t startTime) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failure)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec == std::errc() && *parsed.ptr == '\0' && launcher::processAlive(pid, startTime) &&
        pidNamespaceOf(name) == pidNamespace)
      return true;
  }
  return false;
}

}  // namespace

bool processRuns(const launcher::SpoolIdentity& who) {
  static const std::string bootId = currentBootId();
  static const std::uint64_t pidNamespace = pidNamespaceOf("self");
  if (who.bootId != bootId)
    return false;
  return who.pidNamespace == pidNamespace ? launcher::processAlive(who.pid, who.startTime)
                                          : runsInNamespace(who.pidNamespace, who.startTime);
}

bool isSameProcess(const launcher::SpoolIdentity& one,
                   const launcher::SpoolIdentity& other) noexcept {
  return one.pid == other.pid && one.startTime == other.startTime &&
         one.pidNamespace == other.pidNamespace && one.bootId == other.bootId;
}

}  // namespace sonde::session
