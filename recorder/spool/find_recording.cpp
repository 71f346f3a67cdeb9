#include "recorder/spool/find_recording.h"

#include "recorder/environment/job_identity.h"
#include "recorder/launcher/process_stat.h"
#include "recorder/spool/find_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

struct Process {
  pid_t pid = 0;
  pid_t ownPid = 0;  // in its own pid namespace
  std::uint64_t startTime = 0;
  std::uint64_t pidNamespace = 0;  // 0: unknown
  uid_t user = 0;
};

// The last number after "NSpid:".
pid_t innermostPid(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:"))
      continue;
    const std::size_t at = line.find_last_of(" \t");
    pid_t inner = 0;
    std::from_chars(line.data() + at + 1, line.data() + line.size(), inner);
    return inner > 0 ? inner : pid;
  }
  return pid;
}

Result<Process> lookAt(pid_t pid) {
  const auto stat = launcher::readProcessStat(pid);
  if (!stat)
    return stat.error().code == ErrorCode::NotFound
               ? notFound(fmt::format("there is no process {}", pid))
               : stat.error();
  if (stat->state == 'Z' || stat->state == 'X')
    return notFound(fmt::format("process {} has ended", pid));
  Process process{pid, innermostPid(pid), stat->startTime, 0, ::geteuid()};
  struct stat info {};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &info) == 0)
    process.user = info.st_uid;
  if (::stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &info) == 0)
    process.pidNamespace = info.st_ino;
  return process;
}

// "<boot id's first 8 letters>-<pid namespace>-<pid>-<start time>-<exec count>.spool"
bool isSpoolOf(const fs::path& file, const Process& process) {
  if (file.extension() != ".spool")
    return false;
  const std::string name = file.stem();
  std::uint64_t numbers[4] = {};  // from the end: exec count, start time, pid, namespace
  std::size_t end = name.size();
  for (std::uint64_t& number : numbers) {
    const std::size_t dash = end == 0 ? std::string::npos : name.rfind('-', end - 1);
    if (dash == std::string::npos)
      return false;
    std::from_chars(name.data() + dash + 1, name.data() + end, number);
    end = dash;
  }
  return name.substr(0, end) == currentBootId().substr(0, 8) && numbers[1] == process.startTime &&
         numbers[2] == static_cast<std::uint64_t>(process.ownPid) &&
         (process.pidNamespace == 0 || numbers[3] == process.pidNamespace);
}

bool records(const fs::path& folder, const Process& process) {
  std::error_code failure;
  const fs::directory_iterator entries(folder, failure);
  return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
    return isSpoolOf(entry.path(), process);
  });
}

bool isLauncher(const Manifest& manifest, const Process& process) {
  return manifest.launcherPid == process.pid && manifest.launcherStartTime == process.startTime &&
         manifest.bootId == currentBootId();
}

// Folders of sessions that the process itself names: a recorded process in its environment, a
// recorder by the lock that it holds.
std::vector<fs::path> foldersNamedBy(pid_t pid) {
  std::vector<fs::path> named;
  if (const auto folder = findVariable(launcher::readEnvironment(pid), "SONDE_SESSION"))
    named.emplace_back(*folder);
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), failure)) {
    std::error_code gone;
    const fs::path target = fs::read_symlink(entry.path(), gone);
    if (!gone && target.filename() == "lock")
      named.push_back(target.parent_path());
  }
  return named;
}

std::string nameOf(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  return entry == nullptr ? std::to_string(user) : entry->pw_name;
}

Error ambiguous(pid_t pid, const std::vector<FoundRecording>& found) {
  std::vector<std::string> launchers;
  launchers.reserve(found.size());
  for (const FoundRecording& one : found)
    launchers.push_back(
        fmt::format("{} ({})", one.manifest.launcherPid, one.manifest.output.string()));
  return {ErrorCode::InvalidArgument,
          fmt::format("more than one recording has process {}: name one by its recorder's PID: {}",
                      pid,
                      fmt::join(launchers, ", "))};
}

std::vector<fs::path> candidates(const Process& process, const std::vector<fs::path>& places) {
  std::vector<fs::path> folders = sessionFolders(places, process.user);
  for (fs::path& folder : foldersNamedBy(process.pid))
    folders.push_back(std::move(folder));
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

}  // namespace

bool launcherRuns(const Manifest& manifest) {
  return manifest.bootId == currentBootId() &&
         launcher::processAlive(manifest.launcherPid, manifest.launcherStartTime);
}

Result<FoundRecording> findRecording(pid_t pid, const std::vector<fs::path>& places) {
  SONDE_TRY_ASSIGN(const Process process, lookAt(pid));
  std::vector<FoundRecording> found;
  for (const fs::path& folder : candidates(process, places)) {
    auto manifest = readManifest(folder);
    if (!manifest)
      continue;
    // A recorder may itself be recorded: its PID means its own recording.
    if (isLauncher(*manifest, process))
      return FoundRecording{folder, *std::move(manifest)};
    if (records(folder, process))
      found.push_back({folder, *std::move(manifest)});
  }
  if (found.empty() && process.user != ::geteuid() && ::geteuid() != 0)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format(
            "process {} is of user {}: send the request as that user", pid, nameOf(process.user))};
  if (found.empty())
    return notFound(fmt::format(
        "process {} is not recorded: give the PID of a `sonde run`, or of a process under one",
        pid));
  const bool severalRecord = found.size() > 1;
  if (severalRecord)
    std::erase_if(found, [](const FoundRecording& one) { return !launcherRuns(one.manifest); });
  if (found.size() > 1)
    return ambiguous(pid, found);
  if (found.empty() || !launcherRuns(found.front().manifest))
    return notFound(
        fmt::format("the recorder of process {} is dead: `sonde recover` continues the recording "
                    "and finishes its trace",
                    pid));
  return found.front();
}

}  // namespace sonde::recorder
