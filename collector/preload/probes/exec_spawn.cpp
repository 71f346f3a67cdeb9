// posix_spawn, posix_spawnp, system and popen: a child with a program of its own in one call.

#include "collector/core/hooks.h"
#include "collector/core/syscalls.h"
#include "collector/preload/probes/exec_plan.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sonde::preload {
namespace {

using core::Real;

using SpawnCall = int (*)(pid_t*,
                          const char*,
                          const posix_spawn_file_actions_t*,
                          const posix_spawnattr_t*,
                          char* const*,
                          char* const*);
using SystemCall = int (*)(const char*);
using PopenCall = FILE* (*)(const char*, const char*);

constinit Real<SpawnCall> gSpawn{"posix_spawn"};
constinit Real<SpawnCall> gSpawnInPath{"posix_spawnp"};
constinit Real<SystemCall> gSystem{"system"};
constinit Real<PopenCall> gPopen{"popen"};

__attribute__((constructor(102))) void resolve() {
  gSpawn();
  gSpawnInPath();
  gSystem();
  gPopen();
}

// The arguments of one posix_spawn.
struct Spawn {
  pid_t* pid;
  const char* file;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  char* const* arguments;
  char* const* environment;
};

void recordSpawn(const char* path, const ExecTarget& target, pid_t child) noexcept {
  if (!core::enabled(wire::Probe::Process))
    return;
  core::emitFork(child);
  if (target.found && target.reason != nullptr)
    core::emitExec(core::intern(path), core::intern(target.reason));
}

int run(SpawnCall real, const Spawn& spawn, const char* path) {
  const ExecTarget target =
      path == nullptr ? ExecTarget{} : planFor(AT_FDCWD, path, spawn.environment);
  return withEnvironment(spawn.environment, target, [&](char** merged) {
    pid_t child = 0;
    const int result =
        real(&child, spawn.file, spawn.actions, spawn.attributes, spawn.arguments, merged);
    if (result == 0) {
      if (spawn.pid != nullptr)
        *spawn.pid = child;
      recordSpawn(path, target, child);
    }
    return result;
  });
}

int runInPath(const Spawn& spawn) {
  if (spawn.file == nullptr || strchr(spawn.file, '/') != nullptr)
    return run(gSpawnInPath(), spawn, spawn.file);
  return withScratch(kMaxPath, [&](void* room) {
    auto* found = static_cast<char*>(room);
    const bool known = found != nullptr && findInPath(spawn.file, found, kMaxPath);
    return run(gSpawnInPath(), spawn, known ? found : nullptr);
  });
}

// For a call of libc's that passes `environ` on by itself, in a program that has cleared it: the
// complete one stands in its place for the call. When the host changes its environment meanwhile,
// libc copies what it finds to memory of its own and sets `environ` to that: so the stand-in is put
// back only when it is still there, and is never freed.
template <typename Call>
auto withCompleteEnviron(Call call) {
  char** before = environ;
  const std::size_t bytes = environmentBytes(before);
  const long room = core::rawSyscall(SYS_mmap,
                                     0,
                                     static_cast<long>(bytes),
                                     PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS,
                                     -1,
                                     0);
  if (room < 0 && room >= -4095)
    return call();
  char** complete = buildEnvironment(before, true, reinterpret_cast<void*>(room));
  environ = complete;
  const auto result = call();
  if (environ == complete)
    environ = before;
  return result;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;  // NOLINT(google-build-using-namespace): the wrappers stand outside
                                 // every namespace

SONDE_EXPORT int posix_spawn(pid_t* pid,
                             const char* path,
                             const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes,
                             char* const* arguments,
                             char* const* environment) {
  if (!carriesEnvironment())
    return gSpawn()(pid, path, actions, attributes, arguments, environment);
  return run(gSpawn(), {pid, path, actions, attributes, arguments, environment}, path);
}

SONDE_EXPORT int posix_spawnp(pid_t* pid,
                              const char* file,
                              const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes,
                              char* const* arguments,
                              char* const* environment) {
  if (!carriesEnvironment())
    return gSpawnInPath()(pid, file, actions, attributes, arguments, environment);
  return runInPath({pid, file, actions, attributes, arguments, environment});
}

SONDE_EXPORT int system(const char* command) {
  if (command == nullptr || !carriesEnvironment() || isComplete(environ))
    return gSystem()(command);
  return withCompleteEnviron([&] { return gSystem()(command); });
}

SONDE_EXPORT FILE* popen(const char* command, const char* mode) {
  if (!carriesEnvironment() || isComplete(environ))
    return gPopen()(command, mode);
  return withCompleteEnviron([&] { return gPopen()(command, mode); });
}
