/* Writes to a TCP socket before it is connected, reads from it too, and then uses it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  char buffer[8];
  signal(SIGPIPE, SIG_IGN);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 1) != 0)
    return 1;
  getsockname(listener, (struct sockaddr*)&address, &length);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const ssize_t early = write(fd, "early", 5);
  printf("%zd %zd\n", early, read(fd, buffer, sizeof buffer));
  if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0)
    return 1;
  const int peer = accept(listener, NULL, NULL);
  const ssize_t sent = write(fd, "sent", 4);
  printf("%zd %zd\n", sent, read(peer, buffer, sizeof buffer));
  return 0;
}
