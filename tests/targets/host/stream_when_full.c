/* Creates and uses a pipe while the spool is full, and uses it again when there is room. */
#define _GNU_SOURCE
#include "tests/targets/host/full_spool.h"

#include <unistd.h>

static int move(const int* ends, size_t bytes) {
  char word[8] = "";
  for (int turn = 0; turn < 10; ++turn) {
    if (write(ends[1], word, bytes) != (ssize_t)bytes ||
        read(ends[0], word, bytes) != (ssize_t)bytes)
      return 1;
  }
  return 0;
}

int main(void) {
  int ends[2];
  return fill_spool() || pipe(ends) != 0 || move(ends, 2) || lift_limit() || move(ends, 3);
}
