/* A simulated CUDA device for tests: what programs need of it beside CUDA's own API.
 *
 * Stand-ins for libcuda.so.1, libcudart.so.N and libcupti.so.N, built against NVIDIA's headers, run
 * kernels of given durations, copies, sets, events and graphs on a timeline of their own, call
 * CUPTI's callbacks and hand out CUPTI's own records. Programs are compiled against cuda.h or
 * cuda_runtime_api.h and use the device as they would a real one; libcuda.so.sim, which the three
 * share, also has the functions below. The folders cuda12/ (as CUPTI 12.6) and cuda13/ (as 13.0)
 * differ in versions and in record layouts; put one of them first in LD_LIBRARY_PATH, or in a
 * program's RPATH.
 *
 * Environment (read once):
 * - CUDASIM_TRUTH=FILE: one line of JSON for each thing that happened, in ticks of CUPTI's clock;
 *   "traced":1 when CUPTI owes a record of it. See core/truth.h for what is written of lost records
 * - CUDASIM_DEVICES=N: devices, 2 without it
 * - CUDASIM_NO_DRIVER=1: as on a machine without a GPU: cuInit gives CUDA_ERROR_NO_DEVICE, whatever
 *   enables anything in CUPTI gives CUPTI_ERROR_UNKNOWN
 * - CUDASIM_CUPTI_VERSION=N: what cuptiGetVersion says
 * - CUDASIM_DROP_EVERY=N: CUPTI drops, and counts, every N-th record
 * - CUDASIM_CALLS_LAST=1: records of what the host does lie in a buffer of their own, which a flush
 *   hands over after that of the devices'
 * - CUDASIM_NO_UNIFIED_MEMORY=1: CUPTI cannot count unified memory
 * - CUDASIM_CORRELATION=N: CUPTI's first correlation is N + 1
 * - CUDASIM_NESTED_CALLS=1: cudaLaunchKernel calls cuLaunchKernel
 * - CUDASIM_HANG=NAME: the function of that name never returns; CUDASIM_FAIL=NAME: it fails
 * - CUDASIM_RANGE_ERROR=N: what cuptiRangeProfilerEnable gives; 35, insufficient privileges,
 *   is what it gives users who may not read counters
 * - CUDASIM_OTHER_CHIP=1: devices but the first are of another chip, which has other metrics
 * - CUDASIM_COUNTERS_PER_PASS=N: counters of sm__ and smsp__ that a pass has room for, 4 without it
 *
 * CUPTI's range profiler (cuptiRangeProfiler…, and of cuptiProfiler… and cuptiProfilerHost… what it
 * needs) has user ranges, user replay and one nesting level; the chip is "sim100", or "sim200". A
 * range's value is the sum over the kernels, nodes of graphs too, that began on its context's
 * device between push and pop, whoever launched them: without a synchronisation before each, a
 * kernel is not of the range that launched it. Time and cycles elapsed are those between push and
 * pop. Counters follow from a kernel's grid, block and duration (core/counters.h), metrics and
 * passes from counters (cupti/metrics.h). Once a range profiler was started, kernels in the truth
 * have "counters":{"sm__cycles_active.sum":N,…}. The n-th range of a name in each pass is one range
 * of the image; a metric whose counters are not all collected is NaN. A range's name is the
 * caller's until its next call. A wrong parameter is CUPTI_ERROR_INVALID_PARAMETER, a wrong order
 * CUPTI_ERROR_INVALID_OPERATION, anything before cuptiProfilerInitialize
 * CUPTI_ERROR_NOT_INITIALIZED, even where CUPTI would let it pass.
 *
 * What differs from a real device: no code runs and no bytes move; the default stream is a stream
 * like others and never waits for them; a captured stream is captured alone, and of the
 * calls that may not be made meanwhile only waiting for its context breaks the capture; the nodes
 * of a graph are on the stream of its launch; contexts, streams and events are never freed; kernels
 * of kind KERNEL are not serialised. Of CUPTI: records of all threads share one buffer at a time,
 * or two; a buffer that the client does not give is counted, where CUPTI before 12.9 would crash; a
 * call of a flush from within a buffer callback is refused, where it could deadlock; the first
 * runtime call is already traced; no NVTX, SYNCHRONIZE and STATE callbacks, events and PC samples;
 * no automatic ranges, nested ranges, kernel or application replay, and no lists of metrics. */
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

/* What the calling thread submits next takes so long, whatever it is. */
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
