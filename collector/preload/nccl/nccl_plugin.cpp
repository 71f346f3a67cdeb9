// ncclProfiler_v1 … ncclProfiler_v6: NCCL's profiler plugin. NCCL_PROFILER_PLUGIN=STATIC_PLUGIN
// makes NCCL look for it in the process itself. This file handles the interface's versions;
// nccl_events.h explains the events.
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/preload/nccl/nccl_api.h"
#include "collector/preload/nccl/nccl_calls.h"
#include "collector/preload/nccl/nccl_events.h"
#include "collector/preload/nccl/nccl_same_call.h"

#include <nccl/err.h>
#include <nccl/profiler.h>
#include <string.h>

#include <cstdlib>

namespace sonde::preload::nccl {
namespace {

bool isSource() noexcept {
  return core::attached() &&
         (core::gSpool.session->probeMask >> static_cast<int>(wire::Probe::Nccl) & 1) != 0;
}

// Kernel channels cost up to 10 % of a run, so they are recorded only on request.
int wantedEvents(int version) noexcept {
  int mask = ncclProfileColl | ncclProfileP2p | ncclProfileProxyOp | ncclProfileProxyStep;
  const char* const asked = std::getenv("SONDE_NCCL_KERNEL_CHANNELS");
  if (version >= 3)
    mask |= ncclProfileNetPlugin;
  if (version >= 3 && asked != nullptr && strcmp(asked, "1") == 0)
    mask |= ncclProfileKernelCh;
  return version >= 6 ? mask | ncclProfileCeColl : mask;
}

void* contextOf(Handle communicator) noexcept {
  return (communicator ? communicator : kLostCommunicator).opaque();
}

ncclResult_t begin(void** context,
                   int* mask,
                   const CommunicatorFacts& facts,
                   int version) noexcept {
  const bool source = isSource();
  if (source && version < 5)
    keepCalls();
  *context = source ? contextOf(addCommunicator(facts)) : nullptr;
  *mask = source ? wantedEvents(version) : 0;  // NCCL has one mask for all communicators
  return ncclSuccess;
}

// Fields that only some versions have. If init did not describe a communicator, its calls do.
template <typename Call>
void learnFrom(Handle handle, const Call& call, std::int32_t rank) noexcept {
  if constexpr (requires { call.commHash; }) {
    if (Communicator* const communicator = findCommunicator(handle); communicator != nullptr)
      learn(*communicator, call.commHash, rank);
  }
}

template <typename Call>
void fillInChannels(CallFacts& facts, const Call& call) noexcept {
  if constexpr (requires { call.nChannels; })
    facts.channels = call.nChannels;
  else if constexpr (requires { call.nMaxChannels; })
    facts.channels = call.nMaxChannels;
  if constexpr (requires { call.trafficBytes; })
    facts.trafficBytes = call.trafficBytes;
}

// From version 5 on the parent of a call is the called function of NCCL's API.
template <typename Descriptor>
Launch launchOf(const Descriptor& event) noexcept {
  const Handle parent = Handle::of(event.parentObj);
  if constexpr (requires { event.collApi; })
    return parent.kind != HandleKind::Api       ? Launch::Unknown
           : (parent.index & kApiCaptured) != 0 ? Launch::Graph
                                                : Launch::Direct;
  return Launch::Unknown;
}

// Before version 5 the parent is a group.
template <typename Descriptor>
Handle parentOf(const Descriptor& event) noexcept {
  const Handle parent = Handle::of(event.parentObj);
  return parent.kind == HandleKind::Api ? parent : Handle{};
}

template <typename Descriptor>
Handle startCollective(Handle communicator, const Descriptor& event) noexcept {
  learnFrom(communicator, event.coll, event.rank);
  CallFacts facts;
  facts.function = functionOf(event.coll.func);
  facts.count = event.coll.count;
  facts.element = elementType(event.coll.datatype);
  const bool rooted = facts.function != nullptr && hasRoot(facts.function->op);
  facts.root = rooted ? event.coll.root : -1;
  facts.algorithm = algorithmWord(event.coll.algo);
  facts.protocol = protocolWord(event.coll.proto);
  fillInChannels(facts, event.coll);
  facts.number = event.coll.seqNumber;
  facts.launch = launchOf(event);
  facts.parent = parentOf(event);
  facts.send = event.coll.sendBuff;
  facts.receive = event.coll.recvBuff;
  return startCall(communicator, facts);
}

template <typename Descriptor>
Handle startPeerCall(Handle communicator, const Descriptor& event) noexcept {
  learnFrom(communicator, event.p2p, event.rank);
  CallFacts facts;
  facts.function = functionOf(event.p2p.func);
  facts.count = event.p2p.count;
  facts.element = elementType(event.p2p.datatype);
  facts.peer = event.p2p.peer;
  fillInChannels(facts, event.p2p);
  facts.launch = launchOf(event);
  facts.parent = parentOf(event);
  const bool sends = facts.function != nullptr && facts.function->op == wire::CollectiveOp::Send;
  (sends ? facts.send : facts.receive) = event.p2p.buff;
  return peerTraffic(communicator, startCall(communicator, facts));
}

template <typename Descriptor>
Handle startCopyEngine(Handle communicator, const Descriptor& event) noexcept {
  CallFacts facts;
  facts.function = functionOf(event.ceColl.func);
  facts.count = event.ceColl.count;
  facts.element = elementType(event.ceColl.datatype);
  const bool rooted = facts.function != nullptr && hasRoot(facts.function->op);
  facts.root = rooted ? event.ceColl.root : -1;
  facts.algorithm = "CE";
  facts.byCopyEngine = true;
  facts.number = event.ceColl.seqNumber;
  facts.launch = launchOf(event);
  facts.parent = parentOf(event);
  return startCall(communicator, facts);
}

template <typename Descriptor>
Handle startOp(Handle communicator, const Descriptor& event) noexcept {
  return startProxyOp(communicator,
                      eventOf(event.parentObj),
                      {event.proxyOp.pid,
                       event.rank,
                       event.proxyOp.peer,
                       event.proxyOp.channelId,
                       event.proxyOp.chunkSize,
                       event.proxyOp.isSend != 0,
                       isPeerTraffic(Handle::of(event.parentObj))});
}

// The plugin's number determines the structure of `data` and its version.
void noteNetwork(Handle step, std::int64_t id, const void* data) noexcept {
  if (data == nullptr)
    return;
  const auto plugin = static_cast<std::uint32_t>(id);
  if (plugin == (NCCL_PROFILER_NET_TYPE_IB | NCCL_PROFILER_NET_IB_VER)) {
    const auto* const event = static_cast<const ncclProfilerNetIbDescr_v1_t*>(data);
    if (event->type == ncclProfileQp)
      addNetworkBytes(step, event->qp.length);
  } else if (plugin == (NCCL_PROFILER_NET_TYPE_SOCK | NCCL_PROFILER_NET_SOCKET_VER)) {
    const auto* const event = static_cast<const ncclProfilerNetSockDescr_v1_t*>(data);
    if (event->type == ncclProfileSocket)
      addNetworkBytes(step, event->sock.length);
  }
}

// Events of versions from 3, 5 and 6 on; Handle::None for an event that Sonde does not follow.
template <typename Descriptor>
Handle startNewer(Handle communicator, const Descriptor& event) noexcept {
  if constexpr (requires { event.kernelCh; }) {
    if (event.type == ncclProfileKernelCh)
      return startKernelChannel(communicator, eventOf(event.parentObj));
    if (event.type == ncclProfileNetPlugin)
      noteNetwork(Handle::of(event.parentObj), event.netPlugin.id, event.netPlugin.data);
  }
  if constexpr (requires { event.collApi; }) {
    if (event.type == ncclProfileCollApi)
      return startApi(communicator, event.collApi.graphCaptured);
    if (event.type == ncclProfileP2pApi)
      return startApi(communicator, event.p2pApi.graphCaptured);
  }
  if constexpr (requires { event.ceColl; }) {
    if (event.type == ncclProfileCeColl)
      return startCopyEngine(communicator, event);
  }
  return {};
}

template <typename Descriptor>
Handle startOf(Handle communicator, const Descriptor& event) noexcept {
  switch (event.type) {
    case ncclProfileColl:
      return startCollective(communicator, event);
    case ncclProfileP2p:
      return startPeerCall(communicator, event);
    case ncclProfileProxyOp:
      return startOp(communicator, event);
    case ncclProfileProxyStep:
      return startStep(Handle::of(event.parentObj), event.proxyStep.step);
    default:
      return startNewer(communicator, event);
  }
}

template <typename Descriptor>
ncclResult_t startEvent(void* context, void** handle, Descriptor* event) noexcept {
  *handle = startOf(Handle::of(context), *event).opaque();
  return ncclSuccess;
}

ncclResult_t stopEvent(void* handle) noexcept {
  stop(eventOf(handle));
  return ncclSuccess;
}

// `Arguments` may be missing; proxy steps have them from version 4 on.
template <typename Arguments>
ncclResult_t recordEventState(void* handle,
                              ncclProfilerEventState_t state,
                              Arguments* arguments) noexcept {
  std::int64_t bytes = -1;
  if constexpr (requires { arguments->proxyStep; }) {
    if (arguments != nullptr)
      bytes = static_cast<std::int64_t>(arguments->proxyStep.transSize);
  }
  const Handle step = Handle::of(handle);
  if (state == ncclProfilerProxyStepSendWait)
    reach(step, StepState::SendWait, bytes);
  else if (state == ncclProfilerProxyStepRecvWait)
    reach(step, StepState::ReceiveWait, bytes);
  else if (state == ncclProfilerProxyStepRecvFlushWait)
    reach(step, StepState::ReceiveFlushWait, bytes);
  else if (state == ncclProfilerProxyStepRecvGPUWait)
    reach(step, StepState::ReceiveDeviceWait, bytes);
  return ncclSuccess;
}

ncclResult_t end(void* context) noexcept {
  finalize(Handle::of(context));
  return ncclSuccess;
}

template <int kVersion>
ncclResult_t beginUntold(void** context, int* mask) noexcept {
  return begin(context, mask, {}, kVersion);
}

ncclResult_t begin4(void** context,
                    int* mask,
                    const char* name,
                    std::uint64_t hash,
                    int /*nodes*/,
                    int ranks,
                    int rank,
                    ncclDebugLogger_t) noexcept {
  return begin(context, mask, {name, hash, ranks, rank}, 4);
}

template <int kVersion>
ncclResult_t begin5(void** context,
                    std::uint64_t hash,
                    int* mask,
                    const char* name,
                    int /*nodes*/,
                    int ranks,
                    int rank,
                    ncclDebugLogger_t) noexcept {
  return begin(context, mask, {name, hash, ranks, rank}, kVersion);
}

}  // namespace
}  // namespace sonde::preload::nccl

namespace nccl = sonde::preload::nccl;

// Variables: their names are not mangled even without extern "C".
#define SONDE_PLUGIN(version, begin)                                                     \
  [[gnu::visibility("default")]] ncclProfiler_v##version##_t ncclProfiler_v##version = { \
      "Sonde", begin, nccl::startEvent, nccl::stopEvent, nccl::recordEventState, nccl::end}

SONDE_PLUGIN(1, nccl::beginUntold<1>);
SONDE_PLUGIN(2, nccl::beginUntold<2>);
SONDE_PLUGIN(3, nccl::beginUntold<3>);
SONDE_PLUGIN(4, nccl::begin4);
SONDE_PLUGIN(5, nccl::begin5<5>);
SONDE_PLUGIN(6, nccl::begin5<6>);
