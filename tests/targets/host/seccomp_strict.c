/* Moves bytes and annotates in seccomp's strict mode, where every system call but read, write and
 * exit would end the program. */
#include "plugins/api/sonde.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMoreThanASlot = 10000 };

int main(void) {
  int ends[2];
  char byte = 0;
  if (pipe(ends) != 0)
    return 1;
  const sonde_scope open = SONDE_BEGIN("open");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
    return 77;
  int good = write(1, "alive\n", 6) == 6 && write(ends[1], "x", 1) == 1;
  good = good && read(ends[0], &byte, 1) == 1;
  sonde_end(open);
  for (int at = 0; at < kMoreThanASlot; ++at)
    sonde_end(sonde_begin(SONDE_OPERATION, "unrecorded"));
  syscall(SYS_exit, good ? 0 : 1);
}
