/* Becomes a daemon through libc's daemon(), closes every descriptor, and writes a word to the given
 * file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count != 2)
    return 2;
  int ready[2];
  if (pipe(ready) != 0)
    return 1;
  const pid_t child = fork();
  if (child == 0) {
    if (daemon(1, 1) != 0)
      _exit(1);
    const int keep = fcntl(ready[1], F_DUPFD_CLOEXEC, 100);
    for (int fd = 0; fd < 64; ++fd)
      close(fd);
    const int file = open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    /* Recorded before the parent gets the second byte. */
    const int heard = write(keep, ".", 1) == 1;
    const int good = heard && file == 0 && write(file, "daemon", 6) == 6 && close(file) == 0;
    _exit(write(keep, good ? "+" : "-", 1) == 1 ? 0 : 1);
  }
  waitpid(child, NULL, 0);
  close(ready[1]);
  char sign = '?';
  while (read(ready[0], &sign, 1) == 1 && sign == '.')
    ;
  printf("%c\n", sign);
  return 0;
}
