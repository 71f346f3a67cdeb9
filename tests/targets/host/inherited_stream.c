/* A TCP connection that is used before and after an exec, by the same process. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[200];

int main(int count, char** words) {
  if (count == 2)
    return write(atoi(words[1]), text, 50) == 50 ? 0 : 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 1) != 0)
    return 1;
  getsockname(listener, (struct sockaddr*)&address, &length);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client, (struct sockaddr*)&address, sizeof address) != 0)
    return 1;
  const int server = accept(listener, NULL, NULL);
  if (write(client, text, 100) != 100)
    return 1;
  const pid_t child = fork();
  if (child == 0) {
    char number[16];
    snprintf(number, sizeof number, "%d", client);
    execl(words[0], words[0], number, (char*)NULL);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  close(client);
  size_t sum = 0;
  char buffer[200];
  for (ssize_t got = 0; (got = read(server, buffer, sizeof buffer)) > 0;)
    sum += (size_t)got;
  printf("%d %zu\n", status, sum);
  return 0;
}
