/* Runs many commands in an environment that it has cleared, and that it sometimes changes; prints
 * whether that used more and more memory. */
#include <stdio.h>
#include <stdlib.h>

enum { FEW = 2, MANY = 60, SLACK = 30 };

/* Pages of address space; 0: unknown. */
static long pages(void) {
  long size = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &size) != 1)
    return 0;
  fclose(file);
  return size;
}

static int run(int times) {
  char text[16];
  for (int turn = 0; turn < times; ++turn) {
    snprintf(text, sizeof text, "%d", turn / 10);
    if (setenv("TURN", text, 1) != 0 || system(":") != 0)
      return 1;
  }
  return 0;
}

int main(void) {
  clearenv();
  if (run(FEW) != 0)
    return 1;
  const long before = pages();
  if (run(MANY) != 0)
    return 1;
  puts(pages() < before + SLACK ? "as before" : "more");
  return 0;
}
