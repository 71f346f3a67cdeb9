/* Fills the spool of this process, and gives it room again, without a recorder: through the limit
 * on file sizes, at which the library stops. */
#pragma once

#include "plugins/api/sonde.h"

#include <sys/resource.h>
#include <unistd.h>

/* Moves bytes through its own pipe, and then interns names, until there can be no room for more.
 * Returns 0 on success. */
static inline int fill_spool(void) {
  struct rlimit limit;
  int ends[2];
  char byte = 'x';
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || pipe(ends) != 0)
    return 1;
  limit.rlim_cur = 1 << 20;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
    return 1;
  for (int turn = 0; turn < 20000; ++turn) {
    if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
      return 1;
  }
  const sonde_api_table* sonde = sonde_table();
  for (int name = 0; sonde != NULL && name < 5000; ++name)
    sonde->intern((const char*)&name, sizeof name);
  return close(ends[0]) + close(ends[1]);
}

/* Gives room from now on, and waits until the library looks for it again. Returns 0 on success. */
static inline int lift_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
    return 1;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_FSIZE, &limit) + usleep(50000);
}
