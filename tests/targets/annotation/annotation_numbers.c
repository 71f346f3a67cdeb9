/* Annotates with increasing numbers, as names of operations, until FILE.stop exists; writes its
 * progress to FILE.
 *
 *   annotation_numbers FILE PER_MS ENDING [fork]
 *
 * FILE has two uint64_t: the next number, and the pid of the process that counts. PER_MS: about
 * how many numbers per millisecond. ENDING: "exit", or "segv". With "fork" a child
 * counts, and its parent waits for it. Everything is inside an operation `outer`, and each number
 * is an argument `n` of an operation `count`. */
#include "plugins/api/sonde.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void count(volatile uint64_t* page, const char* stop, long perMs) {
  const sonde_api_table* api = sonde_table();
  const uint32_t key = api == NULL ? 0 : api->intern("n", 1);
  const sonde_scope outer = sonde_begin(SONDE_OPERATION, "outer");
  uint64_t n;
  __atomic_store_n(&page[1], (uint64_t)getpid(), __ATOMIC_RELEASE);
  for (n = 0; n % (uint64_t)perMs != 0 || access(stop, F_OK) != 0; ++n) {
    const sonde_scope scope = sonde_begin(SONDE_OPERATION, "count");
    if (api != NULL)
      api->argument_int(scope, key, (int64_t)n);
    sonde_end(scope);
    __atomic_store_n(&page[0], n + 1, __ATOMIC_RELEASE);
    if (n % (uint64_t)perMs == (uint64_t)perMs - 1)
      usleep(1000);
  }
  sonde_end(outer);
}

int main(int argc, char** argv) {
  char stop[4096];
  int file;
  volatile uint64_t* page;
  if (argc < 4 || atol(argv[2]) < 1)
    return 2;
  snprintf(stop, sizeof stop, "%s.stop", argv[1]);
  file = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0)
    return 2;
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED)
    return 2;
  if (argc > 4 && strcmp(argv[4], "fork") == 0) {
    const pid_t child = fork();
    if (child != 0) {
      waitpid(child, NULL, 0);
      return 0;
    }
  }
  count(page, stop, atol(argv[2]));
  if (strcmp(argv[3], "segv") == 0)
    raise(SIGSEGV);
  return 0;
}
