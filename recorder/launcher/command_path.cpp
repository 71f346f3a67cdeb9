#include "recorder/launcher/command_path.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sonde::launcher {

namespace {

// Returns 0, or the errno that execve would return.
int whyNotRunnable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return errno;
  if (S_ISDIR(status.st_mode))
    return EISDIR;
  return access(path.c_str(), X_OK) == 0 && S_ISREG(status.st_mode) ? 0 : EACCES;
}

CommandPath refusal(const std::string& name, int error) {
  if (error == ENOENT || error == ENOTDIR)
    return {"", kExitNotFound, fmt::format("{}: command not found", name)};
  if (error == EISDIR)
    return {"", kExitNotExecutable, fmt::format("{}: is a folder, not a program", name)};
  if (error == EACCES)
    return {"", kExitNotExecutable, fmt::format("{}: not executable: try chmod +x", name)};
  return {
      "", kExitNotExecutable, fmt::format("{}: {}", name, std::generic_category().message(error))};
}

}  // namespace

CommandPath findCommand(const std::string& name, const std::string& searchPath) {
  if (name.empty())
    return refusal("''", ENOENT);
  if (name.find('/') != std::string::npos) {
    const int error = whyNotRunnable(name);
    return error == 0 ? CommandPath{name, 0, ""} : refusal(name, error);
  }
  int seen = ENOENT;
  std::size_t begin = 0;
  while (begin <= searchPath.size()) {
    const std::size_t end = std::min(searchPath.find(':', begin), searchPath.size());
    const std::string folder = searchPath.substr(begin, end - begin);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const int error = whyNotRunnable(candidate);
    if (error == 0)
      return {candidate, 0, ""};
    if (error == EACCES)  // a folder with that name does not count, as in a shell
      seen = EACCES;
    begin = end + 1;
  }
  return refusal(name, seen);
}

}  // namespace sonde::launcher
