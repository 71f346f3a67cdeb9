// libnccl-profiler-sonde.so: NCCL's profiler plugin as a separate library, for programs that
// LD_PRELOAD does not reach. NCCL_PROFILER_PLUGIN=sonde makes NCCL load it. It has no recorder: it
// passes NCCL the plugin of libsonde_preload.so. It takes the copy in the process or else the one
// in its own folder, which records if the environment names a session (SONDE_SESSION). Without
// either it requests no events from NCCL.
//
// NCCL reads the six symbols after this library has been loaded, so the constructor fills them in.
#include "collector/core/platform/symbol_versions.h"

#include <dlfcn.h>
#include <nccl/err.h>
#include <nccl/profiler.h>
#include <string.h>

#include <cstdint>

namespace {

ncclResult_t beginWithoutFacts(void** context, int* mask) {
  *context = nullptr;
  *mask = 0;
  return ncclSuccess;
}
ncclResult_t begin4(
    void** context, int* mask, const char*, std::uint64_t, int, int, int, ncclDebugLogger_t) {
  return beginWithoutFacts(context, mask);
}
ncclResult_t begin5(
    void** context, std::uint64_t, int* mask, const char*, int, int, int, ncclDebugLogger_t) {
  return beginWithoutFacts(context, mask);
}
template <typename Descriptor>
ncclResult_t startEvent(void*, void** handle, Descriptor*) {
  *handle = nullptr;
  return ncclSuccess;
}
ncclResult_t stopEvent(void*) {
  return ncclSuccess;
}
template <typename Arguments>
ncclResult_t recordEventState(void*, ncclProfilerEventState_t, Arguments*) {
  return ncclSuccess;
}
ncclResult_t end(void*) {
  return ncclSuccess;
}

}  // namespace

// Variables: their names are not mangled even without extern "C".
#define SONDE_PLUGIN(version, begin)                                                     \
  [[gnu::visibility("default")]] ncclProfiler_v##version##_t ncclProfiler_v##version = { \
      "Sonde", begin, startEvent, stopEvent, recordEventState, end}
SONDE_PLUGIN(1, beginWithoutFacts);
SONDE_PLUGIN(2, beginWithoutFacts);
SONDE_PLUGIN(3, beginWithoutFacts);
SONDE_PLUGIN(4, begin4);
SONDE_PLUGIN(5, begin5);
SONDE_PLUGIN(6, begin5);

namespace {

constexpr char kRecorder[] = "libsonde_preload.so";

void* besideThis() {
  Dl_info own{};
  char path[4096];
  if (dladdr(reinterpret_cast<void*>(&besideThis), &own) == 0 || own.dli_fname == nullptr)
    return nullptr;
  const char* const slash = strrchr(own.dli_fname, '/');
  const std::size_t folder =
      slash == nullptr ? 0 : static_cast<std::size_t>(slash - own.dli_fname) + 1;
  if (folder + sizeof kRecorder > sizeof path)
    return nullptr;
  memcpy(path, own.dli_fname, folder);
  memcpy(path + folder, kRecorder, sizeof kRecorder);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

template <typename Plugin>
void take(void* recorder, const char* name, Plugin& plugin) {
  if (const void* const found = dlsym(recorder, name); found != nullptr)
    memcpy(&plugin, found, sizeof plugin);
}

__attribute__((constructor)) void findRecorder() {
  void* recorder = dlopen(kRecorder, RTLD_NOLOAD | RTLD_NOW);  // by its soname
  if (recorder == nullptr)
    recorder = besideThis();
  dlerror();
  if (recorder == nullptr)
    return;
  take(recorder, "ncclProfiler_v1", ncclProfiler_v1);
  take(recorder, "ncclProfiler_v2", ncclProfiler_v2);
  take(recorder, "ncclProfiler_v3", ncclProfiler_v3);
  take(recorder, "ncclProfiler_v4", ncclProfiler_v4);
  take(recorder, "ncclProfiler_v5", ncclProfiler_v5);
  take(recorder, "ncclProfiler_v6", ncclProfiler_v6);
}

}  // namespace
