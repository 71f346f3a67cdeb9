/* A signal handler that writes to a socket again and again interrupts a loop that writes to the
 * same one and to pipes of its own. In the end all bytes have arrived. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int ends[2];
static volatile sig_atomic_t handled;

static void onSignal(int number) {
  (void)number;
  const int before = errno;
  if (write(ends[0], "!", 1) == 1)
    ++handled;
  errno = before;
}

static size_t drain(void) {
  char buffer[4096];
  size_t sum = 0;
  for (;;) {
    const ssize_t got = recv(ends[1], buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0)
      sum += (size_t)got;
    else if (errno != EINTR)
      return sum;
  }
}

int main(void) {
  struct sigaction action = {.sa_handler = onSignal};
  const struct itimerval often = {{0, 200}, {0, 200}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || sigaction(SIGALRM, &action, NULL) != 0)
    return 1;
  setitimer(ITIMER_REAL, &often, NULL);
  size_t sent = 0;
  size_t received = 0;
  for (int turn = 0; turn < 30000; ++turn) {
    int more[2];
    char byte = 'x';
    if (turn % 100 == 0 &&
        (pipe(more) != 0 || write(more[1], &byte, 1) != 1 || read(more[0], &byte, 1) < 0 ||
         close(more[0]) != 0 || close(more[1]) != 0))
      return 1;
    if (write(ends[0], &byte, 1) == 1)
      ++sent;
    if (turn % 50 == 0)
      received += drain();
  }
  setitimer(ITIMER_REAL, &never, NULL);
  received += drain();
  printf("%s %d\n",
         received == sent + (size_t)handled ? "all arrived" : "some are missing",
         handled > 0);
  return 0;
}
