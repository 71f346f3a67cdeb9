// nccl_job FILE WORD…: rank RANK of a job of WORLD_SIZE. It creates a communicator, whose
// identifier is in FILE (rank 0 writes it), and runs each word's calls. If built with the simulated
// CUDA device, it uses its streams.
#include "plugins/api/sonde.h"
#include "tests/ncclsim/ncclsim.h"

#ifdef NCCL_JOB_ON_DEVICE
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#endif

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr std::size_t kCount = 1024;
float gSend[16 * kCount];
float gReceive[16 * kCount];

int gRank = 0;
int gSize = 1;
ncclComm_t gComm = nullptr;
void* gStream = nullptr;
void* gOtherStream = nullptr;

int allReduce(std::size_t count = kCount, ncclComm_t comm = gComm, void* stream = gStream) {
  return ncclAllReduce(gSend, gReceive, count, ncclsimFloat32, 0, comm, stream);
}

void eachCollective() {
  allReduce();
  ncclBroadcast(gSend, gReceive, kCount, ncclsimFloat32, 1, gComm, gStream);
  ncclBcast(gSend, kCount, ncclsimFloat32, 1, gComm, gStream);
  ncclReduce(gSend, gReceive, kCount, ncclsimFloat32, 0, 1, gComm, gStream);
  ncclAllGather(gSend, gReceive, kCount, ncclsimFloat32, gComm, gStream);
  ncclReduceScatter(gSend, gReceive, kCount, ncclsimFloat32, 0, gComm, gStream);
}

// New in NCCL 2.28.
void newer() {
  ncclAlltoAll(gSend, gReceive, kCount, ncclsimFloat32, gComm, gStream);
  ncclGather(gSend, gReceive, kCount, ncclsimFloat32, 1, gComm, gStream);
  ncclScatter(gSend, gReceive, kCount, ncclsimFloat32, 1, gComm, gStream);
}

void exchange() {
  const int other = (gRank + 1) % gSize;
  ncclGroupStart();
  for (int at = 0; at < 2; ++at) {
    ncclSend(gSend, kCount, ncclsimFloat32, other, gComm, gStream);
    ncclRecv(gReceive, kCount, ncclsimFloat32, other, gComm, gStream);
  }
  ncclGroupEnd();
}

// The plugin interface reports the largest call first; two calls are alike.
void group() {
  ncclGroupStart();
  ncclGroupStart();
  for (const std::size_t count : {kCount, 4 * kCount, 2 * kCount, kCount})
    allReduce(count);
  ncclGroupEnd();
  ncclGroupEnd();
}

// More alike calls than can be distinguished, and many different ones.
void crowd() {
  ncclGroupStart();
  for (int at = 0; at < 100; ++at)
    allReduce();
  ncclGroupEnd();
}

void crowdOfOthers() {
  ncclGroupStart();
  for (std::size_t count = 1; count <= 3000; ++count)
    allReduce(count);
  ncclGroupEnd();
}

ncclComm_t split(int color) {
  ncclComm_t made = nullptr;
  ncclCommSplit(gComm, color, gRank, &made, nullptr);
  return made;
}

void splits() {
  split(-1);
  ncclComm_t made = split(3);
  allReduce(kCount, made);
  ncclCommDestroy(made);
}

void grows() {
  const ncclUniqueId id{};
  ncclComm_t made = nullptr;
  ncclCommGrow(gComm, gSize, &id, -1, &made, nullptr);
  allReduce(kCount, made);
  ncclCommDestroy(made);
}

void shrinks() {
  ncclComm_t made = nullptr;
  ncclCommShrink(gComm, nullptr, 0, &made, nullptr, 0);
  allReduce(kCount, made);
  ncclCommDestroy(made);
}

void scalable() {
  ncclUniqueId ids[2] = {};
  ncclComm_t made = nullptr;
  ncclCommInitRankScalable(&made, gSize, gRank, 2, ids, nullptr);
  allReduce(kCount, made);
  ncclCommDestroy(made);
}

