/* Its children leave in every possible way, each after a write that is recorded; then it ends with
 * status 2. The expected statuses of the children are _exit 3, _Exit 4 and exit 5. The last child
 * is killed and must have no status; only a child of its vfork calls _exit(7). */
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
