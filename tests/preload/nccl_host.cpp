#include "tests/preload/nccl_host.h"

#include <dlfcn.h>

#include <cstring>
#include <string>

namespace sonde::test {
namespace {

constexpr const char* kFunctions[] = {
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv", "Send", "Recv"};
constexpr const char* kAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};
constexpr const char* kTypes[] = {"ncclInt8",
                                  "ncclUint8",
                                  "ncclInt32",
                                  "ncclUint32",
                                  "ncclInt64",
                                  "ncclUint64",
                                  "ncclFloat16",
                                  "ncclFloat32",
                                  "ncclFloat64",
                                  "ncclBfloat16"};

template <std::size_t N>
std::uint8_t numberOf(const char* const (&words)[N], const char* word) {
  std::uint8_t number = 0;
  while (number < N && std::strcmp(words[number], word) != 0)
    ++number;
  return number;
}

// Versions from 2 on have words where version 1 has numbers.
template <std::size_t N>
void put(const char*& field, const char* const (&)[N], const char* word) {
  field = word;
}
template <std::size_t N>
void put(std::uint8_t& field, const char* const (&words)[N], const char* word) {
  field = numberOf(words, word);
}

template <typename Plugin, typename Descriptor, typename Arguments>
class Host : public NcclHost {
 public:
  explicit Host(Plugin& plugin) : plugin_(plugin) {}

  HostRank init(std::uint64_t hash, const char* name, int size, int rank) override {
    HostRank made{nullptr, 0, hash, size, rank};
    if constexpr (requires {
                    plugin_.init(&made.context, hash, &made.mask, name, 1, size, rank, nullptr);
                  })
      plugin_.init(&made.context, hash, &made.mask, name, 1, size, rank, nullptr);
    else if constexpr (requires {
                         plugin_.init(
                             &made.context, &made.mask, name, hash, 1, size, rank, nullptr);
                       })
      plugin_.init(&made.context, &made.mask, name, hash, 1, size, rank, nullptr);
    else
      plugin_.init(&made.context, &made.mask);
    return made;
  }
  void finalize(const HostRank& rank) override { plugin_.finalize(rank.context); }

  void* api(const HostRank& rank, bool graphCaptured) override {
    Descriptor event = make(rank, 0, nullptr);
    if constexpr (requires { event.collApi; }) {
      event.type = ncclProfileCollApi;
      event.collApi.graphCaptured = graphCaptured;
      return start(rank, event);
    }
    return nullptr;
  }
  void* group(const HostRank& rank) override {
    return start(rank, make(rank, ncclProfileGroup, nullptr));
  }

  void* collective(const HostRank& rank, const HostCall& call) override {
    Descriptor event = make(rank, ncclProfileColl, call.parent);
    fillIn(event.coll, rank, call);
    event.coll.seqNumber = call.number;
    event.coll.root = call.root;
    event.coll.sendBuff = call.send;
    event.coll.recvBuff = const_cast<void*>(call.receive);
    put(event.coll.algo, kAlgorithms, call.algorithm);
    put(event.coll.proto, kProtocols, call.protocol);
    if constexpr (requires { event.coll.nChannels; })
      event.coll.nChannels = call.channels;
    else
      event.coll.nMaxChannels = call.channels;
    if constexpr (requires { event.coll.trafficBytes; })
      event.coll.trafficBytes = call.count * 4 * static_cast<std::size_t>(rank.size);
    return start(rank, event);
  }

  void* peerCall(const HostRank& rank, const HostCall& call) override {
    Descriptor event = make(rank, ncclProfileP2p, call.parent);
    fillIn(event.p2p, rank, call);
    event.p2p.peer = call.peer;
    event.p2p.buff = const_cast<void*>(call.receive);
    return start(rank, event);
  }

  void* copyEngine(const HostRank& rank, const HostCall& call) override {
    Descriptor event = make(rank, 0, call.parent);
    if constexpr (requires { event.ceColl; }) {
      event.type = ncclProfileCeColl;
      event.ceColl.seqNumber = call.number;
      event.ceColl.func = call.function;
      event.ceColl.count = call.count;
      event.ceColl.datatype = call.datatype;
      return start(rank, event);
    }
    return nullptr;
  }

