// nccl_ranks VERSION ring|tree: four ranks in this process reduce once over two channels in several
// chunks, as NCCL's proxies do over a network.
#include "plugins/api/sonde.h"
#include "tests/preload/nccl_host.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using sonde::test::HostCall;
using sonde::test::HostProxyOp;
using sonde::test::HostRank;
using sonde::test::NcclHost;

constexpr int kRanks = 4;
constexpr int kChannels = 2;
constexpr int kChunks = 3;
constexpr int kChunkBytes = 8192;

// A stream of steps from one rank to another.
struct Edge {
  int from;
  int to;
  int steps;
};

std::vector<Edge> ring() {
  std::vector<Edge> edges;
  for (int rank = 0; rank < kRanks; ++rank)
    edges.push_back({rank, (rank + 1) % kRanks, 2 * (kRanks - 1) * kChunks});
  return edges;
}

// The two trees of a double binary tree; each rank is inside one of them. Sums go up, the result
// goes down.
std::vector<Edge> tree(int channel) {
  const int parents[kChannels][kRanks] = {{-1, 0, 1, 1}, {2, 2, 3, -1}};
  std::vector<Edge> edges;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (const int parent = parents[channel][rank]; parent >= 0) {
      edges.push_back({rank, parent, kChunks});
      edges.push_back({parent, rank, kChunks});
    }
  }
  return edges;
}

struct Transport {
  void* send;
  void* receive;
};

// The last chunk of an edge is a shorter one.
std::size_t bytesOf(const Edge& edge, int step) {
  return step + 1 == edge.steps ? kChunkBytes / 2 : kChunkBytes;
}

void move(NcclHost& host,
          const std::vector<HostRank>& ranks,
          const Edge& edge,
          const Transport& ops,
          int step) {
  void* const receive = host.proxyStep(ranks[edge.to], ops.receive, step);
  host.state(receive, ncclProfilerProxyStepRecvWait, 1);
  void* const send = host.proxyStep(ranks[edge.from], ops.send, step);
  host.state(send, ncclProfilerProxyStepSendGPUWait, 1);
  host.state(send, ncclProfilerProxyStepSendPeerWait_v4, 1);
  host.state(send, ncclProfilerProxyStepSendWait, bytesOf(edge, step));
  host.stop(send);
  host.state(receive, ncclProfilerProxyStepRecvFlushWait, bytesOf(edge, step));
  host.state(receive, ncclProfilerProxyStepRecvGPUWait, bytesOf(edge, step));
  host.stop(receive);
}

void runChannel(NcclHost& host,
                const std::vector<HostRank>& ranks,
                const std::vector<void*>& calls,
                const std::vector<Edge>& edges,
                std::uint8_t channel) {
  std::vector<Transport> ops;
  for (const Edge& edge : edges) {
    HostProxyOp op{getpid(), edge.to, channel, edge.steps, kChunkBytes, true, calls[edge.from]};
    Transport transport{host.proxyOp(ranks[edge.from], op), nullptr};
    op.peer = edge.from;
    op.send = false;
    op.parent = calls[edge.to];
    transport.receive = host.proxyOp(ranks[edge.to], op);
    ops.push_back(transport);
  }
  for (std::size_t at = 0; at < edges.size(); ++at) {
    for (int step = 0; step < edges[at].steps; ++step)
      move(host, ranks, edges[at], ops[at], step);
  }
  if (channel + 1 == kChannels)
    sonde_mark("before the last");
  for (const Transport& transport : ops) {
    host.stop(transport.send);
    host.stop(transport.receive);
  }
}

// The host thread's part of one call; the proxies come later.
void* enqueue(NcclHost& host, const HostRank& rank, const HostCall& base) {
  void* const api = host.api(rank, false);
  void* const group = host.group(rank);
  HostCall call = base;
  call.parent = api != nullptr ? api : group;
  void* const handle = host.collective(rank, call);
  host.stop(handle);
  host.stop(group);
  host.stop(api);
  return handle;
}

}  // namespace

int main(int count, char** words) {
  const std::unique_ptr<NcclHost> host = NcclHost::open(count > 1 ? std::atoi(words[1]) : 0);
  if (host == nullptr || count < 3)
    return 2;
  const bool isRing = std::strcmp(words[2], "ring") == 0;
  std::vector<HostRank> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.push_back(host->init(0xabcdef, "data", kRanks, rank));
  HostCall call;
  call.number = 7;
  call.count = 10000;
  call.algorithm = isRing ? "RING" : "TREE";
  call.protocol = isRing ? "SIMPLE" : "LL128";
  std::vector<void*> calls;
  for (const HostRank& rank : ranks)
    calls.push_back(enqueue(*host, rank, call));
  sonde_mark("enqueued");
  for (std::uint8_t channel = 0; channel < kChannels; ++channel)
    runChannel(*host, ranks, calls, isRing ? ring() : tree(channel), channel);
  sonde_mark("after the last");
  for (const HostRank& rank : ranks)
    host->finalize(rank);
  return 0;
}