// The communicator continues, because NCCL did not destroy it.
void keeps() {
  allReduce();
  ncclsimKeep(gComm);
  ncclCommDestroy(gComm);
  allReduce();
}

void groupWithBroadcasts() {
  ncclGroupStart();
  allReduce();
  for (const int root : {1, 0})
    ncclBroadcast(gSend, gReceive, kCount, ncclsimFloat32, root, gComm, gStream);
  ncclGroupEnd();
}

void copyEngine() {
  ncclGroupStart();
  allReduce();
  ncclAllGather(gSend, gReceive, kCount, ncclsimFloat32, gComm, gStream);
  ncclGroupEnd();
}

// Again, with another size in each.
void alike() {
  ncclComm_t comms[] = {split(5), split(6), split(7), split(8)};
  ncclGroupStart();
  for (ncclComm_t comm : comms)
    allReduce(kCount, comm);
  ncclGroupEnd();
  std::size_t count = kCount;
  for (ncclComm_t comm : comms)
    allReduce(count += kCount, comm);
  for (ncclComm_t comm : comms)
    ncclCommDestroy(comm);
}

void twoCommunicators() {
  ncclComm_t other = split(5);
  ncclGroupStart();
  allReduce(kCount, gComm, gStream);
  allReduce(2 * kCount, other, gOtherStream);
  ncclGroupEnd();
  ncclCommDestroy(other);
}

void fails() {
  std::printf("%d\n", ncclAllReduce(gSend, gReceive, kCount, 99, 0, gComm, gStream));
}

int send(std::size_t count = kCount) {
  return ncclSend(gSend, count, ncclsimFloat32, (gRank + 1) % gSize, gComm, gStream);
}

// Only the last two of these calls take place.
void nothing() {
  ncclAllReduce(gSend, gReceive, 0, ncclsimFloat32, 0, gComm, gStream);
}

void failsIn() {
  fails();
  ncclAllReduce(gSend, gReceive, kCount, ncclsimFloat32, 0, nullptr, gStream);
  ncclGroupStart();
  allReduce();
  nothing();
  send();
  allReduce();
  fails();
  std::printf("%d\n", ncclGroupEnd());
  ncclGroupStart();
  allReduce();
  nothing();
  send();
  ncclGroupSimulateEnd(nullptr);
  allReduce();
  send();
}

// Invalid communicators.
void noCommunicator() {
  for (int at = 0; at < 600; ++at)
    ncclAllReduce(gSend, gReceive, kCount, ncclsimFloat32, 0, nullptr, gStream);
  allReduce();
}

void noSize() {
  allReduce(0);
  allReduce();
}

void unknownCommunicator() {
  ncclComm_t comms[2];
  ncclCommInitAll(comms, 2, nullptr);
  ncclGroupStart();
  for (ncclComm_t comm : comms)
    allReduce(kCount, comm);
  ncclGroupEnd();
  for (ncclComm_t comm : comms)
    ncclCommDestroy(comm);
}

void abortAll() {
  ncclCommAbort(gComm);
  gComm = nullptr;
}

void revoke() {
  ncclCommRevoke(gComm, 0);
}

void leave() {
  allReduce();
  _exit(0);
}

#ifdef NCCL_JOB_ON_DEVICE
void prepareDevice() {
  cudaStream_t streams[2];
  cudaStreamCreate(&streams[0]);
  cudaStreamCreate(&streams[1]);
  gStream = streams[0];
  gOtherStream = streams[1];
}

void synchronise() {
  cudaDeviceSynchronize();
}

void graph() {
  auto* const stream = static_cast<cudaStream_t>(gStream);
  cudaGraph_t made = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  allReduce();
  cudaStreamEndCapture(stream, &made);
  cudaGraphInstantiate(&ready, made, 0);
  for (int at = 0; at < 2; ++at) {
    cudaGraphLaunch(ready, stream);
    ncclsimGraphLaunched(gComm);
  }
}

