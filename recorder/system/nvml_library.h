// The functions of libnvidia-ml.so.1 that the sampler calls, found with dlopen(). NVIDIA has kept
// their names and parameters since driver 450 (2020), so its header is not needed. Loaded once; any
// thread may call the functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sonde::recorder::system {

class NvmlLibrary {
 public:
  using Device = struct NvmlDevice*;
  struct Utilization {
    unsigned gpu;     // percentage of time in which a kernel ran
    unsigned memory;  // percentage of time in which memory was read or written
  };
  struct Memory {
    unsigned long long total, free, used;
  };
  struct Field {
    std::uint32_t id;
    std::uint32_t scope;
    std::int64_t timestamp, latencyUs;
    int type, status;
    union {
      double real;
      unsigned natural;
      unsigned long long large;
      long long integer;
    } value;
  };
  enum class Clock { Multiprocessor = 1, Memory = 2 };
  static constexpr int kSuccess = 0;

  // nullptr: not available; `whyNot` is the reason.
  static std::unique_ptr<NvmlLibrary> open(std::string& whyNot);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // NVML's own names. nullptr: this version lacks the function.
  int (*deviceGetCount)(unsigned*) = nullptr;
  int (*deviceGetHandleByIndex)(unsigned, Device*) = nullptr;
  int (*deviceGetUuid)(Device, char*, unsigned) = nullptr;
  int (*deviceGetUtilizationRates)(Device, Utilization*) = nullptr;
  int (*deviceGetMemoryInfo)(Device, Memory*) = nullptr;
  int (*deviceGetPowerUsage)(Device, unsigned*) = nullptr;  // mW
  int (*deviceGetTemperature)(Device, int, unsigned*) = nullptr;
  int (*deviceGetClockInfo)(Device, int, unsigned*) = nullptr;  // MHz
  int (*deviceGetCurrentClocksThrottleReasons)(Device, unsigned long long*) = nullptr;
  int (*deviceGetFieldValues)(Device, int, Field*) = nullptr;

 private:
  explicit NvmlLibrary(void* handle) : handle_(handle) {}
  void bind();

  void* handle_;
  bool isStarted_ = false;
  int (*shutdown_)() = nullptr;
};

}  // namespace sonde::recorder::system
