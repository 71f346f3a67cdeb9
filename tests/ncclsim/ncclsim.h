/* A stand-in for NCCL for tests: a libnccl.so.2 with the functions of NCCL's API that programs call
 * most. Tools see it as NCCL. It calls a profiler plugin, of the version in NCCLSIM_PLUGIN (default
 * 6), as NCCL does and in the order of its source. It launches kernels with NCCL's names if the
 * process has the simulated CUDA device. No bytes move and no rank waits for another: communicators
 * with one identifier know each other only by its hash.
 *
 * Like NCCL:
 * - The calls of a group are enqueued at its outermost end, larger ones first, as one kernel per
 *   communicator and one more for sends and receives.
 * - A collective's event comes after its kernel has been launched. AllGather and Broadcast count
 *   bytes there.
 * - AlltoAll, Gather and Scatter are sends and receives. ncclBcast calls ncclBroadcast by its
 *   exported name.
 * - Calls that a CUDA graph captures are reported at each launch (ncclsimGraphLaunched), from a
 *   separate thread.
 * - If a call in a group fails, the group's end fails and nothing of it is launched.
 *
 * It is the NCCL with the plugin's version: 2.23, 2.24, 2.26, 2.27, 2.28 or, for 6, 2.29, which
 * does not report broadcasts to the plugin.
 *
 * Environment: NCCL_PROFILER_PLUGIN as NCCL reads it; NCCLSIM_PLUGIN=N; NCCLSIM_NETWORK=1: proxies
 * move the data in steps, in a thread; NCCLSIM_HANG=1: they never end, and kernels take 0.3 s;
 * NCCLSIM_COPY_ENGINE=1: AllGather has no kernel; NCCLSIM_SYMMETRIC=1: collectives have kernels for
 * symmetric memory, which version 4 (2.27) does not report; NCCLSIM_NONBLOCKING=1: a thread
 * launches groups, and calls return ncclInProgress. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm* ncclComm_t;
typedef struct {
  char internal[128];
} ncclUniqueId;
/* As in nccl.h. */
enum { ncclSuccess_ = 0, ncclInvalidArgument_ = 4, ncclInProgress_ = 7 };
enum { ncclsimFloat32 = 7, ncclsimInt8 = 0 };

int ncclGetUniqueId(ncclUniqueId* id);
int ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank);
int ncclCommInitRankScalable(
    ncclComm_t* comm, int size, int rank, int idCount, ncclUniqueId* ids, void* config);
int ncclCommInitAll(ncclComm_t* comms, int size, const int* devices);
int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, void* config);
/* Excludes nobody. */
int ncclCommShrink(
    ncclComm_t comm, int* excluded, int count, ncclComm_t* made, void* config, int flags);
/* Only ranks of `comm` take part (`rank` -1); no new rank joins. */
int ncclCommGrow(
    ncclComm_t comm, int size, const ncclUniqueId* id, int rank, ncclComm_t* made, void* config);
int ncclCommCount(ncclComm_t comm, int* count);
int ncclCommUserRank(ncclComm_t comm, int* rank);
int ncclCommFinalize(ncclComm_t comm);
int ncclCommDestroy(ncclComm_t comm);
int ncclCommAbort(ncclComm_t comm);
int ncclCommRevoke(ncclComm_t comm, int flags);

int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclGroupSimulateEnd(void* info);

int ncclAllReduce(
    const void* send, void* receive, size_t count, int type, int op, ncclComm_t comm, void* stream);
int ncclBroadcast(const void* send,
                  void* receive,
                  size_t count,
                  int type,
                  int root,
                  ncclComm_t comm,
                  void* stream);
int ncclBcast(void* buffer, size_t count, int type, int root, ncclComm_t comm, void* stream);
int ncclReduce(const void* send,
               void* receive,
               size_t count,
               int type,
               int op,
               int root,
               ncclComm_t comm,
               void* stream);
int ncclAllGather(
    const void* send, void* receive, size_t count, int type, ncclComm_t comm, void* stream);
int ncclReduceScatter(
    const void* send, void* receive, size_t count, int type, int op, ncclComm_t comm, void* stream);
int ncclAlltoAll(
    const void* send, void* receive, size_t count, int type, ncclComm_t comm, void* stream);
int ncclGather(const void* send,
               void* receive,
               size_t count,
               int type,
               int root,
               ncclComm_t comm,
               void* stream);
int ncclScatter(const void* send,
                void* receive,
                size_t count,
                int type,
                int root,
                ncclComm_t comm,
                void* stream);
int ncclSend(const void* buffer, size_t count, int type, int peer, ncclComm_t comm, void* stream);
int ncclRecv(void* buffer, size_t count, int type, int peer, ncclComm_t comm, void* stream);

/* Does not destroy it at the next call. */
void ncclsimKeep(ncclComm_t comm);
/* A CUDA graph that captured calls of the communicator is launched. */
void ncclsimGraphLaunched(ncclComm_t comm);
/* Waits until NCCL's own threads have done their work. */
void ncclsimSettle(void);

#ifdef __cplusplus
}
#endif
