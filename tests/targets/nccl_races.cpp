// nccl_races RACE: threads of NCCL's, and the program's, that come to one object at the same time.
#include "collector/preload/nccl/nccl_hooks.h"
#include "tests/preload/nccl_host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

namespace {

using namespace sonde::preload::nccl;
using sonde::test::HostProxyOp;
using sonde::test::HostRank;
using sonde::test::NcclHost;

constexpr int kRounds = 50'000;

// A step begins while its operation stops and something without steps gets its place.
void steps(NcclHost& host) {
  const HostRank rank = host.init(0x77, "", 2, 0);
  HostProxyOp facts;
  facts.pid = getpid();
  facts.peer = 1;
  std::atomic<void*> op{nullptr};
  std::atomic<bool> done{false};
  std::thread proxy([&] {
    while (!done)
      host.stop(host.proxyStep(rank, op, 0));
  });
  for (int round = 0; round < 4 * kRounds; ++round) {
    op = host.proxyOp(rank, facts);
    host.stop(op);
    host.stop(host.kernelChannel(rank, nullptr, 0));
  }
  done = true;
  proxy.join();
  host.finalize(rank);
}

// The plugin tells of a communicator's call while another thread aborts it.
void aborts(NcclHost& host) {
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  const Library library = {[](const void*, std::int32_t* size, std::int32_t* rank) noexcept {
    *size = 2;
    *rank = 0;
  }};
  const Hooks& hooks = *find(kHooksVersion, &library);
  void* const comm = &host;
  std::atomic<bool> done{false};
  std::thread watchdog([&] {
    while (!done) {
      hooks.created({&comm, 0x77, 2, 0, false});
      hooks.goes(comm);
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
  hooks.goes(comm);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(NcclHost&)> races = {{"steps", steps}, {"aborts", aborts}};
  const std::unique_ptr<NcclHost> host = NcclHost::open(6);
  const auto race = races.find(count > 1 ? words[1] : "");
  if (host == nullptr || race == races.end())
    return 2;
  race->second(*host);
  return 0;
}
