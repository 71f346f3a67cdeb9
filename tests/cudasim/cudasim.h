/* A simulated CUDA device for tests: the functions that programs need beside CUDA's own API.
 *
 * Stand-ins for libcuda.so.1, libcudart.so.N and libcupti.so.N, built against NVIDIA's headers.
 * They run kernels of given durations, copies, sets, events and graphs on a simulated timeline,
 * call CUPTI's callbacks and deliver CUPTI's own records. Programs are compiled against cuda.h or
 * cuda_runtime_api.h and use the device like a real one. libcuda.so.sim, which the three share,
 * also has the functions below. The folders cuda12/ (as CUPTI 12.6) and cuda13/ (as 13.0) differ in
 * versions and record layouts. Put one of them first in LD_LIBRARY_PATH, or in a program's RPATH.
 *
 * Environment (read once):
 * - CUDASIM_TRUTH=FILE: one line of JSON per event, in ticks of CUPTI's clock; "traced":1 if CUPTI
 *   must deliver a record of it. core/truth.h describes the lines for lost records
 * - CUDASIM_DEVICES=N: number of devices, default 2
 * - CUDASIM_NO_DRIVER=1: like a machine without a GPU: cuInit returns CUDA_ERROR_NO_DEVICE, and
 *   CUPTI's enabling functions return CUPTI_ERROR_UNKNOWN
 * - CUDASIM_CUPTI_VERSION=N: the result of cuptiGetVersion
 * - CUDASIM_DROP_EVERY=N: CUPTI drops, and counts, every N-th record
 * - CUDASIM_CALLS_LAST=1: records of host calls have a separate buffer, which a flush delivers
 * after the devices' buffer
 * - CUDASIM_NO_UNIFIED_MEMORY=1: CUPTI cannot count unified memory
 * - CUDASIM_CORRELATION=N: CUPTI's first correlation is N + 1
 * - CUDASIM_NESTED_CALLS=1: cudaLaunchKernel calls cuLaunchKernel
 * - CUDASIM_HANG=NAME: the function NAME never returns; CUDASIM_FAIL=NAME: it fails
 * - CUDASIM_RANGE_ERROR=N: the result of cuptiRangeProfilerEnable; 35 (insufficient privileges) is
 *   the result for users who may not read counters
 * - CUDASIM_OTHER_CHIP=1: all devices but the first have another chip, with other metrics
 * - CUDASIM_COUNTERS_PER_PASS=N: number of sm__ and smsp__ counters per pass, default 4
 *
 * CUPTI's range profiler (cuptiRangeProfiler…, and the cuptiProfiler… and cuptiProfilerHost…
 * functions that it needs) has user ranges, user replay and one nesting level. The chip is "sim100"
 * or "sim200". A range's value is the sum over the kernels, including nodes of graphs, that began
 * on its context's device between push and pop, whoever launched them. So without a synchronisation
 * before each push and pop, a kernel may not belong to the range that launched it. Elapsed time and
 * cycles are those between push and pop. Counters follow from a kernel's grid, block and duration
 * (core/counters.h), metrics and passes from counters (cupti/metrics.h). Once a range profiler was
 * started, kernels in the truth have "counters":{"sm__cycles_active.sum":N,…}. The n-th range of a
 * name in each pass is one range of the image. A metric whose counters are not all collected is
 * NaN. A range's name is the caller's until its next call. A wrong parameter returns
 * CUPTI_ERROR_INVALID_PARAMETER, a wrong order CUPTI_ERROR_INVALID_OPERATION, and any call before
 * cuptiProfilerInitialize CUPTI_ERROR_NOT_INITIALIZED, even where CUPTI would accept it.
 *
 * Differences from a real device:
 * - no code runs and no bytes move
 * - the default stream is an ordinary stream and never waits for other streams
 * - a captured stream is captured alone; among the calls that are forbidden meanwhile, only waiting
 *   for its context breaks the capture
 * - the nodes of a graph are on the stream of its launch
 * - contexts, streams and events are never freed
 * - kernels of kind KERNEL are not serialised
 *
 * Differences from CUPTI:
 * - records of all threads share one buffer at a time, or two
 * - a buffer that the client does not provide is counted; CUPTI before 12.9 would crash
 * - a flush from within a buffer callback is refused; CUPTI could deadlock
 * - the first runtime call is already traced
 * - no NVTX, SYNCHRONIZE and STATE callbacks, events and PC samples
 * - no automatic ranges, nested ranges, kernel or application replay, and no lists of metrics */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUfunc_st;

/* A kernel that runs for so many ns, for cudaLaunchKernel. One for each name; its name is CUPTI's
 * until it is unloaded. */
const void* cudasimKernel(const char* mangledName, uint64_t durationNs);
/* The same for cuLaunchKernel: a CUfunction. */
struct CUfunc_st* cudasimFunction(const char* mangledName, uint64_t durationNs);
/* A kernel that waits for the host, and for one stream what is behind it; until cudasimRelease(),
 * or for an hour. */
const void* cudasimHeldKernel(const char* mangledName);
void cudasimRelease(void);
/* As when its module is unloaded: CUPTI's pointers to its name now point to other bytes. */
void cudasimUnload(const void* kernel);

/* Sets the duration of the calling thread's next submitted work of any kind. */
void cudasimNextDuration(uint64_t durationNs);

/* The device (or the host) touches managed memory: a page fault and a migration, for CUPTI's
 * unified memory counters. */
void cudasimTouchManaged(void* address, size_t bytes, int byDevice);

/* The driver compiles PTX for so long, now, or in the calling thread's next launch: CUPTI's JIT
 * record. */
void cudasimCompile(uint64_t durationNs);
void cudasimCompileAtLaunch(uint64_t durationNs);

/* Everything that has happened is in the truth file: for programs that end by _exit or a signal. */
void cudasimFlushTruth(void);

#ifdef __cplusplus
}
#endif
