// A client of CUPTI inside the program, as torch.profiler is one. Usage: cuda_two_clients
// before|middle|dlsym: it comes before CUDA is used, or after 100 kernels, with a subscription that
// it has looked up by hand. Then 100 kernels run, and it prints how many of them it was told of.
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kBytes = 1 << 20;
std::atomic<int> gKernels{0};

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
  *size = kBytes;
  *records = 0;
}

void CUPTIAPI
complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    gKernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? 1 : 0;
  std::free(buffer);
}

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

bool subscribe() {
  void* const library = dlopen("libcupti.so." CUDA_MAJOR, RTLD_LAZY);
  const auto function =
      reinterpret_cast<decltype(&cuptiSubscribe)>(dlsym(library, "cuptiSubscribe"));
  CUpti_SubscriberHandle subscriber = nullptr;
  return function(&subscriber, ignore, nullptr) == CUPTI_SUCCESS;
}

bool begin() {
  return cuptiActivityRegisterCallbacks(request, complete) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
}

void launch(const char* name) {
  for (int count = 0; count < 100; ++count)
    cudaLaunchKernel(cudasimKernel(name, 1000), dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr);
  cudaDeviceSynchronize();
}

}  // namespace

int main(int, char** arguments) {
  const bool before = std::strcmp(arguments[1], "before") == 0;
  if (!before)
    launch("sondes");
  if (std::strcmp(arguments[1], "dlsym") == 0 && !subscribe())
    return 2;
  if (!begin())
    return 1;
  launch("theirs");
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityFlushAll(1);
  std::printf("%d\n", gKernels.load());
  return 0;
}
