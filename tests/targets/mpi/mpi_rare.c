// Rare uses of MPI: mpi_rare PART.
#define _GNU_SOURCE
#include "mpi_parts.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int gSearches;  // for the object that contains an address

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info*, size_t, void*), void* data) {
  int (*real)(int (*)(struct dl_phdr_info*, size_t, void*), void*) =
      dlsym(RTLD_NEXT, "dl_iterate_phdr");
  ++gSearches;
  return real(visit, data);
}

// Two copies of a communicator in progress at a time; ranks wait for them in different orders.
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
      MPI_Sendrecv(data,
                   100 * at + round + 1,
                   MPI_CHAR,
                   other,
                   1,
                   data + 500,
                   500,
                   MPI_CHAR,
                   other,
                   1,
                   copy[at],
                   MPI_STATUS_IGNORE);
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

// Calls from pages of code outside any object, as a just-in-time compiler creates. The caller is
// looked up once per page. One rank.
static void compiled(void) {
#if defined(__x86_64__)
  enum { kPages = 40, kPageBytes = 4096, kCalls = 50 };
  static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xb8, 0,    0,    0,    0,   0,
                                       0,    0,    0,    0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  int (*const barrier)(MPI_Comm) = MPI_Barrier;
  char* const pages = mmap(NULL,
                           kPages * kPageBytes,
                           PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS,
                           -1,
                           0);
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

// MPI 4's nonblocking exchanges, between blocking calls, so that a wrong number is noticed.
static void exchanges(void) {
#if MPI_VERSION >= 4
  static char data[2000];
  const int right = (gRank + 1) % gSize;
  const int left = (gRank + gSize - 1) % gSize;
  MPI_Request requests[3];
  for (int round = 0; round < 10; ++round) {
    MPI_Isendrecv(data,
                  3 * round + 1,
                  MPI_CHAR,
                  right,
                  1,
                  data + 500,
                  500,
                  MPI_CHAR,
                  left,
                  1,
                  MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Isendrecv_replace(
        data + 1000, 3 * round + 2, MPI_CHAR, right, 1, left, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isendrecv(data,
                  5,
                  MPI_CHAR,
                  gRank == 0 ? MPI_PROC_NULL : left,
                  2,
                  data + 1500,
                  500,
                  MPI_CHAR,
                  gRank == gSize - 1 ? MPI_PROC_NULL : right,
                  2,
                  MPI_COMM_WORLD,
                  &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(data,
                 3 * round + 3,
                 MPI_CHAR,
                 right,
                 1,
                 data + 500,
                 500,
                 MPI_CHAR,
                 left,
                 1,
                 MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
#endif
}

static int gComplaints;

static void complain(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  ++gComplaints;
}

// An invalid handle must reach MPI, once per call: Sonde must not use it.
static void stale(void) {
  MPI_Errhandler handler;
  MPI_Request request;
  MPI_Comm copy, gone, later;
  int data = 0;
  MPI_Comm_create_errhandler(complain, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  gone = copy;
  MPI_Comm_free(&copy);
  MPI_Bcast(&data, 1, MPI_INT, 0, gone);
  MPI_Ibarrier(gone, &request);
  MPI_Recv(&data, 1, MPI_INT, 0, 1, gone, MPI_STATUS_IGNORE);
  MPI_Send(&data, 1, MPI_INT, 0, 1, gone);
  MPI_Irecv(&data, 1, MPI_INT, 0, 1, gone, &request);
  MPI_Sendrecv_replace(&data, 1, MPI_INT, 0, 1, 0, 1, gone, MPI_STATUS_IGNORE);
  MPI_Comm_idup(gone, &later, &request);
  check(gComplaints == 7, "a complaint for each call");
  MPI_Errhandler_free(&handler);
}

// One of several persistent requests fails; all of them continue. Two ranks.
static void failing(void) {
  int data[8] = {0};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  const int other = 1 - gRank;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (gRank == 0) {
    MPI_Send_init(data, 2, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(data, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
  } else {
    MPI_Recv_init(data, 8, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(data, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
  }
  for (int round = 0; round < 4; ++round) {
    if (gRank == 1)
      MPI_Startall(2, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    if (gRank == 0 && round == 2)
      MPI_Send(data,
               4,
               MPI_INT,
               other,
               2,
               MPI_COMM_WORLD);  // in the place of the next one, and too long
    if (gRank == 0)
      MPI_Startall(2, requests);
    const int result = MPI_Waitall(2, requests, statuses);
    check((result != MPI_SUCCESS) == (round == 2 && gRank == 1), "what came does not fit");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// A receive whose message is too long ends a wait for any of several, and others follow. Two ranks.
static void failingAny(void) {
  int data[8] = {0};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 4; ++round) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int index = 0;
    if (gRank == 1)
      MPI_Irecv(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (gRank == 0)
      MPI_Send(data, round == 1 ? 4 : 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else
      check((MPI_Waitany(2, requests, &index, &status) != MPI_SUCCESS) == (round == 1),
            "what came does not fit");
  }
}

// Receives from any source in a nonblocking exchange, whose status does not contain the source. Two
// ranks.
static void untold(void) {
#if MPI_VERSION >= 4
  static char data[200];
  const int other = 1 - gRank;
  for (int round = 0; round < 4; ++round) {
    MPI_Request request;
    if (round == 1)
      MPI_Isendrecv(data,
                    1,
                    MPI_CHAR,
                    other,
                    1,
                    data + 100,
                    100,
                    MPI_CHAR,
                    MPI_ANY_SOURCE,
                    1,
                    MPI_COMM_WORLD,
                    &request);
    if (round == 1)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
      MPI_Sendrecv(data,
                   1,
                   MPI_CHAR,
                   other,
                   1,
                   data + 100,
                   100,
                   MPI_CHAR,
                   other,
                   1,
                   MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
  }
#endif
}

// Tests more requests than fit on the stack, many times; none of them is done. Memory allocated for
// each test would be touched each time. One rank.
static void polling(void) {
  enum { kMany = 200, kPolls = 5000 };
  static int data[kMany];
  static MPI_Request requests[kMany];
  struct rusage before, after;
  for (int at = 0; at < kMany; ++at)
    MPI_Irecv(&data[at], 1, MPI_INT, 0, at, MPI_COMM_SELF, &requests[at]);
  int done = 0;
  getrusage(RUSAGE_SELF, &before);
  for (int poll = 0; poll < kPolls; ++poll)
    MPI_Testall(kMany, requests, &done, MPI_STATUSES_IGNORE);
  getrusage(RUSAGE_SELF, &after);
  check(!done && after.ru_minflt - before.ru_minflt < kPolls, "memory for each time");
  for (int at = 0; at < kMany; ++at)
    MPI_Send(&at, 1, MPI_INT, 0, at, MPI_COMM_SELF);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
}

// Communicators created from groups, an MPI 4 feature.
static void groups(void) {
#if MPI_VERSION >= 4
  MPI_Group group;
  MPI_Comm made[2];
  static char data[200];
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  for (int at = 0; at < 2; ++at)
    MPI_Comm_create_from_group(
        group, at == 0 ? "first" : "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made[at]);
  for (int at = 0; at < 2; ++at)
    MPI_Sendrecv(data,
                 1 + at,
                 MPI_CHAR,
                 gRank ^ 1,
                 1,
                 data + 100,
                 100,
                 MPI_CHAR,
                 gRank ^ 1,
                 1,
                 made[at],
                 MPI_STATUS_IGNORE);
  for (int at = 0; at < 2; ++at)
    MPI_Comm_free(&made[at]);
  MPI_Group_free(&group);
#endif
}

// Tests whether requests are done, and frees them without a wait.
static void asked(void) {
  static char data[200];
  const int other = gRank ^ 1;
  MPI_Request requests[2];
  MPI_Status status;
  for (int round = 0; round < 10; ++round) {
    MPI_Irecv(data,
              100,
              MPI_CHAR,
              round % 2 == 0 ? other : MPI_ANY_SOURCE,
              1,
              MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(data + 100, round + 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[1]);
    for (int at = 0; at < 2; ++at) {
      int done = 0;
      while (!done)
        MPI_Request_get_status(requests[at], &done, round % 3 == 0 ? MPI_STATUS_IGNORE : &status);
      if (round < 5)
        MPI_Request_free(&requests[at]);
      else
        MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Between a group of one and one of three. The array of counts ends at a page boundary.
static void twoGroups(void) {
  enum { kPage = 4096, kNumbers = 6 };
  int numbers[kNumbers] = {0}, sums[kNumbers];
  const int group = gRank == 0 ? 0 : 1;
  int size;
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, group, gRank, &own);
  MPI_Comm_size(own, &size);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, group == 0 ? 1 : 0, 1, &both);
  char* const pages =
      mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(pages != MAP_FAILED && mprotect(pages + kPage, kPage, PROT_NONE) == 0, "pages");
  int* const counts = (int*)(pages + kPage) - size;
  for (int at = 0; at < size; ++at)
    counts[at] = kNumbers / size;
  MPI_Reduce_scatter(numbers, sums, counts, MPI_INT, MPI_SUM, both);
  MPI_Reduce_scatter_block(numbers, sums, kNumbers / size, MPI_INT, MPI_SUM, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define ALLREDUCE_INIT MPIX_Allreduce_init
#elif MPI_VERSION >= 4
#define ALLREDUCE_INIT MPI_Allreduce_init
#endif

// Two persistent collectives are created in one order and started in the other on every second
// rank.
static void prepared(void) {
  int number = 1, sum;
  double numbers[8] = {1}, sums[8];
  MPI_Request requests[2];
  MPI_Barrier(MPI_COMM_WORLD);
  ALLREDUCE_INIT(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  ALLREDUCE_INIT(
      numbers, sums, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&requests[gRank % 2]);
    MPI_Start(&requests[1 - gRank % 2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A send that is cancelled, if the MPI supports that, and others after it. Two ranks.
static void cancelledSend(void) {
  static char data[1 << 20];
  int cancelled = 0;
  MPI_Status status;
  if (gRank == 0) {
    MPI_Request request;
    MPI_Issend(data, sizeof data, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Send(data, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    printf("%s\n", cancelled ? "cancelled" : "sent");
    for (int k = 0; k < 3; ++k)
      MPI_Send(data, 10 + k, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(data, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &status);
    for (int got = 0, bytes = 0; got < 3; got += bytes < 100) {
      MPI_Recv(data, sizeof data, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_CHAR, &bytes);
    }
  }
}

// The first of two receives is cancelled, and the second ends before anybody waits for the first.
// Two ranks.
static void cancelledReceive(void) {
  char data[200];
  if (gRank == 1) {
    MPI_Request requests[2];
    for (int at = 0; at < 2; ++at)
      MPI_Irecv(data + 100 * at, 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[at]);
    MPI_Cancel(&requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Recv(data, 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(data, 5, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Send(data, 6, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
  }
}

static const struct Part kParts[] = {{"copies", copies},
                                     {"huge", huge},
                                     {"compiled", compiled},
                                     {"exchanges", exchanges},
                                     {"stale", stale},
                                     {"failing", failing},
                                     {"polling", polling},
                                     {"groups", groups},
                                     {"asked", asked},
                                     {"failing_any", failingAny},
                                     {"untold", untold},
                                     {"two_groups", twoGroups},
                                     {"prepared", prepared},
                                     {"cancelled_send", cancelledSend},
                                     {"cancelled_receive", cancelledReceive}};

int main(int argc, char** argv) {
  return runPart(argc, argv, kParts, sizeof kParts / sizeof kParts[0]);
}
