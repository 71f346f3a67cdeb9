// Communicators between processes that did not start in one MPI_COMM_WORLD, and others created in
// rare ways: mpi_worlds PART.
#include "mpi_parts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static char gData[200];

static void exchange(MPI_Comm comm, int peer, int bytes) {
  MPI_Sendrecv(gData,
               bytes,
               MPI_CHAR,
               peer,
               1,
               gData + 100,
               100,
               MPI_CHAR,
               peer,
               1,
               comm,
               MPI_STATUS_IGNORE);
}

// Both sides of a spawn run this: each talks within its own world, to the other one, and in both
// together.
static void talk(MPI_Comm between, int isChild) {
  MPI_Comm merged;
  int rank = 0;
  for (int round = 0; round < 5; ++round) {
    exchange(MPI_COMM_WORLD, 1 - gRank, 10 + 10 * isChild + round);
    exchange(between, gRank, 1 + round);
  }
  MPI_Barrier(between);
  MPI_Intercomm_merge(between, isChild, &merged);
  MPI_Comm_rank(merged, &rank);
  exchange(merged, rank ^ 1, 40);
  exchange(merged, rank ^ 2, 41);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
}

// Two ranks, which start one more rank each of two programs that are the same file.
static char* gProgram;
static void spawn(void) {
  MPI_Comm between;
  MPI_Comm_get_parent(&between);
  const int isChild = between != MPI_COMM_NULL;
  if (!isChild) {
    char* programs[2] = {gProgram, gProgram};
    char* part[] = {"spawn", NULL};
    char** parts[2] = {part, part};
    const int each[2] = {1, 1};
    const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(
        2, programs, parts, each, infos, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  }
  talk(between, isChild);
}

// Two ranks with a separate connection.
static void join(void) {
  MPI_Comm between;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  const int own = socket(AF_INET, SOCK_STREAM, 0);
  if (gRank == 0)
    check(bind(own, (struct sockaddr*)&at, sizeof at) == 0 && listen(own, 1) == 0 &&
              getsockname(own, (struct sockaddr*)&at, &size) == 0,
          "a place to listen");
  MPI_Bcast(&at, sizeof at, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (gRank == 1)
    check(connect(own, (struct sockaddr*)&at, sizeof at) == 0, "a connection");
  MPI_Comm_join(gRank == 0 ? accept(own, NULL, NULL) : own, &between);
  for (int round = 0; round < 5; ++round)
    exchange(between, 0, 1 + round);
  MPI_Barrier(between);
  MPI_Comm_disconnect(&between);
}

// The lower and the upper half, which form a communicator without a parent. MPI 4.
static void halves(void) {
#if MPI_VERSION >= 4
  MPI_Group all, own, other;
  MPI_Comm made;
  const int lower[2] = {0, 1};
  const int upper[2] = {2, 3};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, gRank < 2 ? lower : upper, &own);
  MPI_Group_incl(all, 2, gRank < 2 ? upper : lower, &other);
  MPI_Intercomm_create_from_groups(
      own, 0, other, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  for (int round = 0; round < 5; ++round)
    exchange(made, gRank % 2, 1 + round);
  MPI_Barrier(made);
  MPI_Comm_free(&made);
  MPI_Group_free(&all);
  MPI_Group_free(&own);
  MPI_Group_free(&other);
#endif
}

static const struct Part kParts[] = {{"spawn", spawn}, {"join", join}, {"halves", halves}};

int main(int argc, char** argv) {
  gProgram = argv[0];
  return runPart(argc, argv, kParts, sizeof kParts / sizeof kParts[0]);
}
