// What few programs do with MPI: mpi_rare PART.
#define _GNU_SOURCE
#include "mpi_parts.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static int gSearches;  // for the object that an address is in

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info*, size_t, void*), void* data) {
  int (*real)(int (*)(struct dl_phdr_info*, size_t, void*), void*) = dlsym(RTLD_NEXT, "dl_iterate_phdr");
  ++gSearches;
  return real(visit, data);
}

// Two copies of a communicator under way at a time, which ranks wait for in different orders.
static void copies(void) {
  static char data[1000];
  const int other = gRank ^ 1;
  for (int round = 0; round < 10; ++round) {
    MPI_Comm copy[2];
    MPI_Request requests[2];
    for (int at = 0; at < 2; ++at)
      MPI_Comm_idup(MPI_COMM_WORLD, &copy[at], &requests[at]);
    for (int at = 0; at < 2; ++at)
      MPI_Wait(&requests[(gRank + at) % 2], MPI_STATUS_IGNORE);
    for (int at = 0; at < 2; ++at)
      MPI_Sendrecv(data, 100 * at + round + 1, MPI_CHAR, other, 1, data + 500, 500, MPI_CHAR, other, 1, copy[at], MPI_STATUS_IGNORE);
    for (int at = 0; at < 2; ++at)
      MPI_Comm_free(&copy[at]);
  }
}

// An element of 6 GiB. One rank.
static void huge(void) {
  MPI_Datatype part, whole;
  char none;
  MPI_Type_contiguous(1 << 30, MPI_CHAR, &part);
  MPI_Type_contiguous(6, part, &whole);
  MPI_Type_commit(&whole);
  MPI_Bcast(&none, 1, whole, 0, MPI_COMM_SELF);
  MPI_Type_free(&whole);
  MPI_Type_free(&part);
}

// Calls from pages of code that are of no object, as a compiler makes them while the program runs.
// Who calls is looked up once a page. One rank.
static void compiled(void) {
#if defined(__x86_64__)
  enum { kPages = 40, kPageBytes = 4096, kCalls = 50 };
  static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  int (*const barrier)(MPI_Comm) = MPI_Barrier;
  char* const pages = mmap(NULL, kPages * kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(pages != MAP_FAILED, "memory for code");
  MPI_Barrier(MPI_COMM_SELF);
  const int before = gSearches;
  for (int page = 0; page < kPages; ++page) {
    memcpy(pages + page * kPageBytes, code, sizeof code);
    memcpy(pages + page * kPageBytes + 6, &barrier, sizeof barrier);
    int (*call)(MPI_Comm);
    void* const at = pages + page * kPageBytes;
    memcpy(&call, &at, sizeof call);
    for (int time = 0; time < kCalls; ++time)
      call(MPI_COMM_SELF);
  }
  printf("%d searches\n", gSearches - before);
#endif
}

static const struct Part kParts[] = {{"copies", copies}, {"huge", huge}, {"compiled", compiled}};

int main(int argc, char** argv) {
  return runPart(argc, argv, kParts, sizeof kParts / sizeof kParts[0]);
}
