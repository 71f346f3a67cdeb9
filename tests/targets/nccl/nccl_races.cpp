// nccl_races RACE: threads of NCCL and of the program that use one object at the same time. Prints
// the number of steps, or calls.
#include "collector/preload/nccl/nccl_hooks.h"
#include "tests/preload/nccl_host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sonde::preload::nccl;
using sonde::test::HostProxyOp;
using sonde::test::HostRank;
using sonde::test::NcclHost;

constexpr int kRounds = 50'000;
constexpr int kTellers = 4;
constexpr int kTold = 5'000;  // number of each

const Hooks& findHooks() {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  static const Library library = {[](const void*, std::int32_t* size, std::int32_t* rank) noexcept {
    *size = 2;
    *rank = 0;
  }};
  return *find(kHooksVersion, &library);
}

// A step begins while its operation stops and an object without steps takes its place.
void steps(NcclHost& host) {
  const HostRank rank = host.init(0x77, "", 2, 0);
  HostProxyOp facts;
  facts.pid = getpid();
  facts.peer = 1;
  std::atomic<void*> op{nullptr};
  std::atomic<bool> done{false};
  std::atomic<int> begun{0};
  std::thread proxy([&] {
    while (!done) {
      void* const step = host.proxyStep(rank, op, 0);
      begun += step != nullptr;
      host.stop(step);
    }
  });
  for (int round = 0; round < 4 * kRounds || begun < 1000; ++round) {
    op = host.proxyOp(rank, facts);
    host.stop(op);
    host.stop(host.kernelChannel(rank, nullptr, 0));
  }
  done = true;
  proxy.join();
  host.finalize(rank);
  std::printf("%d\n", begun.load());
}

// The plugin interface reports a communicator's call while another thread aborts the communicator.
void aborts(NcclHost& host) {
  const Hooks& hooks = findHooks();
  void* const comm = &host;
  std::atomic<bool> done{false};
  std::thread watchdog([&] {
    while (!done) {
      hooks.created({&comm, 0x77, 2, 0, false});
      hooks.gone(comm, hooks.goes(comm), 0);
    }
  });
  const ApiCall call = {"ncclAllReduce", 4, comm, nullptr, nullptr, 1, 7, -1, nullptr};
  for (int round = 0; round < kRounds / 2; ++round) {
    const HostRank rank = host.init(0x77, "", 2, 0);
    const OpenCall open = hooks.begin(call);
    host.api(rank, false);
    hooks.end(open, call, 0);
    host.finalize(rank);
  }
  done = true;
  watchdog.join();
  hooks.gone(comm, hooks.goes(comm), 0);
  std::printf("%d\n", kRounds / 2);
}

// Threads call at the same time, each in its own communicator. A version that does not identify
// calls reports their calls.
void tells(NcclHost& host) {
  const Hooks& hooks = findHooks();
  const auto teller = [&](std::uint64_t number) {
    static char comms[kTellers];
    void* const comm = &comms[number];
    hooks.created({&comm, number + 1, 2, 0, false});
    const HostRank rank = host.init(number + 1, "", 2, 0);
    const ApiCall call = {"ncclAllReduce", 4, comm, nullptr, nullptr, 1024, 7, -1, nullptr};
    for (int round = 0; round < kTold; ++round) {
      const OpenCall open = hooks.begin(call);
      host.stop(host.collective(rank, {}));
      hooks.end(open, call, 0);
    }
    host.finalize(rank);
    hooks.gone(comm, hooks.goes(comm), 0);
  };
  std::vector<std::thread> threads;
  for (std::uint64_t number = 0; number < kTellers; ++number)
    threads.emplace_back(teller, number);
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%d\n", kTellers * kTold);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(NcclHost&)> races = {
      {"steps", steps}, {"aborts", aborts}, {"tells", tells}};
  const std::string name = count > 1 ? words[1] : "";
  const std::unique_ptr<NcclHost> host = NcclHost::open(name == "tells" ? 4 : 6);
  const auto race = races.find(name);
  if (host == nullptr || race == races.end())
    return 2;
  race->second(*host);
  return 0;
}
