// nccl_both VERSION CASE: calls NCCL's API, and the profiler interface reports these calls too.
// Rank 0 of two.
#include "collector/preload/nccl/nccl_hooks.h"
#include "tests/preload/nccl_host.h"
#include "tests/targets/host/own_control.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace sonde::preload::nccl;
using sonde::test::HostCall;
using sonde::test::HostRank;
using sonde::test::NcclHost;

class Rank {
 public:
  Rank(NcclHost& host, const Hooks& hooks) : host_(host), hooks_(hooks) {
    hooks_.created({&comm_, 0x77, 2, 0, false});
    rank_ = host_.init(0x77, "", 2, 0);
    captured_ = host_.api(rank_, true);
  }
  ~Rank() {
    host_.finalize(rank_);
    hooks_.gone(comm_, hooks_.goes(comm_), 0);
  }

  // Each as NCCL reports it inside the call. Returns the parent for proxies, which may come later.
  void* allReduce() {
    const ApiCall call = {"ncclAllReduce", 4, comm_, nullptr, nullptr, 1024, 7, -1, nullptr};
    return tell(call, [&](const HostCall& told) { return host_.collective(rank_, told); });
  }
  void* send() {
    const ApiCall call = {"ncclSend", 6, comm_, nullptr, nullptr, 1024, 7, 1, nullptr};
    return tell(call, [&](HostCall told) {
      told.function = "Send";
      told.peer = 1;
      return host_.peerCall(rank_, told);
    });
  }
  // No call of the group takes place.
  void groupThatFails() {
    hooks_.groupStarted();
    const ApiCall call = {"ncclAllReduce", 4, comm_, nullptr, nullptr, 1024, 7, -1, nullptr};
    hooks_.end(hooks_.begin(call), call, 0);
    hooks_.groupEnded(false);
  }
  void launchGraph() {
    HostCall told;
    told.parent = captured_;
    host_.stop(host_.collective(rank_, told));
  }
  void* startProxy(void* call) {
    return host_.proxyOp(rank_, {getpid(), 1, 0, 1, 4096, true, call});
  }
  void stopProxy(void* op) {
    host_.stop(host_.proxyStep(rank_, op, 0));
    host_.stop(op);
  }

 private:
  template <typename Event>
  void* tell(const ApiCall& call, Event event) {
    const OpenCall open = hooks_.begin(call);
    HostCall told;
    told.parent = host_.api(rank_, false);
    void* const made = event(told);
    host_.stop(made);
    hooks_.end(open, call, 0);
    return made;
  }

  NcclHost& host_;
  const Hooks& hooks_;
  HostRank rank_;
  void* const comm_ = &host_;
  void* captured_ = nullptr;
};

// Only events that begin while recording is on are recorded.
void paused(NcclHost&, Rank& rank) {
  sonde::wire::Gate& recording = sonde::test::ownControl()->recording;
  rank.allReduce();
  rank.send();
  rank.launchGraph();
  void* const before = rank.startProxy(rank.allReduce());
  recording.store(0);
  void* const meanwhile = rank.startProxy(rank.allReduce());
  void* const paused = rank.send();
  rank.groupThatFails();
  rank.launchGraph();
  rank.stopProxy(before);
  recording.store(sonde::wire::kGateOpen);
  rank.stopProxy(meanwhile);
  rank.stopProxy(rank.startProxy(paused));
  rank.stopProxy(rank.startProxy(rank.allReduce()));
  rank.send();
  rank.launchGraph();
}

// There is no room for the second one.
void full(NcclHost& host, Rank& rank) {
  rank.send();
  const HostRank other = host.init(0x78, "", 2, 0);
  std::vector<void*> open;
  for (std::uint32_t at = 0; at < 4096; ++at)
    open.push_back(host.collective(other, {}));
  rank.send();
  for (void* const call : open)
    host.stop(call);
  rank.send();
  host.finalize(other);
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(NcclHost&, Rank&)> cases = {{"paused", paused},
                                                                   {"full", full}};
  const auto find = reinterpret_cast<FindHooks>(dlsym(RTLD_DEFAULT, "sonde_nccl_hooks"));
  const std::unique_ptr<NcclHost> host = NcclHost::open(count > 1 ? std::atoi(words[1]) : 0);
  const auto found = cases.find(count > 2 ? words[2] : "");
  if (find == nullptr || host == nullptr || found == cases.end())
    return 2;
  static const Library library = {[](const void*, std::int32_t*, std::int32_t*) noexcept {}};
  Rank rank(*host, *find(kHooksVersion, &library));
  found->second(*host, rank);
  return 0;
}
