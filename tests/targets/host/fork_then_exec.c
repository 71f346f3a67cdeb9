/* Forks; the child becomes this program again with other arguments, through each member of the exec
 * family in turn. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void become(const char* self, const char* how) {
  char* words[] = {(char*)self, (char*)"say", (char*)how, NULL};
  char* nothing[] = {NULL};
  if (strcmp(how, "execve") == 0)
    execve(self, words, nothing);
  else if (strcmp(how, "execv") == 0)
    execv(self, words);
  else if (strcmp(how, "execvp") == 0)
    execvp(self, words);
  else if (strcmp(how, "execvpe") == 0)
    execvpe(self, words, nothing);
  else if (strcmp(how, "execl") == 0)
    execl(self, self, "say", how, (char*)NULL);
  else if (strcmp(how, "execle") == 0)
    execle(self, self, "say", how, (char*)NULL, nothing);
  else if (strcmp(how, "execlp") == 0)
    execlp(self, self, "say", how, (char*)NULL);
  else if (strcmp(how, "fexecve") == 0)
    fexecve(open(self, O_RDONLY | O_CLOEXEC), words, nothing);
  _exit(1);
}

int main(int count, char** words) {
  static const char* const ways[] = {
      "execve", "execv", "execvp", "execvpe", "execl", "execle", "execlp", "fexecve"};
  if (count == 3 && strcmp(words[1], "say") == 0) {
    char line[64];
    const int length = snprintf(line, sizeof line, "by %s\n", words[2]);
    return write(STDOUT_FILENO, line, (size_t)length) == length ? 0 : 1;
  }
  for (size_t at = 0; at < sizeof ways / sizeof ways[0]; ++at) {
    const pid_t child = fork();
    if (child == 0)
      become(words[0], ways[at]);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0)
      return 1;
  }
  return 0;
}