// The communicator's first call is captured.
void graphFirst() {
  graph();
  allReduce();
}

// A kernel that the program launches while NCCL is idle.
void compute() {
  cudaLaunchKernel(cudasimKernel("compute", 1000),
                   dim3{1, 1, 1},
                   dim3{32, 1, 1},
                   nullptr,
                   0,
                   static_cast<cudaStream_t>(gStream));
}

// Work that is enqueued after this never begins. On rank 0 that is an all-reduce.
void hang() {
  cudaLaunchKernel(cudasimHeldKernel("held"),
                   dim3{1, 1, 1},
                   dim3{32, 1, 1},
                   nullptr,
                   0,
                   static_cast<cudaStream_t>(gStream));
  if (gRank == 0)
    allReduce();
  cudaStreamSynchronize(static_cast<cudaStream_t>(gStream));
}
#else
void prepareDevice() {}
void hang() {}
void synchronise() {}
void graph() {}
void graphFirst() {}
void compute() {}
#endif

// Six iterations, each with an idle time of the device.
void steps() {
  for (int step = 0; step < 6; ++step) {
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "step");
    allReduce();
    exchange();
    synchronise();
    sonde_end(iteration);
  }
}

bool findIdentifier(const char* path, ncclUniqueId& id) {
  if (gRank == 0) {
    ncclGetUniqueId(&id);
    const std::string made = std::string(path) + ".new";
    std::FILE* const out = std::fopen(made.c_str(), "w");
    std::fwrite(&id, sizeof id, 1, out);
    std::fclose(out);
    return std::rename(made.c_str(), path) == 0;
  }
  std::FILE* in = nullptr;
  while ((in = std::fopen(path, "r")) == nullptr)
    usleep(1000);
  const bool whole = std::fread(&id, sizeof id, 1, in) == 1;
  std::fclose(in);
  return whole;
}

int numberOf(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)()> actions = {{"each", eachCollective},
                                                     {"newer", newer},
                                                     {"exchange", exchange},
                                                     {"group", group},
                                                     {"crowd", crowd},
                                                     {"others", crowdOfOthers},
                                                     {"splits", splits},
                                                     {"two", twoCommunicators},
                                                     {"grows", grows},
                                                     {"shrinks", shrinks},
                                                     {"scalable", scalable},
                                                     {"hang", hang},
                                                     {"keeps", keeps},
                                                     {"alike", alike},
                                                     {"broadcasts", groupWithBroadcasts},
                                                     {"copyengine", copyEngine},
                                                     {"fails", fails},
                                                     {"failsin", failsIn},
                                                     {"nocomm", noCommunicator},
                                                     {"nosend", [] { send(0); }},
                                                     {"nosize", noSize},
                                                     {"all", unknownCommunicator},
                                                     {"abort", abortAll},
                                                     {"revoke", revoke},
                                                     {"leave", leave},
                                                     {"sync", synchronise},
                                                     {"settle", ncclsimSettle},
                                                     {"graph", graph},
                                                     {"graphfirst", graphFirst},
                                                     {"compute", compute},
                                                     {"steps", steps},
                                                     {"once", [] { allReduce(); }}};
  gRank = numberOf("RANK", 0);
  gSize = numberOf("WORLD_SIZE", 1);
  ncclUniqueId id;
  if (count < 2 || !findIdentifier(words[1], id))
    return 2;
  prepareDevice();
  ncclCommInitRank(&gComm, gSize, id, gRank);
  for (int at = 2; at < count; ++at) {
    if (!actions.contains(words[at]))
      return 2;
    actions.at(words[at])();
  }
  if (gComm != nullptr) {
    ncclCommFinalize(gComm);
    ncclCommDestroy(gComm);
  }
  synchronise();
  return 0;
}
