#include "recorder/launcher/descendants.h"

#include "recorder/launcher/process_stat.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>

namespace sonde::launcher {
namespace {

std::vector<pid_t> allProcesses() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder)
    return pids;
  // readdir is safe: nobody else uses this stream.
  while (const dirent* const entry = readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    pid_t pid = 0;
    if (std::from_chars(entry->d_name, end, pid).ptr == end)
      pids.push_back(pid);
  }
  return pids;
}

}  // namespace

std::vector<RunningProcess> descendants() {
  std::multimap<pid_t, RunningProcess> byParent;
  for (const pid_t pid : allProcesses())
    if (const auto stat = readProcessStat(pid); stat && stat->state != 'Z' && stat->state != 'X')
      byParent.emplace(stat->parentPid, RunningProcess{pid, stat->startTime});
  std::vector<RunningProcess> found;
  std::vector<pid_t> parents{getpid()};
  while (!parents.empty()) {
    std::vector<pid_t> next;
    for (const pid_t parent : parents) {
      const auto [begin, end] = byParent.equal_range(parent);
      for (auto child = begin; child != end; ++child) {
        found.push_back(child->second);
        next.push_back(child->second.pid);
      }
    }
    parents = std::move(next);
  }
  return found;
}

bool catchesSignal(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  constexpr std::string_view kCaught = "SigCgt:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kCaught))
      continue;
    const std::size_t digits = line.find_first_not_of(" \t", kCaught.size());
    std::uint64_t mask = 0;
    if (digits != std::string::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), mask, 16);
    return (mask >> static_cast<unsigned>(signal - 1) & 1) != 0;
  }
  return false;
}

void sendSignal(const RunningProcess& process, int signal) {
  if (processAlive(process.pid, process.startTime))
    kill(process.pid, signal);
}

}  // namespace sonde::launcher
