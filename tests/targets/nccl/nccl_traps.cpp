// nccl_traps VERSION TRAP: disorderly behaviour of NCCL towards a profiler plugin. Rank 0 of two.
// Prints facts that a test cannot see in the recording.
#include "plugins/api/sonde.h"
#include "tests/preload/nccl_host.h"

#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using sonde::test::HostCall;
using sonde::test::HostProxyOp;
using sonde::test::HostRank;
using sonde::test::NcclHost;

HostProxyOp sendUnder(void* parent) {
  return {getpid(), 1, 0, 1, 4096, true, parent};
}

void oneStep(NcclHost& host, const HostRank& rank, void* op, std::size_t bytes = 100) {
  void* const step = host.proxyStep(rank, op, 0);
  host.state(step, ncclProfilerProxyStepSendWait, bytes);
  host.stop(step);
}

void childStopsBeforeItsParent(NcclHost& host, const HostRank& rank) {
  void* const call = host.collective(rank, {});
  void* const op = host.proxyOp(rank, sendUnder(call));
  oneStep(host, rank, op);
  sonde_mark("before the last");
  host.stop(op);
  sonde_mark("after the last");
  host.stop(call);
}

// The step also outlives its operation.
void childrenStopAfterTheirParent(NcclHost& host, const HostRank& rank) {
  void* const call = host.collective(rank, {});
  void* const first = host.proxyOp(rank, sendUnder(call));
  host.stop(call);
  void* const second = host.proxyOp(rank, sendUnder(call));
  void* const step = host.proxyStep(rank, second, 5);
  host.stop(second);
  host.stop(step);
  sonde_mark("before the last");
  host.stop(first);
  sonde_mark("after the last");
}

void childNeverStops(NcclHost& host, const HostRank& rank) {
  void* const call = host.collective(rank, {});
  host.stop(call);
  void* const op = host.proxyOp(rank, sendUnder(call));
  host.stop(host.proxyOp(rank, sendUnder(call)));
  host.proxyStep(rank, op, 0);
}

void aborted(NcclHost& host, const HostRank& rank) {
  void* const call = host.collective(rank, {});
  void* const op = host.proxyOp(rank, sendUnder(call));
  oneStep(host, rank, op);
  host.stop(op);
  void* const step = host.proxyStep(rank, host.proxyOp(rank, sendUnder(nullptr)), 1);
  host.finalize(rank);
  host.stop(step);
  host.stop(call);
  host.collective(rank, {});
}

// Handles of another process may equal handles here.
void foreignParents(NcclHost& host, const HostRank& rank) {
  void* const call = host.collective(rank, {});
  host.stop(call);
  struct Foreign {
    void* parent;
    void* context;
    pid_t pid;
  };
  const Foreign foreigners[] = {{call, rank.context, getppid()},
                                {reinterpret_cast<void*>(0x10), &host, getppid()},
                                {call, rank.context, 1}};
  for (const Foreign& each : foreigners) {
    HostProxyOp op = sendUnder(each.parent);
    op.pid = each.pid;
    HostRank other = rank;
    other.context = each.context;
    void* const handle = host.proxyOp(other, op);
    oneStep(host, other, handle);
    host.stop(handle);
  }
}

// A collective and a send over the same channel to the same peer.
void lanes(NcclHost& host, const HostRank& rank) {
  HostCall send;
  send.function = "Send";
  send.peer = 1;
  for (void* const call : {host.collective(rank, {}), host.peerCall(rank, send)}) {
    host.stop(call);
    void* const op = host.proxyOp(rank, sendUnder(call));
    oneStep(host, rank, op);
    host.stop(op);
  }
}

// Another process creates one communicator after the other; the handles are Sonde's in that
// process.
void foreignGenerations(NcclHost& host, const HostRank& rank) {
  constexpr std::uint64_t kCommunicator = std::uint64_t{1} << 56 | 5;
  constexpr std::uint64_t kMade = 600;
  HostProxyOp op = sendUnder(nullptr);
  op.pid = getppid();
  HostRank other = rank;
  for (std::uint64_t made = 0; made < kMade; ++made) {
    other.context = std::bit_cast<void*>(kCommunicator | (2 * made + 1) << 24);
    for (op.channel = 0; op.channel < 64; ++op.channel) {
      void* const handle = host.proxyOp(other, op);
      if (op.channel == 0 && made % (kMade / 2) == kMade / 2 - 1)
        oneStep(host, other, handle);
      host.stop(handle);
    }
  }
}

