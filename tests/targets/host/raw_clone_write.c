/* A child of the clone system call, which no wrapper of fork sees, writes to an inherited pipe and
 * to one of its own, and closes the inherited descriptors; then a child of _Fork does the same.
 * Both leave by _exit. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(int to, const char* text) {
  int own[2];
  char back[16];
  if (pipe(own) != 0 || write(own[1], "own", 3) != 3 || read(own[0], back, sizeof back) != 3)
    return 1;
  const size_t length = strlen(text);
  if (write(to, text, length) != (ssize_t)length)
    return 1;
  return close(to);
}

int main(void) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "parent ", 7) != 7)
    return 1;
  for (int turn = 0; turn < 2; ++turn) {
    const pid_t pid = turn == 0 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();
    if (pid == 0)
      _exit(child(ends[1], turn == 0 ? "clone " : "_Fork "));
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0)
      return 1;
  }
  if (write(ends[1], "parent", 6) != 6)
    return 1;
  char text[64];
  const ssize_t length = read(ends[0], text, sizeof text);
  printf("%.*s\n", (int)length, text);
  return 0;
}
