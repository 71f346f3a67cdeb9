/* Calls system and popen, first with the environment unchanged, then after clearing it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int both(void) {
  char line[64] = "";
  const int status = system("echo system; exit 3");
  FILE* from = popen("echo popen", "r");
  if (from == NULL || fgets(line, sizeof line, from) == NULL)
    return 1;
  const int end = pclose(from);
  printf("%d %d %s", WEXITSTATUS(status), end, line);
  return fflush(stdout);
}

int main(void) {
  if (both() != 0)
    return 1;
  clearenv();
  setenv("PATH", "/usr/bin:/bin", 1);
  if (both() != 0)
    return 1;
  extern char** environ;
  int left = 0;
  while (environ[left] != NULL)
    ++left;
  printf("%d variables left\n", left);
  return 0;
}
