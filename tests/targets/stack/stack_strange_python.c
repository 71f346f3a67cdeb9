/* Looks like an unknown version of Python (tests/e2e/threads/stack_python_test.py). */
#include <time.h>

const char* Py_GetVersion(void);
const char* Py_GetVersion(void) {
  return "3.99.1 (main)";
}

int main(void) {
  struct timespec now;
  do {
    for (volatile int i = 0; i < 10000; i = i + 1)
      ;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (now.tv_sec * 10 + now.tv_nsec / 100000000 < 4);
  return 0;
}
