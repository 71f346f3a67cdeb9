/* A plain C program: forks a child that exits, prints whether the process has a C++ runtime, and
 * leaves as its argument requests: exit, _exit, or exec of true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int has_runtime(void) {
  char line[1024];
  FILE* maps = fopen("/proc/self/maps", "r");
  int found = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    found |= strstr(line, "libstdc++") != NULL;
  if (maps != NULL)
    fclose(maps);
  return found;
}

int main(int count, char** arguments) {
  const char* end = count > 1 ? arguments[1] : "exit";
  printf("runtime %d\n", has_runtime());
  fflush(stdout);
  if (fork() == 0)
    exit(3);
  wait(NULL);
  if (strcmp(end, "exec") == 0)
    execl("/bin/true", "true", (char*)NULL);
  if (strcmp(end, "_exit") == 0)
    _exit(5);
  return 5;
}
