// nccl_hooks CASE: libsonde_nccl.so's reports to the recorder about unusual programs.
#include "collector/preload/nccl/nccl_hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sonde::preload::nccl;

// NCCL's behaviour and answer when it is asked about a communicator.
std::function<void()> gAsked = [] {};
std::int32_t gSize = 2;

const Hooks& findHooks() {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  static const Library library = {[](const void*, std::int32_t* size, std::int32_t* rank) noexcept {
    gAsked();
    *size = gSize;
    *rank = 0;
  }};
  return *find(kHooksVersion, &library);
}

void* gComm = &gComm;
const ApiCall kCall = {"ncclAllReduce", 4, gComm, nullptr, nullptr, 1, 7, -1, nullptr};

void allReduce(const Hooks& hooks) {
  hooks.end(hooks.begin(kCall), kCall, 0);
}

void destroy(const Hooks& hooks) {
  hooks.gone(gComm, hooks.goes(gComm), 0);
}

// A thread ends inside a group in which it was to create a communicator, in memory that is freed
// with it. The next thread gets its state.
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

// The driver, for which all streams are being captured, is loaded after the first call.
void driverComesLate(const Hooks& hooks) {
  allReduce(hooks);
  dlopen(SONDE_TARGETS "/libcaptures_all.so", RTLD_NOW | RTLD_GLOBAL);
  hooks.created({&gComm, 0x77, 2, 0, false});
  allReduce(hooks);
}

// Counts how often NCCL is asked; its answers are never sufficient.
void asks(const Hooks& hooks) {
  constexpr int kInvalid = 4;
  constexpr int kInProgress = 7;
  int asked = 0;
  gAsked = [&] { ++asked; };
  gSize = 0;
  for (const int result : {kInvalid, kInProgress, 0}) {
    hooks.end(hooks.begin(kCall), kCall, result);  // for an unknown call
    std::printf("%d ", asked);
    destroy(hooks);
  }
  hooks.created({&gComm, 0x77, 0, -1, false});
  const OpenCall open = hooks.begin(kCall);
  std::printf("%d ", asked);
  const std::uint64_t known = hooks.goes(gComm);
  hooks.end(open, kCall, 0);
  std::printf("%d\n", asked);
  hooks.gone(gComm, known, 0);
}

// Another thread destroys the communicator as a call of it begins.
void goesMeanwhile(const Hooks& hooks) {
  hooks.created({&gComm, 0x77, 0, -1, false});
  gAsked = [&] { destroy(hooks); };
  allReduce(hooks);
}

// As many threads as there is room for, plus one.
void manyThreads(const Hooks& hooks) {
  constexpr int kMost = 4096 - 1;  // this thread also has room
  hooks.groupStarted();
  std::vector<pthread_t> threads(kMost);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  static const Hooks* const all = &hooks;
  static std::atomic<int> started{0};
  static std::atomic<bool> done{false};
  for (pthread_t& thread : threads) {
    const auto wait = [](void*) -> void* {
      all->groupStarted();
      ++started;
      done.wait(false);
      return nullptr;
    };
    if (pthread_create(&thread, &small, wait, nullptr) != 0)
      std::exit(3);
    // One after the other: many at once may temporarily find no room.
    while (started <= &thread - threads.data())
      std::this_thread::yield();
  }
  std::thread([&] {
    void* nothing = nullptr;
    hooks.groupStarted();
    hooks.created({&nothing, 0x77, 2, 0, false});
    hooks.endOther(hooks.beginOther("ncclCommFinalize"), "ncclCommFinalize", 0);
    allReduce(hooks);
  }).join();
  done = true;
  done.notify_all();
  for (const pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(const Hooks&)> cases = {{"threadends", threadEnds},
                                                               {"driver", driverComesLate},
                                                               {"asks", asks},
                                                               {"goes", goesMeanwhile},
                                                               {"threads", manyThreads}};
  const auto found = cases.find(count > 1 ? words[1] : "");
  if (found == cases.end())
    return 2;
  found->second(findHooks());
  return 0;
}
