// Runs random sequences of libc calls, each in a separate process, and logs the result of each
// call. Also runs a table of each call with each kind of invalid argument. Contains nothing of
// Sonde: the output is the same with and without it.
//
//   host_fuzz run FOLDER SEED COUNT [STEPS]  sequences SEED … SEED + COUNT - 1, until one hangs
//
//   host_fuzz table FOLDER [NAME]            the table, or the rows of one function
//
//   host_fuzz names                          the functions that have rows
//
//   host_fuzz resume LOG AREA SEED DEPTH     the part of an image that a sequence starts

#include "tests/host/calls.h"
#include "tests/host/children.h"
#include "tests/host/raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace host {
namespace {

constexpr int kPatienceS = 8;  // what hangs is killed after that
constexpr int kSteps = 24;
char gProgram[PATH_MAX];
char gLogPath[PATH_MAX];

void onGuard(int) {}

// Removes everything that the previous sequence, or its threads' folders, left.
void emptyFolder(const char* path, int depth) noexcept {
  chmod(path, 0700);
  DIR* const folder = opendir(path);
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || unlink(name) == 0)
      continue;
    if (depth > 0)
      emptyFolder(name, depth - 1);
    rmdir(name);
  }
  if (folder != nullptr)
    closedir(folder);
}

void begin(Context& c, Log& log, int area) noexcept {
  c.log = &log;
  c.area = &log.areas[area];
  c.logPath = gLogPath;
  c.program = gProgram;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = onGuard;
  raw(SYS_prctl, 1 /* PR_SET_PDEATHSIG */, SIGKILL);
  sigaction(SIGALRM, &action, nullptr);
  makeMemory();
  c.startGuard();
}

// The same descriptors in each run, whatever the starting program left open.
void closeAll() noexcept {
  const long null = raw(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd)
    raw(SYS_dup3, null, fd, 0);
  raw(SYS_close_range, 3, ~0U, 0);
}

// If the child hangs, prints the call that has not returned.
void printLog(const Log& log, bool hangs) noexcept {
  for (std::uint32_t at = 0; at <= log.nextArea; ++at) {
    const Area& area = log.areas[at];
    if (area.used == 0)
      continue;
    printf("-- %u\n%.*s", at, static_cast<int>(area.used), area.text);
    if (area.text[area.used - 1] == '\n')
      continue;
    const char* line = area.text + area.used;
    while (line > area.text && line[-1] != '\n')
      --line;
    printf(hangs ? "\nHANG in %.*s\n" : "\nended in %.*s\n",
           static_cast<int>(area.text + area.used - line),
           line);
  }
}

// Returns how the process ended; -1: it was killed because it did not end.
int await(pid_t child) noexcept {
  pollfd ended = {static_cast<int>(raw(SYS_pidfd_open, child, 0)), POLLIN, 0};
  const timespec patience = {kPatienceS, 0};
  const bool hangs = raw(SYS_ppoll, &ended, 1, &patience, 0, 8) == 0;
  raw(SYS_close, ended.fd);
  raw(SYS_kill, -child, SIGKILL);  // also children that outlive it: they would disturb the next one
  int status = 0;
  raw(SYS_wait4, child, &status, 0, 0);
  return hangs ? -1 : status;
}

template <typename Body>
int inProcess(Log& log, Body body) noexcept {
  for (std::uint32_t at = 0; at <= log.nextArea; ++at)
    log.areas[at].used = 0;
  // Shared by all threads and processes that got no area of their own.
  log.areas[kAreas - 1].used = 0;
  log.nextArea = 0;
  emptyFolder(".", 3);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    closeAll();
    Context c;
    begin(c, log, 0);
    c.makePool(-1);
    body(c);
    logFinalState(c);
    leave(c);
  }
  setpgid(child, child);
  return await(child);
}

