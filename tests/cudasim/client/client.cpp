#include "tests/cudasim/client/client.h"

#include "tests/cudasim/client/decode.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

namespace cudasim_client {
namespace {

Cupti gCupti;
std::mutex gMutex;
std::vector<nlohmann::json> gRecords;
size_t gBuffers = 0;
std::atomic<size_t> gSize{0};

void request(uint8_t** buffer, size_t* size, size_t* limit) {
  *size = gSize;
  *buffer = *size ? static_cast<uint8_t*>(std::aligned_alloc(8, *size)) : nullptr;
  *limit = 0;
}

void complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard lock(gMutex);
  ++gBuffers;
  CUpti_Activity* record = nullptr;
  const uint8_t* expected = nullptr;
  while (gCupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    const auto* at = reinterpret_cast<const uint8_t*>(record);
    if (expected && at != expected) {
      gRecords.push_back({{"kind", "a record of another size than the header's"}});
    }
    const size_t size = sizeOf(record, gCupti.version);
    expected = size ? at + size : nullptr;
    gRecords.push_back(decode(record, gCupti.version));
  }
  std::free(buffer);
}

template <class Function>
void find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (!*function) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::abort();
  }
}

}  // namespace

const Cupti& load(int major) {
  if (gCupti.version) {
    return gCupti;
  }
  void* library = dlopen(("libcupti.so." + std::to_string(major)).c_str(), RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
#define CUDASIM_FIND(name) find(library, "cupti" #name, &gCupti.name);
  CUDASIM_CUPTI_FUNCTIONS(CUDASIM_FIND)
#undef CUDASIM_FIND
  gCupti.GetVersion(&gCupti.version);
  return gCupti;
}

void setBufferSize(size_t size) {
  gSize = size;
}

void listen(size_t size) {
  setBufferSize(size);
  gCupti.ActivityRegisterCallbacks(request, complete);
}

std::vector<nlohmann::json> takeRecords() {
  const std::lock_guard lock(gMutex);
  return std::exchange(gRecords, {});
}

size_t takeBuffers() {
  const std::lock_guard lock(gMutex);
  return std::exchange(gBuffers, 0);
}

}  // namespace cudasim_client
