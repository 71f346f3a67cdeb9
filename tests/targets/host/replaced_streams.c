/* Makes libc close pipes, and replace them with other files, by internal calls: pclose, daemon,
 * login_tty and forkpty. Closes others by close_range and closefrom. 6 bytes at a time go through
 * the pipes, 10 through the replacements. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/close_range.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

static const char kAfter[] = "0123456789";

static void writeAfter(void) {
  _exit(write(1, kAfter, 10) == 10 ? 0 : 1);
}

static int closedByPclose(void) {
  char bytes[64];
  char name[] = "/tmp/replaced_streams.XXXXXX";
  FILE* stream = popen("echo hello", "r");
  if (stream == NULL)
    return 0;
  const int fd = fileno(stream);
  const int read6 = read(fd, bytes, sizeof bytes) == 6;
  const int ended = pclose(stream) == 0;
  const int file = mkstemp(name);
  unlink(name);
  const int good = read6 && ended && file == fd && write(file, kAfter, 10) == 10;
  close(file);
  return good;
}

static void closeByRange(int first) {
  close_range(first, first, 0);
}

/* Closes a pipe by a call that ends ranges of descriptors; then a file of libc's own, and after it
 * another pipe, has its number. */
static int closedWithOthers(void (*closeAll)(int first)) {
  char bytes[64];
  int ends[2];
  int next[2];
  char name[] = "/tmp/replaced_streams.XXXXXX";
  if (pipe(ends) != 0 || write(ends[1], "before", 6) != 6 ||
      close_range(ends[1], ends[1], CLOSE_RANGE_CLOEXEC) != 0 || write(ends[1], "cloexe", 6) != 6)
    return 0;
  closeAll(ends[1]);
  const int file = mkstemp(name);
  unlink(name);
  int good = read(ends[0], bytes, 6) == 6 && read(ends[0], bytes, 6) == 6 && file == ends[1] &&
             write(file, kAfter, 10) == 10;
  close(file);
  closeAll(ends[0]);
  good = good && pipe(next) == 0 && next[0] == ends[0] && next[1] == ends[1] &&
         write(next[1], "again!", 6) == 6 && read(next[0], bytes, 6) == 6;
  closeAll(ends[0]);
  closeAll(ends[1]);
  return good;
}

static void becomeDaemon(void) {
  if (daemon(1, 0) == 0)
    writeAfter();
}

static int slaveOf(int master) {
  return grantpt(master) == 0 && unlockpt(master) == 0 ? open(ptsname(master), O_RDWR | O_NOCTTY)
                                                       : -1;
}

static void becomeSession(void) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (login_tty(slaveOf(master)) == 0)
    writeAfter();
}

static void forkOntoTerminal(void) {
  char bytes[64];
  int master = -1;
  int status = 1;
  const pid_t child = forkpty(&master, NULL, NULL, NULL);
  if (child == 0)
    writeAfter();
  if (child > 0 && read(master, bytes, sizeof bytes) == 10 && waitpid(child, &status, 0) == child)
    _exit(status);
}

/* Runs `become` in a child whose descriptor 1 is a pipe with written bytes. Returns whether only
 * these come out of the pipe. */
static int replacedBy(void (*become)(void)) {
  char bytes[64];
  int ends[2];
  int status = 1;
  if (pipe(ends) != 0)
    return 0;
  const pid_t child = fork();
  if (child == 0) {
    if (dup2(ends[1], 1) != 1 || write(1, "before", 6) != 6)
      _exit(1);
    become();
    _exit(1);
  }
  close(ends[1]);
  const int good = read(ends[0], bytes, sizeof bytes) == 6 && read(ends[0], bytes, 1) == 0;
  close(ends[0]);
  return waitpid(child, &status, 0) == child && status == 0 && good;
}

int main(void) {
  if (!closedByPclose())
    return 1;
  if (!replacedBy(becomeDaemon))
    return 2;
  if (!replacedBy(becomeSession))
    return 3;
  if (!replacedBy(forkOntoTerminal))
    return 4;
  return closedWithOthers(closeByRange) && closedWithOthers(closefrom) ? 0 : 5;
}
