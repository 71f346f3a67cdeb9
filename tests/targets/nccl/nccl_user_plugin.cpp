// A profiler plugin that NCCL finds by its default name; it prints a line.
#include <nccl/err.h>
#include <nccl/profiler.h>

#include <cstdint>
#include <cstdio>

namespace {

ncclResult_t begin(
    void**, std::uint64_t, int* mask, const char*, int, int, int, ncclDebugLogger_t) {
  *mask = 0;
  std::puts("the user's plugin");
  return ncclSuccess;
}
ncclResult_t start(void*, void** handle, ncclProfilerEventDescr_v6_t*) {
  *handle = nullptr;
  return ncclSuccess;
}
ncclResult_t stop(void*) {
  return ncclSuccess;
}
ncclResult_t reach(void*, ncclProfilerEventState_v6_t, ncclProfilerEventStateArgs_v6_t*) {
  return ncclSuccess;
}

}  // namespace

[[gnu::visibility("default")]] ncclProfiler_v6_t ncclProfiler_v6 = {
    "a user's", begin, start, stop, reach, stop};
