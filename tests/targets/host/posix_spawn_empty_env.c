/* posix_spawn and posix_spawnp with an empty environment, and with none at all. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count == 2)
    return write(STDOUT_FILENO, "child\n", 6) == 6 ? 0 : 1;
  char* arguments[] = {words[0], (char*)"child", NULL};
  char* nothing[] = {NULL};
  for (int turn = 0; turn < 4; ++turn) {
    pid_t child = 0;
    const int result = (turn % 2 == 0 ? posix_spawn : posix_spawnp)(
        &child, words[0], NULL, NULL, arguments, turn < 2 ? nothing : NULL);
    int status = 0;
    if (result != 0 || waitpid(child, &status, 0) != child || status != 0)
      return 1;
  }
  pid_t none = 0;
  printf("missing: %s\n",
         strerror(posix_spawn(&none, "/does/not/exist", NULL, NULL, arguments, nothing)));
  return 0;
}
