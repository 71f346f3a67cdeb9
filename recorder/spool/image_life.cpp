#include "recorder/spool/image_life.h"

#include "recorder/launcher/process_stat.h"
#include "recorder/spool/manifest.h"

#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace sonde::recorder {

namespace {

std::uint64_t pidNamespaceOf(const std::string& pid) {
  struct stat info {};
  const std::string path = "/proc/" + pid + "/ns/pid";
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// Its pid has no meaning here, but its start time and namespace identify it.
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

bool processRuns(const SpoolIdentity& who) {
  static const std::string bootId = currentBootId();
  static const std::uint64_t pidNamespace = pidNamespaceOf("self");
  if (who.bootId != bootId)
    return false;
  return who.pidNamespace == pidNamespace ? launcher::processAlive(who.pid, who.startTime)
                                          : runsInNamespace(who.pidNamespace, who.startTime);
}

bool isSameProcess(const SpoolIdentity& one, const SpoolIdentity& other) noexcept {
  return one.pid == other.pid && one.startTime == other.startTime &&
         one.pidNamespace == other.pidNamespace && one.bootId == other.bootId;
}

}  // namespace sonde::recorder
