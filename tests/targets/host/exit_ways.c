/* Its children leave in every way there is, each after a write that is recorded; then it ends with
 * status 2. What each child must be recorded as: _exit 3, _Exit 4, exit 5; and the last one, which
 * only a child of its vfork leaves by _exit(7), is killed and must have no status. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void vfork_then_die(void) {
  const pid_t child = vfork();
  if (child == 0)
    _exit(7);
  waitpid(child, NULL, 0);
  kill(getpid(), SIGKILL);
}

int main(void) {
  int ends[2];
  if (pipe(ends) != 0)
    return 1;
  for (int way = 0; way < 4; ++way) {
    const pid_t child = fork();
    if (child == 0) {
      if (write(ends[1], "x", 1) != 1)
        abort();
      if (way == 0)
        _exit(3);
      if (way == 1)
        _Exit(4);
      if (way == 2)
        exit(5);
      vfork_then_die();
    }
    waitpid(child, NULL, 0);
  }
  return 2;
}
