/* Sends through a TCP connection by write, and then by the system call, bypassing libc; afterwards
 * through another connection by a FILE. The receivers read everything. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void connected(int ends[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 1) != 0)
    _exit(1);
  getsockname(listener, (struct sockaddr*)&address, &length);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(ends[0], (struct sockaddr*)&address, sizeof address) != 0)
    _exit(1);
  ends[1] = accept(listener, NULL, NULL);
  close(listener);
}

static size_t readAll(int fd) {
  char buffer[64];
  size_t sum = 0;
  for (ssize_t got = 0; (got = read(fd, buffer, sizeof buffer)) > 0;)
    sum += (size_t)got;
  close(fd);
  return sum;
}

int main(void) {
  static const char text[100] = "";
  int ends[2];
  connected(ends);
  if (write(ends[0], text, 10) != 10 || syscall(SYS_write, ends[0], text, 100) != 100)
    return 1;
  close(ends[0]);
  printf("%zu\n", readAll(ends[1]));
  connected(ends);
  FILE* stream = fdopen(ends[0], "w");
  if (fwrite(text, 1, 30, stream) != 30 || fflush(stream) != 0 || write(ends[0], text, 5) != 5)
    return 1;
  fclose(stream);
  printf("%zu\n", readAll(ends[1]));
  return 0;
}
