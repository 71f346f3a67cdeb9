// posix_spawn, posix_spawnp, system and popen: each starts a program in a child.

#include "collector/core/platform/bounded.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/syscalls.h"
#include "collector/preload/process/exec_plan.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

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
  if (strchr(spawn.file, '/') != nullptr)
    return run(gSpawnInPath(), spawn, spawn.file);
  return withScratch(kMaxPath, [&](void* room) {
    auto* found = static_cast<char*>(room);
    const bool known = found != nullptr && core::findInPath(spawn.file, found, kMaxPath);
    return run(gSpawnInPath(), spawn, known ? found : nullptr);
  });
}

// A complete environment in memory that is never freed, because a thread of the host may read it at
// any time while it replaces `environ`. It is reused once no call needs it. Rebuilt from the same
// environment, its content is the same.
struct StandIn {
  std::atomic<std::uint32_t> calls;  // calls that need it unchanged
  std::atomic<char**> environment;
  std::size_t bytes;
};
constinit StandIn gStandIns[16]{};  // one per concurrent call; further calls run without one

// Maps room for twice `bytes`. The rooms that were outgrown are thus smaller in total than the one
// in use.
bool grow(StandIn& standIn, std::size_t bytes) noexcept {
  const long room = core::rawSyscall(SYS_mmap,
                                     0,
                                     static_cast<long>(2 * bytes),
                                     PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS,
                                     -1,
                                     0);
  if (room < 0 && room >= -4095)
    return false;
  standIn.environment.store(reinterpret_cast<char**>(room), std::memory_order_relaxed);
  standIn.bytes = 2 * bytes;
  return true;
}

// Returns one that no call needs, with room for `bytes`; nullptr if there is none.
StandIn* takeStandIn(std::size_t bytes) noexcept {
  for (StandIn& standIn : gStandIns) {
    std::uint32_t nobody = 0;
    if (!standIn.calls.compare_exchange_strong(nobody, 1, std::memory_order_acquire))
      continue;
    if (standIn.bytes >= bytes || grow(standIn, bytes))
      return &standIn;
    standIn.calls.fetch_sub(1, std::memory_order_release);
  }
  return nullptr;
}

// Returns the one with which another thread's call has replaced `environ`, and keeps it unchanged;
// nullptr if there is none.
StandIn* shareStandIn() noexcept {
  for (StandIn& standIn : gStandIns) {
    std::uint32_t calls = 0;
    const auto oneMore = [&](std::uint32_t before) {
      const bool isIt =
          before != 0 && standIn.environment.load(std::memory_order_relaxed) == environ;
      return isIt ? before + 1 : before;
    };
    if (core::exchangeWith(standIn.calls, calls, oneMore))
      return &standIn;
  }
  return nullptr;
}

// If the host changes its environment meanwhile, libc copies the entries to its own memory and sets
// `environ` to that. `environ` then points into the stand-in, which is abandoned.
void putBack(StandIn& standIn, char** before) noexcept {
  if (environ == standIn.environment.load(std::memory_order_relaxed)) {
    environ = before;
    return;
  }
  bool changed = environ != before;
  for (const StandIn& other : gStandIns)
    changed = changed && environ != other.environment.load(std::memory_order_relaxed);
  if (!changed)
    return;
  standIn.environment.store(nullptr, std::memory_order_relaxed);
  standIn.bytes = 0;
}

// For libc's calls that pass `environ` on themselves: if the program has cleared it, the complete
// environment replaces it for the call.
template <typename Call>
auto withCompleteEnviron(Call call) {
  char** before = environ;
  const bool complete = isComplete(before, ownPreload());
  StandIn* standIn = complete ? shareStandIn() : takeStandIn(environmentBytes(before));
  if (standIn != nullptr && !complete)
    environ = buildEnvironment(
        before, ownPreload(), standIn->environment.load(std::memory_order_relaxed));
  const auto result = call();
  if (standIn != nullptr && !complete)
    putBack(*standIn, before);
  if (standIn != nullptr)
    standIn->calls.fetch_sub(1, std::memory_order_release);
  return result;
}

}  // namespace
}  // namespace sonde::preload

using namespace sonde::preload;

SONDE_EXPORT int posix_spawn(pid_t* pid,
                             const char* path,
                             const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes,
                             char* const* arguments,
                             char* const* environment) {
  if (!carriesTo(path, environment))
    return gSpawn()(pid, path, actions, attributes, arguments, environment);
  return run(gSpawn(), {pid, path, actions, attributes, arguments, environment}, path);
}

SONDE_EXPORT int posix_spawnp(pid_t* pid,
                              const char* file,
                              const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes,
                              char* const* arguments,
                              char* const* environment) {
  if (!carriesTo(file, environment))
    return gSpawnInPath()(pid, file, actions, attributes, arguments, environment);
  return runInPath({pid, file, actions, attributes, arguments, environment});
}

SONDE_EXPORT int system(const char* command) {
  if (command == nullptr || !carriesEnvironment())
    return gSystem()(command);
  return withCompleteEnviron([&] { return gSystem()(command); });
}

SONDE_EXPORT FILE* popen(const char* command, const char* mode) {
  if (!carriesEnvironment())
    return gPopen()(command, mode);
  return withCompleteEnviron([&] { return gPopen()(command, mode); });
}
