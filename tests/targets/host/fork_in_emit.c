/* A signal handler forks again and again, in the middle of annotations too. Each child annotates
 * once in the handler, sleeps until its parent is far ahead, returns from the handler, and
 * annotates a little more. Prints how many annotations the parent made. */
#define _GNU_SOURCE
#include "plugins/api/sonde.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20, AFTER = 10, EVERY_US = 1000 };

static volatile sig_atomic_t made;
static volatile sig_atomic_t child;

static void on_signal(int number) {
  (void)number;
  if (made == CHILDREN || child)
    return;
  ++made;
  if (fork() != 0)
    return;
  child = 1;
  sonde_mark("in the handler");
  usleep(5 * EVERY_US);
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, EVERY_US}, {0, EVERY_US}};
  long count = 0;
  if (sigaction(SIGALRM, &action, NULL) != 0)
    return 1;
  sonde_mark("in the handler"); /* so that the handlers' have a name */
  setitimer(ITIMER_REAL, &often, NULL);
  for (; made < CHILDREN && !child; ++count)
    sonde_end(sonde_begin(SONDE_OPERATION, "operation"));
  if (child) {
    for (int turn = 0; turn < AFTER; ++turn)
      sonde_mark("afterwards");
    return 0;
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  int failed = 0;
  int status = 0;
  while (wait(&status) > 0)
    failed += status != 0;
  printf("%ld\n", count);
  return failed;
}
