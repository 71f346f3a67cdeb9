// A libnvidia-ml.so.1 with two GPUs for tests, with fixed values. The second GPU has no NVLink and
// does not report its power.
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;

struct Gpu {
  int number;
  unsigned long long reads = 0;  // of its fields
};
Gpu gGpus[] = {{0}, {1}};

Gpu& gpuOf(void* device) {
  return *static_cast<Gpu*>(device);
}

struct Field {
  std::uint32_t id;
  std::uint32_t scope;
  std::int64_t timestamp, latencyUs;
  int type, status;
  unsigned long long value;
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return kSuccess;
}
int nvmlShutdown() {
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gGpus[index];
  return kSuccess;
}
// The same names as the simulated CUDA device's.
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-50515253-5455-5657-5859-5a5b5c5d5e%02x", gpuOf(device).number);
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[0] = gpuOf(device).number == 0 ? 75 : 0;
  rates[1] = 20;
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* /*device*/, unsigned long long* memory) {
  memory[0] = 80ULL << 30;
  memory[1] = 60ULL << 30;
  memory[2] = 20ULL << 30;
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 312'500;
  return gpuOf(device).number == 0 ? kSuccess : kNotSupported;
}
int nvmlDeviceGetTemperature(void* /*device*/, int /*sensor*/, unsigned* degrees) {
  *degrees = 61;
  return kSuccess;
}
int nvmlDeviceGetClockInfo(void* /*device*/, int clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1980 : 3201;
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* reasons) {
  *reasons = 0x4;
  return kSuccess;
}
int nvmlDeviceGetFieldValues(void* device, int count, Field* fields) {
  Gpu& gpu = gpuOf(device);
  ++gpu.reads;
  for (int i = 0; i < count; ++i) {
    Field& field = fields[i];
    const bool isNvlink = field.id == 138 || field.id == 139;
    field.type = 3;
    field.status = isNvlink && gpu.number == 1 ? kNotSupported : kSuccess;
    field.value = 1000 * gpu.reads + field.id;
  }
  return kSuccess;
}
}
