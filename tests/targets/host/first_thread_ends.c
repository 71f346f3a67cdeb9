/* Its first thread ends long before the other one, which makes an operation a millisecond, 1,000 in
 * all (tests/e2e/run/run_children_test.py). */
#include "plugins/api/sonde.h"

#include <pthread.h>
#include <unistd.h>

static void* work(void* unused) {
  (void)unused;
  for (int at = 0; at < 1000; ++at) {
    sonde_end(sonde_begin(SONDE_OPERATION, "work"));
    usleep(1000);
  }
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  pthread_exit(NULL);
}
