#include "collector/preload/cuda/cupti/cupti_library.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/common/symbol_binder.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace sonde::preload::cupti {
namespace {

constexpr std::size_t kPathBytes = 1024;
constexpr int kOldestMajor = 12;
constexpr int kNewestMajor = 13;

struct Mapped {
  char cupti[kPathBytes];
  char runtime[kPathBytes];  // libcudart
};

void keepPath(char (&into)[kPathBytes], const char* path, const char* stem) noexcept {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  if (into[0] == '\0' && std::strncmp(name, stem, std::strlen(stem)) == 0 &&
      std::strlen(path) < kPathBytes)
    std::strcpy(into, path);
}

int look(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& mapped = *static_cast<Mapped*>(data);
  if (object->dlpi_name != nullptr) {
    keepPath(mapped.cupti, object->dlpi_name, "libcupti.so");
    keepPath(mapped.runtime, object->dlpi_name, "libcudart.so");
  }
  return 0;
}

// Opens nothing meanwhile: dl_iterate_phdr holds a lock.
Mapped findMapped() noexcept {
  Mapped mapped{};
  dl_iterate_phdr(look, &mapped);
  return mapped;
}

// The newest CUPTI version that the driver can serve.
int driverMajor() noexcept {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (driver == nullptr)
    return kNewestMajor;
  const auto version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int number = 0;
  if (version == nullptr || version(&number) != 0 || number <= 0)
    return kNewestMajor;
  const int major = number / 1000;
  return major < kNewestMajor ? major : kNewestMajor;
}

void* openIn(const char* folder, const char* below, int major) noexcept {
  char path[kPathBytes + 64];
  const int length = std::snprintf(path, sizeof path, "%s%s/libcupti.so.%d", folder, below, major);
  const bool fits = length > 0 && static_cast<std::size_t>(length) < sizeof path;
  return fits ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
}

void* openBeside(const char* library, int major) noexcept {
  char folder[kPathBytes];
  const char* const slash = std::strrchr(library, '/');
  if (slash == nullptr)
    return nullptr;
  const auto length = static_cast<std::size_t>(slash - library);
  std::memcpy(folder, library, length);
  folder[length] = '\0';
  // The runtime's own folder; the toolkit's extras; the neighbour in the wheel.
  for (const char* below : {"", "/../extras/CUPTI/lib64", "/../../cuda_cupti/lib"}) {
    if (void* const found = openIn(folder, below, major); found != nullptr)
      return found;
  }
  return nullptr;
}

void* openInToolkit(int major) noexcept {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"}) {
    const char* const folder = std::getenv(variable);
    if (folder == nullptr || *folder == '\0')
      continue;
    for (const char* below : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) {
      if (void* const found = openIn(folder, below, major); found != nullptr)
        return found;
    }
  }
  char name[32];
  std::snprintf(name, sizeof name, "libcupti.so.%d", major);
  if (void* const found = dlopen(name, RTLD_LAZY | RTLD_LOCAL); found != nullptr)
    return found;
  for (const char* below : {"/extras/CUPTI/lib64", "/lib64"}) {
    if (void* const found = openIn("/usr/local/cuda", below, major); found != nullptr)
      return found;
  }
  return nullptr;
}

}  // namespace

void* mappedLibrary() noexcept {
  const Mapped mapped = findMapped();
  return mapped.cupti[0] == '\0' ? nullptr : dlopen(mapped.cupti, RTLD_NOLOAD | RTLD_LAZY);
}

void* openLibrary() noexcept {
  if (void* const mapped = mappedLibrary(); mapped != nullptr)
    return mapped;
  const Mapped mapped = findMapped();
  for (int major = driverMajor(); major >= kOldestMajor; --major) {
    void* found = mapped.runtime[0] == '\0' ? nullptr : openBeside(mapped.runtime, major);
    if (found == nullptr)
      found = openInToolkit(major);
    if (found != nullptr)
      return found;
  }
  return nullptr;
}

const char* pathOf(const Api& api) noexcept {
  Dl_info found{};
  return dladdr(reinterpret_cast<void*>(api.getVersion), &found) != 0 && found.dli_fname != nullptr
             ? found.dli_fname
             : "";
}

bool bind(void* library, Api& api, const char*& missing) noexcept {
  const SymbolBinder one{library, missing};
  one("cuptiActivityConfigureUnifiedMemoryCounter", api.configureUnifiedMemory);
  return one("cuptiGetVersion", api.getVersion) &&
         one("cuptiGetResultString", api.getResultString) &&
         one("cuptiGetCallbackName", api.getCallbackName) && one("cuptiSubscribe", api.subscribe) &&
         one("cuptiUnsubscribe", api.unsubscribe) &&
         one("cuptiEnableCallback", api.enableCallback) &&
         one("cuptiEnableDomain", api.enableDomain) &&
         one("cuptiActivityRegisterCallbacks", api.registerCallbacks) &&
         one("cuptiActivityRegisterTimestampCallback", api.registerTimestampCallback) &&
         one("cuptiSetThreadIdType", api.setThreadIdType) &&
         one("cuptiActivityEnable", api.enable) && one("cuptiActivityDisable", api.disable) &&
         one("cuptiActivityEnableRuntimeApi", api.enableRuntimeApi) &&
         one("cuptiActivityEnableDriverApi", api.enableDriverApi) &&
         one("cuptiActivityFlushAll", api.flushAll) &&
         one("cuptiActivityFlushPeriod", api.flushPeriod) &&
         one("cuptiActivityGetNextRecord", api.getNextRecord) &&
         one("cuptiActivityGetNumDroppedRecords", api.getDroppedRecords);
}

}  // namespace sonde::preload::cupti
