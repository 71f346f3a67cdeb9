/* vfork, changes of descriptors in the child, then exec with an empty environment; and a vfork
 * whose exec fails and reports that through a pipe. The parent's descriptors, and their records,
 * must be unaffected. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(const char* program, int output, int report) {
  char* words[] = {(char*)program, (char*)"hello", NULL};
  char* nothing[] = {NULL};
  const pid_t child = vfork();
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    close(output);
    execve(program, words, nothing);
    const int error = errno;
    if (write(report, &error, sizeof error) != sizeof error)
      _exit(2);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int main(void) {
  int output[2];
  int report[2];
  if (pipe(output) != 0 || pipe2(report, O_CLOEXEC) != 0)
    return 1;
  char text[64] = "";
  int error = 0;
  if (write(output[1], "first ", 6) != 6)
    return 1;
  const int good = run("/bin/echo", output[1], report[1]);
  const int bad = run("/does/not/exist", output[1], report[1]);
  if (write(output[1], "last", 4) != 4 || read(report[0], &error, sizeof error) != sizeof error)
    return 1;
  const ssize_t length = read(output[0], text, sizeof text - 1);
  printf("%d %d %s [%.*s]\n", good, bad, strerror(error), (int)length, text);
  return 0;
}
