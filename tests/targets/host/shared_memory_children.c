/* Children that run in their parent's memory, by vfork and by a similar clone that no wrapper sees.
 * Each replaces the parent's descriptors with a file of its own, reads it through them and closes
 * them. The parent's descriptors, and their records, must be unaffected. The work with a child and
 * after it is in the scope `recorded`. FILE has another name, FILE.moved, before there is a child.
 */
#define _GNU_SOURCE
#include "plugins/api/sonde.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* gOther;
static int gFile[2];   /* that the parent has read; the child closes the first */
static int gKnown[2];  /* a pipe that it has written to */
static int gUnseen[2]; /* a pipe that it has not used yet, made past all wrappers */

static void check(int holds, const char* what) {
  if (!holds) {
    perror(what);
    exit(1);
  }
}

static int child(void* unused) {
  char bytes[4];
  const int other = open(gOther, O_RDONLY);
  if (read(other, bytes, 1) != 1 || dup2(other, gKnown[1]) < 0 || dup2(other, gFile[0]) < 0 ||
      dup2(other, gFile[1]) < 0 || dup2(other, gUnseen[0]) < 0)
    return 1;
  if (read(gFile[0], bytes, 2) != 2 || read(gFile[1], bytes, 2) != 2 ||
      read(gUnseen[0], bytes, 1) != 1)
    return 2;
  (void)unused;
  return close(gKnown[0]) + close(gKnown[1]) + close(gFile[0]) + close(gUnseen[0]) + close(other);
}

static void parent(const char* data, int byClone) {
  static char stack[1 << 16];
  char moved[4096];
  char bytes[16];
  int status = 1;
  for (int at = 0; at < 2; ++at) {
    gFile[at] = open(data, O_RDONLY);
    check(read(gFile[at], bytes, 1) == 1, "read");
  }
  check(snprintf(moved, sizeof moved, "%s.moved", data) > 0 && rename(data, moved) == 0, "rename");
  close(dup(gFile[0])); /* whether this thread is such a child has been asked before there is one */
  check(pipe(gKnown) == 0 && write(gKnown[1], "first ", 6) == 6, "pipe");
  check(syscall(SYS_pipe2, gUnseen, 0) == 0, "pipe2");
  const sonde_scope recorded = sonde_begin(SONDE_OPERATION, "recorded");
  const pid_t pid = byClone
                        ? clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL)
                        : vfork();
  if (pid == 0)
    _exit(child(NULL));
  check(waitpid(pid, &status, 0) == pid && status == 0, "child");
  check(read(gFile[0], bytes, 3) == 3 && read(gFile[1], bytes, 5) == 5, "read");
  check(write(gKnown[1], "last", 4) == 4 && read(gKnown[0], bytes, sizeof bytes) == 10, "pipe");
  check(write(gUnseen[1], "u", 1) == 1 && read(gUnseen[0], bytes, sizeof bytes) == 1, "unseen");
  sonde_end(recorded);
  printf("%d\n", status);
  for (int end = 0; end < 2; ++end) {
    close(gFile[end]);
    close(gKnown[end]);
    close(gUnseen[end]);
  }
}

int main(int count, char** arguments) {
  if (count != 4) {
    fputs("usage: shared_memory_children vfork|clone FILE OTHER\n", stderr);
    return 2;
  }
  gOther = arguments[3];
  parent(arguments[2], strcmp(arguments[1], "clone") == 0);
  return 0;
}
