#include "plugins/host/plugin_set.h"

#include "collector/wire/plugin_misuse.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

namespace sonde::plugins {
namespace {

// The limit for their paths, which are in every program's environment.
constexpr std::size_t kMostBytes = 3500;

bool isOf(const std::string& entry, const char* name) {
  return entry.rfind(name, 0) == 0;
}

// The environment in which the loader lists the libraries that it would load, and exits.
std::vector<std::string> trialEnvironment(const std::vector<PluginFile>& plugins,
                                          const std::vector<std::string>& environment) {
  std::vector<std::string> trial;
  for (const std::string& entry : environment)
    if (!isOf(entry, "LD_PRELOAD=") && !isOf(entry, "LD_TRACE_LOADED_OBJECTS=") &&
        !isOf(entry, "LD_DEBUG="))
      trial.push_back(entry);
  std::string preload = "LD_PRELOAD=";
  for (const PluginFile& plugin : plugins)
    preload += (preload.back() == '=' ? "" : ":") + plugin.path.string();
  trial.push_back(preload);
  trial.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  return trial;
}

std::string readAll(int fd) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = read(fd, piece, sizeof piece);
    if (got > 0)
      text.append(piece, static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return text;
  }
}

// Returns the loader's output; empty if the loader could not be run.
std::string askLoader(const std::string& program, std::vector<std::string> environment) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0)
    return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> entries;
  entries.reserve(environment.size() + 1);
  for (std::string& entry : environment)
    entries.push_back(entry.data());
  entries.push_back(nullptr);
  std::string name = program;
  char* arguments[] = {name.data(), nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, entries.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text = error == 0 ? readAll(ends[0]) : "";
  close(ends[0]);
  while (error == 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

Result<std::vector<PluginFile>> checkPlugins(const std::vector<std::string>& paths) {
  std::vector<PluginFile> plugins;
  std::size_t bytes = 0;
  for (const std::string& path : paths) {
    SONDE_TRY_ASSIGN(PluginFile plugin, checkPlugin(path));
    const auto same = std::find_if(plugins.begin(), plugins.end(), [&](const PluginFile& other) {
      return other.name == plugin.name;
    });
    if (same != plugins.end())
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("plugins {} and {} are both called '{}': give only one of them",
                               same->path.string(),
                               plugin.path.string(),
                               plugin.name)};
    bytes += plugin.path.string().size() + 1;
    plugins.push_back(std::move(plugin));
  }
  if (plugins.size() > wire::kMaxPlugins)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} plugins are too many: give at most {}", plugins.size(), wire::kMaxPlugins)};
  if (bytes > kMostBytes)
    return Error{ErrorCode::InvalidArgument,
                 "the paths of the plugins are too long: move them to a shorter one"};
  return plugins;
}

Result<void> tryLoading(const std::vector<PluginFile>& plugins,
                        const std::string& program,
                        const std::vector<std::string>& environment) {
  std::istringstream lines(askLoader(program, trialEnvironment(plugins, environment)));
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(" => not found"); at != std::string::npos)
      return Error{ErrorCode::NotFound,
                   fmt::format("the loader cannot find{}, which a plugin needs: set "
                               "LD_LIBRARY_PATH, or link the plugin with an RPATH",
                               line.substr(0, at).replace(0, 1, " "))};
    const bool isAboutThem =
        std::any_of(plugins.begin(), plugins.end(), [&](const PluginFile& plugin) {
          return line.find(plugin.path.string()) != std::string::npos;
        });
    if (isAboutThem && (line.find("ERROR: ld.so") != std::string::npos ||
                        line.find(" not found (required by ") != std::string::npos))
      return Error{ErrorCode::Unsupported, fmt::format("the loader refuses a plugin: {}", line)};
  }
  return {};
}

}  // namespace sonde::plugins
