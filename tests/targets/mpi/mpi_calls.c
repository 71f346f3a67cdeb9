// MPI as programs use it: mpi_calls PART. The expected records of each part are known to the last
// row.
#include "mpi_parts.h"

// Sends to the right, receives from the left, ten rounds, each with 8 bytes more than the one
// before.
static void ring(void) {
  long data[64] = {0};
  const int right = (gRank + 1) % gSize;
  const int left = (gRank + gSize - 1) % gSize;
  for (int round = 0; round < 10; ++round) {
    if (gRank % 2 == 0) {
      MPI_Send(data, round + 1, MPI_LONG, right, 5, MPI_COMM_WORLD);
      MPI_Recv(data, 64, MPI_LONG, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(data, 64, MPI_LONG, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ssend(data, round + 1, MPI_LONG, right, 5, MPI_COMM_WORLD);
    }
  }
  MPI_Sendrecv(data,
               3,
               MPI_INT,
               right,
               6,
               data + 32,
               32,
               MPI_LONG,
               left,
               6,
               MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(data, 2, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  // MPI_PROC_NULL: no message.
  MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
  MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collectives(void) {
  int in[64] = {0};
  int out[64] = {0};
  const int counts[kRanks] = {1, 2, 3, 4};
  const int places[kRanks] = {0, 1, 3, 6};
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Barrier(world);
  MPI_Bcast(in, 10, MPI_INT, 1, world);
  MPI_Reduce(in, out, 5, MPI_DOUBLE, MPI_SUM, 2, world);
  MPI_Allreduce(in, out, 6, MPI_FLOAT, MPI_MAX, world);
  MPI_Allreduce(MPI_IN_PLACE, out, 6, MPI_FLOAT, MPI_MAX, world);
  MPI_Gather(in, 3, MPI_INT, out, 3, MPI_INT, 0, world);
  MPI_Gatherv(in, counts[gRank], MPI_INT, out, counts, places, MPI_INT, 0, world);
  MPI_Scatter(in, 3, MPI_INT, out, 3, MPI_INT, 3, world);
  MPI_Scatterv(in, counts, places, MPI_INT, out, 4, MPI_INT, 3, world);
  MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, world);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 2, MPI_INT, world);
  MPI_Allgatherv(in, counts[gRank], MPI_INT, out, counts, places, MPI_INT, world);
  MPI_Alltoall(in, 4, MPI_INT, out, 4, MPI_INT, world);
  MPI_Alltoallv(in,
                counts,
                places,
                MPI_INT,
                out,
                (int[]){gRank + 1, gRank + 1, gRank + 1, gRank + 1},
                (int[]){0, 4, 8, 12},
                MPI_INT,
                world);
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
  MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, world);
  MPI_Scan(in, out, 7, MPI_INT, MPI_SUM, world);
  MPI_Exscan(in, out, 7, MPI_INT, MPI_SUM, world);
}

// Nonblocking collectives, two at a time; one of them is tested for.
static void nonblocking(void) {
  int in[8] = {0};
  int out[8];
  MPI_Request requests[2];
  for (int round = 0; round < 20; ++round) {
    MPI_Iallreduce(in, out, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    int done = 0;
    while (!done)
      MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
}

// A stencil's exchange of its boundaries; beyond the ends there is no rank.
static void halo(void) {
  static double low[1000];
  static double high[100000];
  const int left = gRank == 0 ? MPI_PROC_NULL : gRank - 1;
  const int right = gRank == gSize - 1 ? MPI_PROC_NULL : gRank + 1;
  for (int step = 0; step < 10; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(low, 1000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(high, 100000, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(low, 1000, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(high, 100000, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

// Rank 0 has several open receives from any source, and waits for the later ones first. Message k
// of a rank has 4 * (k + 1) bytes, so that each is identified by its size.
static void anySource(void) {
  enum { kEach = 12, kOpen = 6 };
  static int data[kOpen][64];
  if (gRank != 0) {
    for (int k = 0; k < kEach; ++k)
      MPI_Send(data[0], k + 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    return;
  }
  for (int left = kEach * (gSize - 1); left > 0; left -= kOpen) {
    MPI_Request requests[kOpen];
    for (int at = 0; at < kOpen; ++at)
      MPI_Irecv(data[at],
                64,
                MPI_INT,
                MPI_ANY_SOURCE,
                at % 2 == 0 ? 9 : MPI_ANY_TAG,
                MPI_COMM_WORLD,
                &requests[at]);
    for (int at = kOpen - 1; at >= 0; --at)
      MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
  }
}

// From one rank, with whatever tag: six receives are open at a time, and the later ones are waited
// for first. Message k has tag 20 + k % 3 and 4 * (k + 1) bytes.
static void anyTag(void) {
  enum { kEach = 13, kOpen = 6 };
  static int data[kOpen][64];
  const int other = gRank ^ 1;
  if (gRank % 2 == 1) {
    for (int k = 0; k < kEach; ++k)
      MPI_Send(data[0], k + 1, MPI_INT, other, 20 + k % 3, MPI_COMM_WORLD);
    return;
  }
  MPI_Recv(data[0], 64, MPI_INT, other, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int left = kEach - 1; left > 0; left -= kOpen) {
    MPI_Request requests[kOpen];
    for (int at = 0; at < kOpen; ++at)
      MPI_Irecv(data[at], 64, MPI_INT, other, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[at]);
    for (int at = kOpen - 1; at >= 0; --at)
      MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
  }
}

static void persistent(void) {
  double out[10] = {0};
  double in[10];
  MPI_Request requests[2];
  MPI_Send_init(out, 10, MPI_DOUBLE, (gRank + 1) % gSize, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 10, MPI_DOUBLE, (gRank + gSize - 1) % gSize, 3, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 5; ++round) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// Pairs of ranks, the same ranks again, a grid, its rows, two groups, and all ranks in one again.
static void communicators(void) {
  MPI_Comm pair, again, grid, row, between, merged;
  int data = gRank;
  MPI_Comm_split(MPI_COMM_WORLD, gRank / 2, -gRank, &pair);
  int place;
  MPI_Comm_rank(pair, &place);
  MPI_Sendrecv_replace(&data, 1, MPI_INT, 1 - place, 1, 1 - place, 1, pair, MPI_STATUS_IGNORE);
  MPI_Comm_dup(pair, &again);
  MPI_Allreduce(MPI_IN_PLACE, &data, 1, MPI_INT, MPI_SUM, again);
  const int sizes[2] = {2, 2};
  const int periods[2] = {0, 1};
  const int rows[2] = {0, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  MPI_Cart_sub(grid, rows, &row);
  MPI_Bcast(&data, 1, MPI_INT, 0, row);
  MPI_Intercomm_create(pair, 0, MPI_COMM_WORLD, gRank < 2 ? 3 : 1, 4, &between);
  MPI_Send(&data, 1, MPI_INT, place, 2, between);
  MPI_Recv(&data, 1, MPI_INT, place, 2, between, MPI_STATUS_IGNORE);
  MPI_Intercomm_merge(between, gRank < 2, &merged);
  MPI_Barrier(merged);
  MPI_Comm later;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(later);
  MPI_Comm_free(&later);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&again);
  MPI_Comm_free(&pair);
  // Handles are reused: the count of messages starts again with each communicator.
  for (int time = 0; time < 50; ++time) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Sendrecv_replace(&data,
                         1,
                         MPI_INT,
                         (gRank + 1) % gSize,
                         time,
                         (gRank + gSize - 1) % gSize,
                         time,
                         copy,
                         MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
  }
}

// Probes that match, and requests that end in other ways.
static void odd(void) {
  int data[16] = {0};
  MPI_Message message;
  MPI_Request request;
  MPI_Status status;
  int flag = 0;
  if (gRank == 1) {
    for (int k = 1; k <= 6; ++k)
      MPI_Send(data, k, MPI_INT, 0, 8, MPI_COMM_WORLD);
    MPI_Isend(data, 7, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(data, 16, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (gRank == 0) {
    MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(data, 16, MPI_INT, &message, MPI_STATUS_IGNORE);
    while (!flag)
      MPI_Improbe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(data, 16, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Probe(1, 8, MPI_COMM_WORLD, &status);
    MPI_Recv(data, 16, MPI_INT, 1, 8, MPI_COMM_WORLD, &status);
    int bytes;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    check(bytes == 12 && status.MPI_SOURCE == 1 && status.MPI_TAG == 8, "the program's own status");
    MPI_Request requests[4];
    int indices[4];
    MPI_Status statuses[4];
    for (int at = 0; at < 4; ++at)
      MPI_Irecv(data, 16, MPI_INT, 1, 8, MPI_COMM_WORLD, &requests[at]);
    for (int left = 4; left > 0;) {
      int done;
      MPI_Waitsome(4, requests, &done, indices, statuses);
      left -= done;
    }
    MPI_Irecv(data, 16, MPI_INT, 2, 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    check(flag, "a receive that nobody sends for is cancelled");
    // A failed call has no known message. MPI reports the error itself.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Send(data, 1, MPI_INT, gSize + 5, 4, MPI_COMM_WORLD) != MPI_SUCCESS,
          "there is no such rank");
    MPI_Send(data, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  }
}

// More requests at a time than fit on the stack.
static void many(void) {
  enum { kMany = 500 };
  static int out[kMany];
  static int in[kMany];
  static MPI_Request requests[2 * kMany];
  const int other = gRank ^ 1;
  for (int at = 0; at < kMany; ++at)
    MPI_Irecv(&in[at], 1, MPI_INT, other, at % 300, MPI_COMM_WORLD, &requests[at]);
  for (int at = 0; at < kMany; ++at)
    MPI_Isend(&out[at], 1, MPI_INT, other, at % 300, MPI_COMM_WORLD, &requests[kMany + at]);
  MPI_Waitall(2 * kMany, requests, MPI_STATUSES_IGNORE);
}

// A freed communicator exists until its requests have ended, although others are created meanwhile.
static void freed(void) {
  int data[8] = {0};
  const int other = gRank ^ 1;
  for (int time = 0; time < 20; ++time) {
    MPI_Comm copy, next;
    MPI_Request requests[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Irecv(&data[0], 1, MPI_INT, other, 1, copy, &requests[0]);
    MPI_Irecv(&data[1], 2, MPI_INT, MPI_ANY_SOURCE, 2, copy, &requests[1]);
    MPI_Isend(&data[4], 1, MPI_INT, other, 1, copy, &requests[2]);
    MPI_Send(&data[4], 2, MPI_INT, other, 2, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&next);
  }
}

// Arguments that MPI ignores or refuses: Sonde must not read them either.
static void unread(void) {
  int data[16] = {0};
  const int counts[kRanks] = {1, 2, 3, 4};
  const int places[kRanks] = {0, 1, 3, 6};
  const MPI_Comm world = MPI_COMM_WORLD;
  const int root = gRank == 0;
  MPI_Gatherv(root ? MPI_IN_PLACE : data,
              root ? 0 : counts[gRank],
              root ? MPI_DATATYPE_NULL : MPI_INT,
              data,
              counts,
              places,
              MPI_INT,
              0,
              world);
  MPI_Scatterv(data,
               counts,
               places,
               MPI_INT,
               root ? MPI_IN_PLACE : data,
               root ? 0 : counts[gRank],
               root ? MPI_DATATYPE_NULL : MPI_INT,
               0,
               world);
  MPI_Comm pair, between;
  MPI_Comm_split(world, gRank / 2, gRank, &pair);
  MPI_Intercomm_create(pair, 0, world, gRank < 2 ? 2 : 0, 4, &between);
  if (gRank == 0)
    MPI_Gather(NULL, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, MPI_ROOT, between);
  else if (gRank == 1)
    MPI_Gather(NULL, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, between);
  else
    MPI_Gather(data, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, between);
  MPI_Comm_free(&between);
  MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  check(MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, pair) != MPI_SUCCESS, "there is no such type");
  int done = 12345;
  int indices[1] = {54321};
  MPI_Request none = MPI_REQUEST_NULL;
  check(MPI_Waitsome(-1, &none, &done, indices, MPI_STATUSES_IGNORE) != MPI_SUCCESS,
        "no such number of requests");
  check(MPI_Waitall(3, NULL, MPI_STATUSES_IGNORE) != MPI_SUCCESS, "there are no requests");
  MPI_Comm_free(&pair);
}

// Several communicators with the same tags, one of which is freed; each message has its own size.
static void tags(void) {
  static char data[4096];
  const int other = gRank ^ 1;
  int bytes = 1;
  MPI_Comm copies[3];
  for (int at = 0; at < 3; ++at)
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[at]);
  for (int round = 0; round < 40; ++round)
    for (int at = round / 10; at < 4; ++at) {
      if (round % 10 == 0 && at == round / 10 && at > 0)
        MPI_Comm_free(&copies[at - 1]);
      const MPI_Comm comm = at == 3 ? MPI_COMM_WORLD : copies[at];
      for (int tag = 0; tag < 5; ++tag, ++bytes)
        MPI_Sendrecv(data,
                     bytes,
                     MPI_CHAR,
                     other,
                     tag,
                     data + 2048,
                     2048,
                     MPI_CHAR,
                     other,
                     tag,
                     comm,
                     MPI_STATUS_IGNORE);
    }
}

// A caller of PMPI_ does not want to be seen.
static void hidden(void) {
  int data = 0;
  PMPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
  PMPI_Barrier(MPI_COMM_WORLD);
}

static const struct Part kParts[] = {{"ring", ring},
                                     {"collectives", collectives},
                                     {"nonblocking", nonblocking},
                                     {"halo", halo},
                                     {"any-source", anySource},
                                     {"any-tag", anyTag},
                                     {"persistent", persistent},
                                     {"communicators", communicators},
                                     {"odd", odd},
                                     {"many", many},
                                     {"freed", freed},
                                     {"unread", unread},
                                     {"tags", tags},
                                     {"hidden", hidden}};

int main(int argc, char** argv) {
  return runPart(argc, argv, kParts, sizeof kParts / sizeof kParts[0]);
}
