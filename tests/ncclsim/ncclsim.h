/* A stand-in for NCCL for tests: a libnccl.so.2 with the functions of NCCL's API that programs
 * call most, and with what a tool sees of NCCL: it calls a profiler plugin, of the version that
 * NCCLSIM_PLUGIN says (6 without it), as NCCL does and in the order of its source, and launches
 * kernels of NCCL's names where the process has the simulated CUDA device. No bytes move and no
 * rank waits for another: communicators of one identifier know each other by its hash alone.
 *
 * As NCCL: the calls of a group are enqueued when its outermost end is reached, larger ones first,
 * as one kernel for each communicator and one more for sends and receives; a collective's event
 * comes after its kernel has been launched, and AllGather and Broadcast count bytes there;
 * AlltoAll, Gather and Scatter are sends and receives; ncclBcast calls ncclBroadcast by its
 * exported name; what a CUDA graph captures is told of at each launch (ncclsimGraphLaunched), from
 * a thread of its own. A call that fails in a group fails its end, and nothing of it is launched.
 *
 * It is the NCCL that has the plugin's version: 2.23, 2.24, 2.26, 2.27, 2.28 or, for 6, 2.29, which
 * does not tell the plugin of broadcasts.
 *
 * Environment: NCCL_PROFILER_PLUGIN as NCCL reads it; NCCLSIM_PLUGIN=N; NCCLSIM_NETWORK=1: proxies
 * move the data in steps, in a thread; NCCLSIM_HANG=1: they never end, and kernels take 0.3 s;
 * NCCLSIM_COPY_ENGINE=1: AllGather has no kernel; NCCLSIM_SYMMETRIC=1: collectives have kernels for
 * symmetric memory, which version 4 (2.27) does not tell of; NCCLSIM_NONBLOCKING=1: groups are
 * launched by a thread, and calls give ncclInProgress.
 */
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
/* Of ranks that `comm` has (`rank` -1); no other joins. */
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

/* It is not destroyed the next time. */
void ncclsimKeep(ncclComm_t comm);
/* A CUDA graph that captured calls of the communicator is launched. */
void ncclsimGraphLaunched(ncclComm_t comm);
/* What threads of NCCL's own do has been done. */
void ncclsimSettle(void);

#ifdef __cplusplus
}
#endif
