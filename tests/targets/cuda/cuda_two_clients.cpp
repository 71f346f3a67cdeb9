// A client of CUPTI inside the program, like torch.profiler. Usage: cuda_two_clients
// before|middle|dlsym|unseen. It comes before CUDA is used, or after 100 kernels; or with a
// subscription function that it has looked up by hand; or before, with one that it has found
// without the loader's help, and does nothing with. Then 100 kernels run, and it prints the number
// of kernels that it got records of.
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

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

const char* at(const link_map& object, ElfW(Addr) address) {
  const auto* const known = reinterpret_cast<const char*>(object.l_ld);
  return known + (address - reinterpret_cast<ElfW(Addr)>(known));
}

// Finds the symbol in the library's own table. (The strings come after it.)
void* inTable(void* library, const char* name) {
  const link_map* object = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &object) != 0)
    return nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB)
      symbols = reinterpret_cast<const ElfW(Sym)*>(at(*object, entry->d_un.d_ptr));
    else if (entry->d_tag == DT_STRTAB)
      strings = at(*object, entry->d_un.d_ptr);
  }
  for (; reinterpret_cast<const char*>(symbols) < strings; ++symbols) {
    if (symbols->st_value != 0 && std::strcmp(strings + symbols->st_name, name) == 0)
      return const_cast<char*>(at(*object, object->l_addr + symbols->st_value));
  }
  return nullptr;
}

bool subscribe(void* (*find)(void* library, const char* name)) {
  void* const library = dlopen("libcupti.so." CUDA_MAJOR, RTLD_LAZY);
  const auto function =
      reinterpret_cast<decltype(&cuptiSubscribe)>(find(library, "cuptiSubscribe"));
  CUpti_SubscriberHandle subscriber = nullptr;
  return function != nullptr && function(&subscriber, ignore, nullptr) == CUPTI_SUCCESS;
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
  const std::string_view when = arguments[1];
  if (when == "unseen" && !subscribe(inTable))
    return 2;
  if (when == "middle" || when == "dlsym")
    launch("sondes");
  if (when == "dlsym" && !subscribe([](void* in, const char* name) { return dlsym(in, name); }))
    return 2;
  if (when != "unseen" && !begin())
    return 1;
  launch("theirs");
  if (when != "unseen") {
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityFlushAll(1);
  }
  std::printf("%d\n", gKernels.load());
  return 0;
}
