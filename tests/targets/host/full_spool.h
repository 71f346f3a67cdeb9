/* Makes the spool of this process full, and gives it room again, with no recorder about: by the
 * limit on the size of files, at which the library stops. */
#pragma once

#include "plugins/api/sonde.h"

#include <sys/resource.h>
#include <unistd.h>

/* Moves bytes through a pipe of its own, and then gives names, until there can be no room for more.
 * 0: done. */
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

/* From now on there is room; it waits until the library looks for it again. 0: done. */
static inline int lift_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
    return 1;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_FSIZE, &limit) + usleep(50000);
}
