// New program images, in this process and in children. The program is this one, which continues as
// `host_fuzz resume`.
#include "tests/host/calls.h"
#include "tests/host/children.h"
#include "tests/host/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host {
namespace {

struct Words {
  char area[12];
  char seed[24];
  char depth[12];
  char* words[8];
  const char* name;
  char* const* at;
};

char* text(const char* literal) noexcept {
  return const_cast<char*>(literal);
}

// The arguments of the next image; some are invalid pointers.
void chooseWords(Context& c, Words& out) noexcept {
  snprintf(out.area, sizeof out.area, "%d", takeArea(*c.log));
  snprintf(out.seed, sizeof out.seed, "%llu", static_cast<unsigned long long>(c.next() >> 1));
  snprintf(out.depth, sizeof out.depth, "%d", c.depth + 1);
  char* const words[] = {
      text("host_fuzz"), text("resume"), text(c.logPath), out.area, out.seed, out.depth, nullptr};
  memcpy(out.words, words, sizeof words);
  if (c.choose(8, 90) == 1)
    out.words[2] = reinterpret_cast<char*>(1);
  out.at = c.pointer(out.words[0], out.name);
}

struct Environment {
  char* words[3];
  const char* name;
  char* const* at;
};

void chooseEnvironment(Context& c, Environment& out) noexcept {
  auto* const one = reinterpret_cast<char*>(1);
  const char* const names[] = {
      "environ", "null", "own", "empty word", "bad word", "bad first", "one", "nowhere"};
  const int which = c.choose(8, 60);
  out = {{text("HOST=1"), nullptr, nullptr}, names[which], out.words};
  if (which == 0)
    out.at = environ;
  else if (which == 1)
    out.at = nullptr;
  else if (which == 3 || which == 4)
    out.words[1] = which == 3 ? text("") : one;
  else if (which == 5)
    out.words[0] = one;
  else if (which >= 6)
    out.at = reinterpret_cast<char* const*>(which == 6 ? 1 : 0xdead'0000'0000'0000);
}

Path chooseProgram(Context& c) noexcept {
  return c.path({c.program, "itself"});
}

void callExecve(Context& c) {
  const Path path = chooseProgram(c);
  Words words;
  Environment environment;
  chooseWords(c, words);
  chooseEnvironment(c, environment);
  c.callUnguarded("execve", "%s, %s, %s", path.name, words.name, environment.name);
  c.result(execve(path.at, words.at, environment.at));
}

void callExecv(Context& c) {
  const Path path = chooseProgram(c);
  Words words;
  chooseWords(c, words);
  c.callUnguarded("execv", "%s, %s", path.name, words.name);
  c.result(execv(path.at, words.at));
}

// libc itself reads the name that it looks for.
Path chooseFile(Context& c) noexcept {
  constexpr const char* kNames[] = {"itself", "no-such-program-here", "data", "", "./folder"};
  const char* const name = c.oneOf(kNames);
  return {name == kNames[0] ? c.program : name, name};
}

void callExecvp(Context& c) {
  const Path path = chooseFile(c);
  Words words;
  chooseWords(c, words);
  c.callUnguarded("execvp", "%s, %s", path.name, words.name);
  c.result(execvp(path.at, words.at));
}

void callExecvpe(Context& c) {
  const Path path = chooseFile(c);
  Words words;
  Environment environment;
  chooseWords(c, words);
  chooseEnvironment(c, environment);
  c.callUnguarded("execvpe", "%s, %s, %s", path.name, words.name, environment.name);
  c.result(execvpe(path.at, words.at, environment.at));
}

void callExecl(Context& c) {
  const Path path = chooseProgram(c);
  Words words;
  chooseWords(c, words);
  char** const w = words.words;
  c.callUnguarded("execl", "%s", path.name);
  c.result(execl(path.at, w[0], w[1], w[2], w[3], w[4], w[5], nullptr));
}

void callExecle(Context& c) {
  const Path path = chooseProgram(c);
  Words words;
  Environment environment;
  chooseWords(c, words);
  chooseEnvironment(c, environment);
  char** const w = words.words;
  c.callUnguarded("execle", "%s, %s", path.name, environment.name);
  c.result(execle(path.at, w[0], w[1], w[2], w[3], w[4], w[5], nullptr, environment.at));
}

void callExeclp(Context& c) {
  const Path path = chooseFile(c);
  Words words;
  chooseWords(c, words);
  char** const w = words.words;
  c.callUnguarded("execlp", "%s", path.name);
  c.result(execlp(path.at, w[0], w[1], w[2], w[3], w[4], w[5], nullptr));
}

void callFexecve(Context& c) {
  const bool good = c.choose(2, 60) == 0;
  const int fd = good ? 70 : c.fd(Kind::File);
  if (good) {
    const long opened = raw(SYS_openat, AT_FDCWD, c.program, O_RDONLY);
    raw(SYS_dup3, opened, 70, O_CLOEXEC);
    raw(SYS_close, opened);
  }
  Words words;
  Environment environment;
  chooseWords(c, words);
  chooseEnvironment(c, environment);
  c.callUnguarded("fexecve", "%d, %s, %s", fd, words.name, environment.name);
  c.result(fexecve(fd, words.at, environment.at));
}

void callExecveat(Context& c) {
  const int folder = c.choose(2, 70) == 0 ? AT_FDCWD : c.fd(Kind::Folder);
  const Path path = chooseProgram(c);
  Words words;
  Environment environment;
  chooseWords(c, words);
  chooseEnvironment(c, environment);
  const int flags = c.oneOf<int>({0, AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW, -1});
  c.callUnguarded(
      "execveat", "%d, %s, %s, %s, %#x", folder, path.name, words.name, environment.name, flags);
  c.result(execveat(folder, path.at, words.at, environment.at, flags));
}

template <auto kFunction>
void callSpawn(Context& c, const char* name, bool inPath) {
  const Path path = inPath ? chooseFile(c) : chooseProgram(c);
  Words words;
  Environment environment;
  chooseWords(c, words);
  words.at = words.words;  // libc counts them by itself
  chooseEnvironment(c, environment);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const int action = c.choose(5);
  if (action == 1)
    posix_spawn_file_actions_adddup2(&actions, c.fd(Kind::File), 80);
  else if (action == 2)
    posix_spawn_file_actions_addclose(&actions, 20);
  else if (action == 3)
    posix_spawn_file_actions_addopen(&actions, 81, "none/such", O_RDONLY, 0);
  else if (action == 4)
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  const short flags = c.oneOf<short>({0, POSIX_SPAWN_SETSIGMASK, POSIX_SPAWN_SETPGROUP, 0x80});
  posix_spawnattr_setflags(&attributes, flags);
  const bool hasPid = c.choose(3, 80) == 0;
  pid_t child = 0;
  c.callUnguarded(
      name, "%s, %s, %s, %d, %d", path.name, words.name, environment.name, action, flags);
  const int result = kFunction(hasPid ? &child : nullptr,
                               path.at,
                               c.choose(3, 60) == 1 ? nullptr : &actions,
                               &attributes,
                               words.at,
                               environment.at);
  c.result(result);
  if (result == 0)
    awaitChild(c, hasPid ? child : -1);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
}

void callPosixSpawn(Context& c) {
  callSpawn<posix_spawn>(c, "posix_spawn", false);
}
void callPosixSpawnp(Context& c) {
  callSpawn<posix_spawnp>(c, "posix_spawnp", true);
}

void callSystem(Context& c) {
  constexpr const char* kCommands[] = {"exit 3",
                                       "true",
                                       "echo hello > said",
                                       "kill -9 $$",
                                       "no-such-program-here 2>/dev/null",
                                       "echo a | cat > /dev/null; exit 4",
                                       "exec 9<&-; cat < data > copied",
                                       "",
                                       nullptr};
  const char* const command = c.oneOf(kCommands, 25);
  c.callUnguarded("system", "%s", command == nullptr ? "null" : command);
  c.result(system(command));
}

void callPopen(Context& c) {
  constexpr const char* kCommands[] = {"echo hello",
                                       "exit 5",
                                       "cat > /dev/null",
                                       "no-such-program-here 2>/dev/null",
                                       "echo a | cat"};
  constexpr const char* kModes[] = {"r", "w", "re", "x", "rw", ""};
  const char* const command = c.oneOf(kCommands, 40);
  const char* const mode = c.oneOf(kModes, 50);
  c.callUnguarded("popen", "%s, %s", command, mode);
  FILE* const stream = popen(command, mode);
  c.resultPointer(stream, "stream");
  if (stream == nullptr)
    return;
  if (mode[0] == 'r') {
    char said[64] = {};
    c.callUnguarded("fread", "%s", "said");
    c.resultRead(static_cast<long>(fread(said, 1, sizeof said, stream)), {said, "", sizeof said});
  }
  c.callUnguarded("pclose", "%s", "stream");
  c.result(pclose(stream));
}

constexpr NamedCall kCalls[] = {{"execve", callExecve, kInVfork | kTableOnly},
                                {"execv", callExecv, kInVfork | kTableOnly},
                                {"execvp", callExecvp, kInVfork | kTableOnly},
                                {"execvpe", callExecvpe, kInVfork | kTableOnly},
                                {"execl", callExecl, kInVfork | kTableOnly},
                                {"execle", callExecle, kInVfork | kTableOnly},
                                {"execlp", callExeclp, kInVfork | kTableOnly},
                                {"fexecve", callFexecve, kInVfork | kTableOnly},
                                {"execveat", callExecveat, kInVfork | kTableOnly},
                                {"posix_spawn", callPosixSpawn, kAlone},
                                {"posix_spawnp", callPosixSpawnp, kAlone},
                                {"system", callSystem, kAlone},
                                {"popen", callPopen, kAlone},
                                {"pclose", callPopen, kAlone}};

}  // namespace

CallList execCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
