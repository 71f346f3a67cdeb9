#include "recorder/launcher/process_stat.h"

#include "recorder/launcher/descriptor_limit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace sonde::launcher {

namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// Uses read(2): a stream's buffer throws if the process ends between open and read.
Result<std::string> readProcFile(pid_t pid, const char* name) {
  const Error gone{ErrorCode::NotFound, fmt::format("process {} is gone", pid)};
  const int file = open(fmt::format("/proc/{}/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && isPassing(errno))
    return Error{ErrorCode::Busy,
                 fmt::format("/proc/{}/{}: {}", pid, name, std::generic_category().message(errno))};
  if (file < 0)
    return gone;
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = read(file, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  close(file);
  if (got < 0)
    return gone;
  return text;
}

std::vector<std::string> splitAtZeros(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\0', begin);
    if (end == std::string::npos)
      end = text.size();
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> readList(pid_t pid, const char* name) {
  auto text = readProcFile(pid, name);
  return text ? splitAtZeros(*text) : std::vector<std::string>{};
}

}  // namespace

Result<ProcessStat> parseProcessStat(const std::string& line) {
  // The name is in parentheses and may contain blanks and parentheses: counts from the last one.
  const std::size_t nameEnd = line.rfind(')');
  if (nameEnd == std::string::npos)
    return Error{ErrorCode::Corrupt, "a line of /proc/PID/stat has no program name"};
  ProcessStat stat;
  stat.pid = static_cast<pid_t>(std::strtol(line.c_str(), nullptr, 10));
  std::istringstream rest(line.substr(nameEnd + 1));
  std::string unused;
  std::uint64_t userTicks = 0, systemTicks = 0, residentPages = 0;
  rest >> stat.state >> stat.parentPid;
  for (int field = 5; field <= 13; ++field)
    rest >> unused;
  rest >> userTicks >> systemTicks;
  for (int field = 16; field <= 19; ++field)
    rest >> unused;
  rest >> stat.threads >> unused >> stat.startTime >> unused >> residentPages;
  if (!rest)
    return Error{ErrorCode::Corrupt, "a line of /proc/PID/stat is too short"};
  static const auto ticksPerSecond = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  static const auto pageBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  stat.cpuNs = (userTicks + systemTicks) * (kNsPerSecond / ticksPerSecond);
  stat.residentBytes = residentPages * pageBytes;
  return stat;
}

Result<ProcessStat> readProcessStat(pid_t pid) {
  SONDE_TRY_ASSIGN(const std::string line, readProcFile(pid, "stat"));
  return parseProcessStat(line);
}

bool processAlive(pid_t pid, std::uint64_t startTime) {
  const auto stat = readProcessStat(pid);
  if (!stat)
    return stat.error().code == ErrorCode::Busy;  // Busy: unknown, so assume that it runs
  // The first thread of a process may end before the others; it is a zombie until they have ended
  // too.
  const bool hasEnded = stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1);
  return stat->startTime == startTime && !hasEnded;
}

std::vector<std::string> readCommandLine(pid_t pid) {
  return readList(pid, "cmdline");
}

std::vector<std::string> readEnvironment(pid_t pid) {
  return readList(pid, "environ");
}

std::string readExecutable(pid_t pid) {
  char buffer[PATH_MAX];
  const ssize_t length = readlink(fmt::format("/proc/{}/exe", pid).c_str(), buffer, sizeof buffer);
  return length < 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(length));
}

}  // namespace sonde::launcher