void run(Log& log, std::uint64_t first, int count, int steps) noexcept {
  for (int at = 0; at < count; ++at) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(at);
    const int status = inProcess(log, [&](Context& c) {
      c.seed(seed);
      runSequence(c, steps);
    });
    printf("== %llu\n", static_cast<unsigned long long>(seed));
    printLog(log, status == -1);
    printf("status %#x\n", static_cast<unsigned>(status));
    fflush(stdout);
    if (status == -1)
      return;  // the next ones would most likely hang too, and each takes its time
  }
}

// A row: this call, with one choice given. The number of its choices is known only after the call.
struct Choices {
  int points;
  int alternatives[32];
};

void printRow(Log& log, const NamedCall& call, int point, int value, Choices* choices) noexcept {
  const int status = inProcess(log, [&](Context& c) {
    c.giveOnly(point, value);
    call.run(c);
    // The last area, unused by the log, gets the number of its choices.
    log.areas[kAreas - 1].used = 0;
    auto* const out = reinterpret_cast<Choices*>(log.areas[kAreas - 1].text);
    out->points = c.points;
    memcpy(out->alternatives, c.alternatives, sizeof c.alternatives);
  });
  if (choices != nullptr)
    memcpy(choices, log.areas[kAreas - 1].text, sizeof *choices);
  printf("== %s %d %d\n", call.name, point, value);
  printLog(log, status == -1);
  printf("status %#x\n", static_cast<unsigned>(status));
  fflush(stdout);
}

void table(Log& log, const char* only) noexcept {
  for (int at = 0; at < callCount(); ++at) {
    const NamedCall& call = callAt(at);
    if (only != nullptr && strcmp(only, call.name) != 0)
      continue;
    Choices choices{};
    memset(log.areas[kAreas - 1].text, 0, sizeof choices);
    printRow(log, call, -1, 0, &choices);
    // A call that ends its process has not reported its number of choices.
    if (choices.points == 0) {
      choices.points = 6;
      std::fill_n(choices.alternatives, 6, 8);
    }
    for (int point = 0; point < std::min(choices.points, 32); ++point) {
      for (int value = 1; value < choices.alternatives[point]; ++value)
        printRow(log, call, point, value, nullptr);
    }
  }
}

void printNames() noexcept {
  for (int at = 0; at < callCount(); ++at)
    printf("%s\n", callAt(at).name);
}

int resume(char** arguments) noexcept {
  strcpy(gLogPath, arguments[2]);
  Log* const log = mapLog(arguments[2], false);
  if (log == nullptr)
    return 9;
  Context c;
  begin(c, *log, atoi(arguments[3]));
  c.seed(strtoull(arguments[4], nullptr, 10));
  c.depth = atoi(arguments[5]);
  c.note("resumed");
  logFinalState(c);
  c.makePool(-1);
  runSequence(c, 4);
  logFinalState(c);
  leave(c);
}

int usage() noexcept {
  fputs("usage: host_fuzz run FOLDER SEED COUNT [STEPS] | table FOLDER [NAME] | names\n", stderr);
  return 2;
}

int main(int count, char** arguments) noexcept {
  if (readlink("/proc/self/exe", gProgram, sizeof gProgram - 1) < 0)
    return 9;
  const char* const verb = count > 1 ? arguments[1] : "";
  if (strcmp(verb, "names") == 0) {
    printNames();
    return 0;
  }
  if (strcmp(verb, "resume") == 0 && count == 6)
    return resume(arguments);
  if (count < 3 || chdir(arguments[2]) != 0)
    return usage();
  (void)!getcwd(gLogPath, sizeof gLogPath - 8);
  strcat(gLogPath, ".log");
  Log* const log = mapLog(gLogPath, true);
  if (log == nullptr)
    return 9;
  if (strcmp(verb, "run") == 0 && count >= 5)
    run(*log,
        strtoull(arguments[3], nullptr, 10),
        atoi(arguments[4]),
        count > 5 ? atoi(arguments[5]) : kSteps);
  else if (strcmp(verb, "table") == 0)
    table(*log, count > 3 ? arguments[3] : nullptr);
  else
    return usage();
  return 0;
}

}  // namespace
}  // namespace host

int main(int count, char** arguments) {
  return host::main(count, arguments);
}
