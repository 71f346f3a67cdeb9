// The functions of NCCL's API.
#include "collector/preload/nccl/nccl_hash.h"
#include "tests/ncclsim/launch.h"

#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

namespace {

using ncclsim::Task;
using ncclsim::Tasks;
using sonde::preload::nccl::hashOfChild;
using sonde::preload::nccl::hashOfIdentifier;

thread_local int gDepth = 0;
thread_local Tasks gTasks;
thread_local int gFailure = ncclSuccess_;  // of a call in the open group

const char* const kTypes[] = {"ncclInt8",
                              "ncclUint8",
                              "ncclInt32",
                              "ncclUint32",
                              "ncclInt64",
                              "ncclUint64",
                              "ncclFloat16",
                              "ncclFloat32",
                              "ncclFloat64"};
constexpr int kTypeBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8};

ncclComm* make(std::uint64_t hash, int size, int rank) {
  auto* comm = new ncclComm;
  comm->hash = hash;
  comm->size = size;
  comm->rank = rank;
  if (ncclsim::plugin() != nullptr)
    comm->plugin = ncclsim::plugin()->init(hash, "", size, rank);
  return comm;
}

int leaveGroup() {
  if (gDepth == 0)
    return ncclInvalidArgument_;
  if (--gDepth > 0)
    return ncclSuccess_;
  Tasks tasks = std::exchange(gTasks, {});
  if (const int failure = std::exchange(gFailure, ncclSuccess_); failure != ncclSuccess_)
    return failure;
  if (tasks.empty())
    return ncclSuccess_;
  if (!ncclsim::isSet("NCCLSIM_NONBLOCKING")) {
    ncclsim::launch(tasks);
    return ncclSuccess_;
  }
  ncclsim::inThread(ncclsim::launchInTurn, std::move(tasks));
  return ncclInProgress_;
}

int fail(int result) {
  if (gDepth > 0)
    gFailure = result;
  return result;
}

void append(Task task) {
  if (ncclsim::plugin() != nullptr) {
    void* const api = ncclsim::plugin()->api(task.comm->plugin, task.captured);
    ncclsim::plugin()->stop(api);
    task.call.parent = api;
  }
  gTasks.push_back(task);
}

struct Call {
  const char* function;
  const void* send;
  const void* receive;
  std::size_t count;
  int type;
  int root;
};

Task taskOf(const Call& call, ncclComm_t comm, void* stream) {
  Task task;
  task.comm = comm;
  task.call.function = call.function;
  task.call.send = call.send;
  task.call.receive = call.receive;
  task.call.count = call.count;
  task.call.datatype = kTypes[call.type];
  task.call.root = task.call.peer = call.root;
  task.call.channels = static_cast<std::uint8_t>(call.count / 1024);
  task.stream = stream;
  task.captured = ncclsim::isCaptured(stream);
  return task;
}

// ncclEnqueueCheck and taskAppend.
int enqueue(const Call& call, ncclComm_t comm, void* stream) {
  if (comm == nullptr || call.type < 0 || call.type > 8)
    return fail(ncclInvalidArgument_);
  ++gDepth;
  Task task = taskOf(call, comm, stream);
  const bool inBytes =
      std::strcmp(call.function, "AllGather") == 0 || std::strcmp(call.function, "Broadcast") == 0;
  if (inBytes) {
    task.call.count *= static_cast<std::size_t>(kTypeBytes[call.type]);
    task.call.datatype = kTypes[ncclsimInt8];
  }
  if (call.count > 0 && comm->size > 1)
    append(task);
  return leaveGroup();
}

void appendPeer(bool send, const Call& call, int peer, ncclComm_t comm, void* stream) {
  const bool parts = call.function != nullptr;  // the buffer has one for each peer
  const std::size_t offset = parts ? static_cast<std::size_t>(peer) * call.count *
                                         static_cast<std::size_t>(kTypeBytes[call.type])
                                   : 0;
  Call one = call;
  one.function = send ? "Send" : "Recv";
  one.send = nullptr;
  one.receive = static_cast<const char*>(send ? call.send : call.receive) + offset;
  one.root = peer;
  Task task = taskOf(one, comm, stream);
  task.peerToPeer = true;
  append(task);
}

// Exchanges with each other rank in `sends` and `receives`.
template <typename With>
int exchange(const Call& call, ncclComm_t comm, void* stream, With with) {
  if (comm == nullptr)
    return ncclInvalidArgument_;
  ++gDepth;
  for (int peer = 0; peer < comm->size; ++peer) {
    if (with(peer).first)
      appendPeer(true, call, peer, comm, stream);
    if (with(peer).second)
      appendPeer(false, call, peer, comm, stream);
  }
  return leaveGroup();
}

}  // namespace

extern "C" {

int ncclGetUniqueId(ncclUniqueId* id) {
  std::random_device random;
  for (char& byte : id->internal)
    byte = static_cast<char>(random());
  return ncclSuccess_;
}

int ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  if (rank < 0 || rank >= size)
    return ncclInvalidArgument_;
  *comm = make(hashOfIdentifier(id.internal, sizeof id.internal), size, rank);
  return ncclSuccess_;
}

int ncclCommInitRankScalable(ncclComm_t* comm, int size, int rank, int, ncclUniqueId* ids, void*) {
  return ncclCommInitRank(comm, size, ids[0], rank);
}

