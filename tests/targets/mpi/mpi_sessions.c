// MPI 4's sessions: mpi_sessions PART. Four ranks.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4
static char gData[200];

// All ranks exchange messages in pairs over a communicator of the session's world.
static void talk(const char* name, int messages) {
  MPI_Session session;
  MPI_Group all;
  MPI_Comm comm;
  int rank = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm_create_from_group(all, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  for (int round = 0; round < messages; ++round)
    MPI_Sendrecv(gData,
                 1 + round,
                 MPI_CHAR,
                 rank ^ 1,
                 1,
                 gData + 100,
                 100,
                 MPI_CHAR,
                 rank ^ 1,
                 1,
                 comm,
                 MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}

// Only a session.
static void alone(void) {
  talk("first", 5);
}

// Inside a session that lasts, because MPICH 4.0 does not start again after its last one.
static void twice(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  talk("first", 5);
  talk("second", 7);
  MPI_Session_finalize(&session);
}

// A session ends and MPI_COMM_WORLD continues.
static void both(void) {
  int rank = 0;
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Init(NULL, NULL);
  MPI_Session_finalize(&session);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 3; ++round)
    MPI_Sendrecv(gData,
                 1 + round,
                 MPI_CHAR,
                 rank ^ 1,
                 1,
                 gData + 100,
                 100,
                 MPI_CHAR,
                 rank ^ 1,
                 1,
                 MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  MPI_Finalize();
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION >= 4
  if (argc == 2 && strcmp(argv[1], "alone") == 0)
    alone();
  else if (argc == 2 && strcmp(argv[1], "twice") == 0)
    twice();
  else if (argc == 2 && strcmp(argv[1], "both") == 0)
    both();
  else
    return 2;
#endif
  return argc == 2 && argv[1] != NULL ? 0 : 2;
}
