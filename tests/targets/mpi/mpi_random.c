// Random messages among all ranks: mpi_random FIRST COUNT runs COUNT seeds from FIRST on. All ranks
// draw the same plan from a seed. Each message's size is unique for its seed, so that the sizes
// identify matching ends.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMessages = 120, kTags = 8, kMaxBytes = 1 << 18, kWildTag = 6, kWildPair = 7 };

struct Message {
  int from;
  int to;
  int tag;
  int bytes;
  int how;  // how it is sent
};

static uint64_t gState;
static unsigned draw(unsigned below) {
  gState = gState * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(gState >> 33) % below;
}

static int gRank;
static int gSize;
static struct Message gPlan[kMessages];
static char* gBuffers;  // one of kMaxBytes for each message of this rank's

// Tag kWildTag is only received from any source. kWildPair has one sender per rank, and is received
// from any source or from that sender at random.
static void makePlan(uint64_t seed) {
  gState = seed * 7919 + 17;
  for (int at = 0; at < kMessages; ++at) {
    struct Message* m = &gPlan[at];
    m->tag = (int)draw(kTags);
    m->to = (int)draw((unsigned)gSize);
    m->from = m->tag == kWildPair ? (m->to + 1) % gSize : (int)draw((unsigned)gSize);
    m->how = (int)draw(5);
    // Small ones and, every now and then, one that MPI does not buffer.
    m->bytes = at + 1 + (draw(10) == 0 ? kMessages * (int)draw(2000) : 0);
  }
}

static void runSeed(uint64_t seed) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  makePlan(seed);
  gState = seed * 31 + (uint64_t)gRank;  // from here on each rank draws for itself
  MPI_Request requests[2 * kMessages];
  int order[kMessages];
  int count = 0;
  for (int at = 0; at < kMessages; ++at)
    if (gPlan[at].to == gRank)
      order[count++] = at;
  for (int at = count - 1; at > 0; --at) {  // posted in random order
    const int other = (int)draw((unsigned)at + 1);
    const int kept = order[at];
    order[at] = order[other];
    order[other] = kept;
  }
  int open = 0;
  for (int at = 0; at < count; ++at) {
    const struct Message* m = &gPlan[order[at]];
    const int wild = m->tag == kWildTag || (m->tag == kWildPair && draw(2) == 0);
    MPI_Irecv(gBuffers + (size_t)order[at] * kMaxBytes,
              kMaxBytes,
              MPI_BYTE,
              wild ? MPI_ANY_SOURCE : m->from,
              m->tag,
              comm,
              &requests[open++]);
  }
  MPI_Request persistent[kMessages];
  int kept = 0;
  for (int at = 0; at < kMessages; ++at) {
    const struct Message* m = &gPlan[at];
    char* data = gBuffers + (size_t)at * kMaxBytes;
    if (m->from != gRank)
      continue;
    switch (m->to == gRank ? 1 : m->how) {
      case 0:
        MPI_Send(data, m->bytes, MPI_BYTE, m->to, m->tag, comm);
        break;
      case 1:
        MPI_Isend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, &requests[open++]);
        break;
      case 2:
        MPI_Issend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, &requests[open++]);
        break;
      case 3:
        MPI_Ssend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm);
        break;
      default:
        MPI_Send_init(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, &persistent[kept]);
        MPI_Start(&persistent[kept++]);
    }
  }
  while (open > 0) {
    int index = 0;
    int flag = 0;
    switch (draw(4)) {
      case 0:
        index = (int)draw((unsigned)open);
        MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
        break;
      case 1:
        MPI_Waitany(open, requests, &index, MPI_STATUS_IGNORE);
        break;
      case 2:
        index = (int)draw((unsigned)open);
        MPI_Test(&requests[index], &flag, MPI_STATUS_IGNORE);
        if (!flag)
          continue;
        break;
      default:
        MPI_Testany(open, requests, &index, &flag, MPI_STATUS_IGNORE);
        if (!flag || index == MPI_UNDEFINED)
          continue;
    }
    requests[index] = requests[--open];
  }
  MPI_Waitall(kept, persistent, MPI_STATUSES_IGNORE);
  for (int at = 0; at < kept; ++at)
    MPI_Request_free(&persistent[at]);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &gRank);
  MPI_Comm_size(MPI_COMM_WORLD, &gSize);
  gBuffers = calloc(kMessages, kMaxBytes);
  const int first = argc > 1 ? atoi(argv[1]) : 1;
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  for (int seed = first; seed < first + count; ++seed)
    runSeed((uint64_t)seed);

  MPI_Finalize();
  free(gBuffers);
  return 0;
}
