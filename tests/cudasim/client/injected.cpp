// Tests name it in CUDA_INJECTION64_PATH. It enables every kind that has records, and writes them
// at the end to CUDASIM_CLIENT_OUT, one line of JSON each. Then it writes one {"kind": "end"} with
// the results of enabling and the number of dropped records. CUDASIM_CLIENT_GRAPHS=1 also enables
// GRAPH_TRACE; CUDASIM_CLIENT_FLUSH=0 does not flush at the end.
#include "tests/cudasim/client/client.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

namespace {

using namespace cudasim_client;

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                         CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                         CUPTI_ACTIVITY_KIND_STREAM,
                                         CUPTI_ACTIVITY_KIND_CONTEXT,
                                         CUPTI_ACTIVITY_KIND_DEVICE,
                                         CUPTI_ACTIVITY_KIND_MEMORY2,
                                         CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                         CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                         CUPTI_ACTIVITY_KIND_JIT,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

CUptiResult gEnabled = CUPTI_SUCCESS;

bool is(const char* variable, const char* value) {
  const char* text = std::getenv(variable);
  return text && std::string(text) == value;
}

void finish() {
  const Cupti& cupti = load(0);
  if (!is("CUDASIM_CLIENT_FLUSH", "0")) {
    cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }
  size_t dropped = 0;
  cupti.ActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  std::ofstream out(std::getenv("CUDASIM_CLIENT_OUT"));
  for (const nlohmann::json& record : takeRecords()) {
    out << record << '\n';
  }
  out << nlohmann::json{{"kind", "end"},
                        {"enabled", gEnabled},
                        {"dropped", dropped},
                        {"version", cupti.version}}
      << '\n';
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  void* runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
  const Cupti& cupti = load(runtime ? 12 : 13);
  listen(1 << 20);
  cupti.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult result = cupti.ActivityEnable(kind);
    gEnabled = result != CUPTI_SUCCESS ? result : gEnabled;
  }
  if (is("CUDASIM_CLIENT_GRAPHS", "1")) {
    cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  }
  std::atexit(finish);
  return 1;
}