void graph(NcclHost& host, const HostRank& rank) {
  HostCall call;
  call.number = 4;
  void* const captured = host.api(rank, true);
  host.stop(captured);
  for (int launch = 0; launch < 3; ++launch) {
    call.parent = captured;
    host.stop(host.collective(rank, call));
  }
  for (int launch = 0; launch < 2; ++launch) {
    call.parent = host.api(rank, false);
    host.stop(host.collective(rank, call));
    ++call.number;
  }
}

// NCCL's number counts only the direct calls so far.
void graphs(NcclHost& host, const HostRank& rank) {
  HostCall call;
  void* const captured = host.api(rank, true);
  const auto launch = [&](void* parent) {
    call.parent = parent;
    host.stop(host.collective(rank, call));
  };
  for (int at = 0; at < 33'000; ++at)
    launch(captured);
  for (; call.number < 4; ++call.number) {
    launch(host.api(rank, false));
    launch(captured);
  }
}

void nullParents(NcclHost& host, const HostRank& rank) {
  void* const op = host.proxyOp(rank, sendUnder(nullptr));
  oneStep(host, rank, op);
  host.stop(op);
  std::printf("%d", host.proxyStep(rank, nullptr, 0) != nullptr);
  std::printf("%d", host.unknown(rank) != nullptr);
  std::printf("%d", host.group(rank) != nullptr);
  HostRank nobody = rank;
  nobody.context = nullptr;
  std::printf("%d\n", host.collective(nobody, {}) != nullptr);
  host.state(nullptr, ncclProfilerProxyStepSendWait, 1);
  host.stop(nullptr);
  host.finalize(nobody);
}

void statesInAnyOrder(NcclHost& host, const HostRank& rank) {
  HostProxyOp operation = sendUnder(nullptr);
  operation.send = false;
  void* const op = host.proxyOp(rank, operation);
  void* const step = host.proxyStep(rank, op, 0);
  host.state(op, ncclProfilerProxyOpInProgress_v4, 1);
  host.state(step, ncclProfilerProxyStepRecvFlushWait, 64);
  sonde_mark("received");
  host.state(step, ncclProfilerProxyStepRecvGPUWait, 1);
  host.state(step, ncclProfilerProxyStepRecvWait, 1);
  host.stop(step);
  host.state(step, ncclProfilerProxyStepRecvWait, 7);
  host.stop(step);
  host.stop(op);
}

void poolExhausted(NcclHost& host, const HostRank& rank) {
  int given = 0;
  std::vector<void*> calls;
  for (int at = 0; at < 5000; ++at) {
    calls.push_back(host.collective(rank, {}));
    given += calls.back() != nullptr;
  }
  for (void* const call : calls)
    host.stop(call);
  void* const op = host.proxyOp(rank, sendUnder(calls[0]));
  int steps = 0;
  for (int at = 0; at < 40000; ++at)
    steps += host.proxyStep(rank, op, at) != nullptr;
  std::printf("%d %d %d\n", given, steps, host.collective(rank, {}) != nullptr);
}

void operationsExhausted(NcclHost& host, const HostRank& rank) {
  for (int at = 0; at < 20'000; ++at)
    oneStep(host, rank, host.proxyOp(rank, sendUnder(nullptr)));
}

// By then another call has its parent's place.
void lateChild(NcclHost& host, const HostRank& rank) {
  void* const first = host.collective(rank, {});
  host.stop(first);
  for (int at = 0; at < 4096; ++at)
    host.stop(host.collective(rank, {}));
  void* const op = host.proxyOp(rank, sendUnder(first));
  oneStep(host, rank, op);
  host.stop(op);
}

// Meanwhile more calls of another communicator begin and end than can be tracked at a time.
void outlivesMany(NcclHost& host, const HostRank& rank) {
  const HostRank other = host.init(0x78, "", 2, 0);
  const auto startOne = [&](const HostRank& of) {
    void* const call = host.collective(of, {});
    void* const op = host.proxyOp(of, sendUnder(call));
    host.stop(call);
    return op;
  };
  void* const lasting = startOne(rank);
  for (int at = 0; at < 9000; ++at)
    host.stop(startOne(other));
  oneStep(host, rank, lasting);
  host.stop(lasting);
  host.finalize(other);
}

void peers(NcclHost& host, const HostRank& rank) {
  for (const char* const function : {"Send", "Recv", "Send"}) {
    HostCall call;
    call.function = function;
    call.peer = 1;
    host.stop(host.peerCall(rank, call));
  }
}

void kernels(NcclHost& host, const HostRank& rank) {
  void* const call = host.collective(rank, {});
  host.stop(call);
  void* const op = host.proxyOp(rank, sendUnder(call));
  void* const kernel = host.kernelChannel(rank, call, 0);
  host.stop(op);
  sonde_mark("before the last");
  host.state(kernel, ncclProfilerKernelChStop, 12345);
  host.stop(kernel);
  sonde_mark("after the last");
}

void network(NcclHost& host, const HostRank& rank) {
  void* const op = host.proxyOp(rank, sendUnder(nullptr));
  void* const step = host.proxyStep(rank, op, 0);
  ncclProfilerNetSockDescr_v1_t socket{};
  socket.type = ncclProfileSocket;
  socket.sock.length = 300;
  ncclProfilerNetIbDescr_v1_t pair{};
  pair.type = ncclProfileQp;
  pair.qp.length = 33;
  host.stop(host.network(rank, step, NCCL_PROFILER_NET_TYPE_SOCK | 1, &socket));
  host.stop(host.network(rank, step, NCCL_PROFILER_NET_TYPE_IB | 1, &pair));
  host.stop(host.network(rank, step, NCCL_PROFILER_NET_TYPE_IB | 99, &pair));
  host.stop(host.network(rank, step, NCCL_PROFILER_NET_TYPE_IB | 1, nullptr));
  host.stop(step);
  host.stop(op);
}

// NCCL has one event mask for all of them.
void manyCommunicators(NcclHost& host, const HostRank& rank) {
  HostRank last = rank;
  int known = 0;
  for (std::uint64_t at = 0; at < 600; ++at) {
    last = host.init(0x1000 + at, "", 2, 0);
    known += last.context != nullptr;
  }
  std::printf("%d %d %d\n", known, last.mask == rank.mask, host.collective(last, {}) != nullptr);
}

void functions(NcclHost& host, const HostRank& rank) {
  for (const char* const function : {"AllGather", "ReduceScatter", "Broadcast", "Reduce"}) {
    HostCall call;
    call.function = function;
    call.root = 1;
    call.count = 10;
    host.stop(host.collective(rank, call));
  }
  host.stop(host.copyEngine(rank, {}));
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(NcclHost&, const HostRank&)> traps = {
      {"before", childStopsBeforeItsParent},
      {"after", childrenStopAfterTheirParent},
      {"never", childNeverStops},
      {"aborted", aborted},
      {"foreign", foreignParents},
      {"generations", foreignGenerations},
      {"lanes", lanes},
      {"graph", graph},
      {"graphs", graphs},
      {"unknown",
       [](NcclHost& host, const HostRank& rank) {
         HostCall call;
         call.function = "Scan";
         host.collective(rank, call);
       }},
      {"null", nullParents},
      {"states", statesInAnyOrder},
      {"exhausted", poolExhausted},
      {"operations", operationsExhausted},
      {"late", lateChild},
      {"outlives", outlivesMany},
      {"peers", peers},
      {"kernels", kernels},
      {"network", network},
      {"functions", functions},
      {"many", manyCommunicators},
      {"mask", [](NcclHost&, const HostRank& rank) {
         std::printf("%d %d\n", rank.mask, rank.context != nullptr);
       }}};
  const std::unique_ptr<NcclHost> host = NcclHost::open(count > 2 ? std::atoi(words[1]) : 0);
  const auto trap = traps.find(count > 2 ? words[2] : "");
  if (host == nullptr || trap == traps.end())
    return 2;
  const HostRank rank = host->init(0x77, "", 2, 0);
  trap->second(*host, rank);
  host->finalize(rank);
  return 0;
}
