// nccl_hooks CASE: what libsonde_nccl.so tells the recorder of a program that does something odd.
#include "collector/preload/nccl/nccl_hooks.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <string>
#include <thread>

namespace {

using namespace sonde::preload::nccl;

const Hooks& findHooks() {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  static const Library library = {[](const void*, std::int32_t* size, std::int32_t* rank) noexcept {
    *size = 2;
    *rank = 0;
  }};
  return *find(kHooksVersion, &library);
}

void* gComm = &gComm;

void allReduce(const Hooks& hooks) {
  const ApiCall call = {"ncclAllReduce", 4, gComm, nullptr, nullptr, 1, 7, -1, nullptr};
  hooks.end(hooks.begin(call), call, 0);
}

// A thread ends in a group in which it was to make a communicator, in memory that goes with it. The
// next one has its state.
void threadEnds(const Hooks& hooks) {
  constexpr std::size_t kBytes = 4096;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::thread([&] {
    hooks.groupStarted();
    hooks.created({static_cast<void* const*>(memory), 0x77, 2, 0, false});
  }).join();
  munmap(memory, kBytes);
  std::thread([&] {
    hooks.groupStarted();
    hooks.groupEnded(true);
  }).join();
}

// The driver, for which all streams are captured, is loaded after the first call.
void driverComesLate(const Hooks& hooks) {
  allReduce(hooks);
  dlopen(SONDE_TARGETS "/libcaptures_all.so", RTLD_NOW | RTLD_GLOBAL);
  hooks.created({&gComm, 0x77, 2, 0, false});
  allReduce(hooks);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(const Hooks&)> cases = {{"threadends", threadEnds},
                                                               {"driver", driverComesLate}};
  const auto found = cases.find(count > 1 ? words[1] : "");
  if (found == cases.end())
    return 2;
  found->second(findHooks());
  return 0;
}
