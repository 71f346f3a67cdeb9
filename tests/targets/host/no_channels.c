/* Uses every kind of descriptor that is not a byte stream between two ends. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
  char text[16] = "text";
  uint64_t value = 1;
  int pair[2];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int udp = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(udp, (struct sockaddr*)&address, sizeof address) != 0)
    return 1;
  getsockname(udp, (struct sockaddr*)&address, &length);
  if (sendto(udp, text, 4, 0, (struct sockaddr*)&address, length) != 4 ||
      recv(udp, text, 16, 0) != 4)
    return 1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0 || write(pair[0], text, 4) != 4 ||
      read(pair[1], text, 16) != 4)
    return 1;
  const int event = eventfd(0, 0);
  if (write(event, &value, sizeof value) != 8 || read(event, &value, sizeof value) != 8)
    return 1;
  const int memory = memfd_create("memory", 0);
  if (write(memory, text, 4) != 4 || lseek(memory, 0, SEEK_SET) != 0 || read(memory, text, 4) != 4)
    return 1;
  const int null = open("/dev/null", O_RDWR);
  if (write(null, text, 4) != 4 || read(null, text, 4) != 0)
    return 1;
  puts("done");
  return 0;
}