int ncclCommInitAll(ncclComm_t* comms, int size, const int*) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  for (int rank = 0; rank < size; ++rank)
    comms[rank] = make(hashOfIdentifier(id.internal, sizeof id.internal), size, rank);
  return ncclSuccess_;
}

// Splits into halves with one colour each: enough for tests, where all ranks of a colour are known.
int ncclCommSplit(ncclComm_t comm, int color, int, ncclComm_t* made, void*) {
  ++comm->splits;
  *made = color < 0 ? nullptr
                    : make(hashOfChild(comm->hash, comm->splits, color), comm->size, comm->rank);
  return ncclSuccess_;
}

int ncclCommGrow(
    ncclComm_t comm, int size, const ncclUniqueId* id, int /*rank*/, ncclComm_t* made, void*) {
  ++comm->splits;
  *made = make(hashOfIdentifier(id->internal, sizeof id->internal), size, comm->rank);
  return ncclSuccess_;
}

int ncclCommShrink(ncclComm_t comm, int*, int, ncclComm_t* made, void*, int) {
  *made = make(hashOfChild(comm->hash, 0, 0), comm->size, comm->rank);
  return ncclSuccess_;
}

int ncclCommCount(ncclComm_t comm, int* count) {
  *count = comm->size;
  return ncclSuccess_;
}

int ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess_;
}

int ncclCommFinalize(ncclComm_t) {
  ncclsim::settle();
  return ncclSuccess_;
}

int ncclCommDestroy(ncclComm_t comm) {
  if (std::exchange(comm->kept, false))
    return ncclInvalidArgument_;
  ncclsim::settle();
  if (ncclsim::plugin() != nullptr)
    ncclsim::plugin()->finalize(comm->plugin);
  delete comm;
  return ncclSuccess_;
}

int ncclCommAbort(ncclComm_t comm) {
  return ncclCommDestroy(comm);
}

int ncclCommRevoke(ncclComm_t, int flags) {
  return flags == 0 ? ncclSuccess_ : ncclInvalidArgument_;
}

int ncclGroupStart() {
  ++gDepth;
  return ncclSuccess_;
}

int ncclGroupEnd() {
  return leaveGroup();
}

int ncclGroupSimulateEnd(void*) {
  if (gDepth == 1)
    gTasks.clear();
  return leaveGroup();
}

int ncclAllReduce(
    const void* send, void* receive, size_t count, int type, int, ncclComm_t comm, void* stream) {
  return enqueue({"AllReduce", send, receive, count, type, 0}, comm, stream);
}

int ncclBroadcast(const void* send,
                  void* receive,
                  size_t count,
                  int type,
                  int root,
                  ncclComm_t comm,
                  void* stream) {
  return enqueue({"Broadcast", send, receive, count, type, root}, comm, stream);
}

int ncclBcast(void* buffer, size_t count, int type, int root, ncclComm_t comm, void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclReduce(const void* send,
               void* receive,
               size_t count,
               int type,
               int,
               int root,
               ncclComm_t comm,
               void* stream) {
  return enqueue({"Reduce", send, receive, count, type, root}, comm, stream);
}

int ncclAllGather(
    const void* send, void* receive, size_t count, int type, ncclComm_t comm, void* stream) {
  return enqueue({"AllGather", send, receive, count, type, 0}, comm, stream);
}

int ncclReduceScatter(
    const void* send, void* receive, size_t count, int type, int, ncclComm_t comm, void* stream) {
  return enqueue({"ReduceScatter", send, receive, count, type, 0}, comm, stream);
}

int ncclAlltoAll(
    const void* send, void* receive, size_t count, int type, ncclComm_t comm, void* stream) {
  return exchange({"AlltoAll", send, receive, count, type, 0}, comm, stream, [](int) {
    return std::pair(true, true);
  });
}

int ncclGather(const void* send,
               void* receive,
               size_t count,
               int type,
               int root,
               ncclComm_t comm,
               void* stream) {
  return exchange({"Gather", send, receive, count, type, 0}, comm, stream, [&](int peer) {
    return std::pair(peer == root, comm->rank == root);
  });
}

int ncclScatter(const void* send,
                void* receive,
                size_t count,
                int type,
                int root,
                ncclComm_t comm,
                void* stream) {
  return exchange({"Scatter", send, receive, count, type, 0}, comm, stream, [&](int peer) {
    return std::pair(comm->rank == root, peer == root);
  });
}

int ncclSend(const void* buffer, size_t count, int type, int peer, ncclComm_t comm, void* stream) {
  return exchange({nullptr, buffer, nullptr, count, type, 0}, comm, stream, [&](int each) {
    return std::pair(each == peer, false);
  });
}

int ncclRecv(void* buffer, size_t count, int type, int peer, ncclComm_t comm, void* stream) {
  return exchange({nullptr, nullptr, buffer, count, type, 0}, comm, stream, [&](int each) {
    return std::pair(false, each == peer);
  });
}

void ncclsimKeep(ncclComm_t comm) {
  comm->kept = true;
}

void ncclsimGraphLaunched(ncclComm_t comm) {
  ncclsim::tellOfCaptured(*comm);
}

void ncclsimSettle() {
  ncclsim::settle();
}

}  // extern "C"