  void* proxyOp(const HostRank& rank, const HostProxyOp& op) override {
    Descriptor event = make(rank, ncclProfileProxyOp, op.parent);
    event.proxyOp.pid = op.pid;
    event.proxyOp.channelId = op.channel;
    event.proxyOp.peer = op.peer;
    event.proxyOp.nSteps = op.steps;
    event.proxyOp.chunkSize = op.chunkBytes;
    event.proxyOp.isSend = op.send;
    return start(rank, event);
  }

  void* proxyStep(const HostRank& rank, void* op, int step) override {
    Descriptor event = make(rank, ncclProfileProxyStep, op);
    event.proxyStep.step = step;
    return start(rank, event);
  }

  void* kernelChannel(const HostRank& rank, void* call, std::uint8_t channel) override {
    Descriptor event = make(rank, ncclProfileKernelCh, call);
    if constexpr (requires { event.kernelCh; }) {
      event.kernelCh.channelId = channel;
      return start(rank, event);
    }
    return nullptr;
  }

  void* network(const HostRank& rank, void* step, std::int64_t plugin, void* data) override {
    Descriptor event = make(rank, ncclProfileNetPlugin, step);
    if constexpr (requires { event.netPlugin; }) {
      event.netPlugin.id = plugin;
      event.netPlugin.data = data;
      return start(rank, event);
    }
    return nullptr;
  }

  void* unknown(const HostRank& rank) override { return start(rank, make(rank, 0, nullptr)); }

  void state(void* handle, ncclProfilerEventState_t state, std::size_t bytes) override {
    Arguments arguments{};
    if constexpr (requires { arguments.proxyStep; })
      arguments.proxyStep.transSize = bytes;
    plugin_.recordEventState(handle, state, &arguments);
  }
  void stop(void* handle) override { plugin_.stopEvent(handle); }

 private:
  Descriptor make(const HostRank& rank, int type, void* parent) {
    Descriptor event{};
    event.type = static_cast<decltype(event.type)>(type);
    event.parentObj = parent;
    event.rank = rank.rank;
    return event;
  }

  template <typename Call>
  void fillIn(Call& fields, const HostRank& rank, const HostCall& call) {
    put(fields.func, kFunctions, call.function);
    fields.count = call.count;
    put(fields.datatype, kTypes, call.datatype);
    if constexpr (requires { fields.commHash; })
      fields.commHash = rank.hash;
  }

  void* start(const HostRank& rank, Descriptor event) {
    void* handle = reinterpret_cast<void*>(-1);
    plugin_.startEvent(rank.context, &handle, &event);
    return handle;
  }

  Plugin& plugin_;
};

template <typename Plugin, typename Descriptor, typename Arguments>
std::unique_ptr<NcclHost> hostOf(void* symbol) {
  return std::make_unique<Host<Plugin, Descriptor, Arguments>>(*static_cast<Plugin*>(symbol));
}

}  // namespace

std::unique_ptr<NcclHost> NcclHost::open(int version, void* library) {
  void* const place = library == nullptr ? dlopen(nullptr, RTLD_NOW | RTLD_LOCAL) : library;
  const std::string name = "ncclProfiler_v" + std::to_string(version);
  void* const symbol = dlsym(place, name.c_str());
  if (symbol == nullptr)
    return nullptr;
#define HOST_OF(n)                                 \
  case n:                                          \
    return hostOf<ncclProfiler_v##n##_t,           \
                  ncclProfilerEventDescr_v##n##_t, \
                  ncclProfilerEventStateArgs_v##n##_t>(symbol)
  switch (version) {
    HOST_OF(1);
    HOST_OF(2);
    HOST_OF(3);
    HOST_OF(4);
    HOST_OF(5);
    HOST_OF(6);
    default:
      return nullptr;
  }
#undef HOST_OF
}

}  // namespace sonde::test
