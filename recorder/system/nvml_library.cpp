#include "recorder/system/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace sonde::recorder::system {
namespace {

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

void NvmlLibrary::bind() {
  find(handle_, "nvmlShutdown", shutdown_);
  find(handle_, "nvmlDeviceGetCount_v2", deviceGetCount);
  find(handle_, "nvmlDeviceGetHandleByIndex_v2", deviceGetHandleByIndex);
  find(handle_, "nvmlDeviceGetUUID", deviceGetUuid);
  find(handle_, "nvmlDeviceGetUtilizationRates", deviceGetUtilizationRates);
  find(handle_, "nvmlDeviceGetMemoryInfo", deviceGetMemoryInfo);
  find(handle_, "nvmlDeviceGetPowerUsage", deviceGetPowerUsage);
  find(handle_, "nvmlDeviceGetTemperature", deviceGetTemperature);
  find(handle_, "nvmlDeviceGetClockInfo", deviceGetClockInfo);
  find(handle_, "nvmlDeviceGetCurrentClocksThrottleReasons", deviceGetCurrentClocksThrottleReasons);
  find(handle_, "nvmlDeviceGetFieldValues", deviceGetFieldValues);
}

std::unique_ptr<NvmlLibrary> NvmlLibrary::open(std::string& whyNot) {
  void* const handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    whyNot = "there is no libnvidia-ml.so.1, which comes with NVIDIA's driver";
    return nullptr;
  }
  std::unique_ptr<NvmlLibrary> library(new NvmlLibrary(handle));
  library->bind();
  int (*start)() = nullptr;
  find(handle, "nvmlInit_v2", start);
  const int status = start == nullptr ? -1 : start();
  library->isStarted_ = status == kSuccess;
  if (library->isStarted_ && library->deviceGetCount != nullptr &&
      library->deviceGetHandleByIndex != nullptr && library->deviceGetUuid != nullptr)
    return library;
  whyNot = fmt::format("NVML cannot be initialised (status {})", status);
  return nullptr;
}

NvmlLibrary::~NvmlLibrary() {
  if (isStarted_ && shutdown_ != nullptr)
    shutdown_();
  ::dlclose(handle_);
}

}  // namespace sonde::recorder::system
