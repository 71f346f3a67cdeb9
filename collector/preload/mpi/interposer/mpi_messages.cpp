#include "collector/preload/mpi/interposer/mpi_messages.h"

namespace sonde::preload::mpi {
namespace {

// By handle. Only predefined types, because their handles always mean the same. They are few, so a
// search for a free place is short.
constexpr std::size_t kCached = 256;
static_assert(kCached >= 8 * kMaxDatatypes);
constinit Datatype gTypes[kCached] = {};

// Returns the type's place, or the free place for it.
Datatype& cachedAt(Handle handle) noexcept {
  std::size_t at = (handle * 0x9e37'79b9'7f4a'7c15U >> 32) % kCached;
  // If the table were full, which never happens, the last place would be reused.
  for (std::size_t step = 1;
       step < kCached && gTypes[at].handle != handle && gTypes[at].handle != 0;
       ++step)
    at = (at + 1) % kCached;
  return gTypes[at];
}

[[gnu::cold, gnu::noinline]] Datatype askDatatype(Handle handle) noexcept {
  static constinit RealMpi<int (*)(Word, std::int64_t*)> ask{"PMPI_Type_size_x"};
  std::int64_t bytes = 0;  // an MPI_Count
  if (handle == gSession.abi->noType || !ask.find(nullptr) || ask()(handle, &bytes) != kSuccess ||
      bytes < 0)
    bytes = 0;
  return {handle, wire::DataType::Unknown, static_cast<std::uint64_t>(bytes)};
}

bool isNobody(int peer) noexcept {
  return peer == gSession.abi->noProcess;
}

// Numbers a message with this peer.
void number(wire::Message& message, Communicator& communicator, int peer, Way way) noexcept {
  MessageCount* const count = countOf(communicator, peer, way, message.tag);
  message.ordinal = count == nullptr ? 0 : count->take(gSession.manyThreads);
  // If two messages do not overlap, the later one thus has the higher number.
  if (gSession.manyThreads)
    message.endTicks = now();
  if (isOff(communicator, count, way))
    message.header.detail |= wire::Message::kInexact;
}

bool address(wire::Message& message, Communicator& communicator, int peer) noexcept {
  if (!communicator.has(peer))
    return false;
  message.header.subject = channelTo(communicator, peer);
  return message.header.subject != 0;
}

bool lost() noexcept {
  gSession.hooks->lose(wire::RecordKind::Message, wire::LossReason::Definitions, 1);
  return false;
}

void takeNumber(Request& request, Way way) noexcept {
  MessageCount* const count = request.communicator->has(request.peer)
                                  ? countOf(*request.communicator, request.peer, way, request.tag)
                                  : nullptr;
  request.inexact = isOff(*request.communicator, count, way);
  request.number = count == nullptr ? 0 : count->take(gSession.manyThreads);
  request.numbered = true;
}

Way wayOf(const Request& request) noexcept {
  return request.kind == RequestKind::Send ? Way::Send : Way::Receive;
}

// A request that was cancelled or failed has taken a number that no message has.
void forget(const Request& request) noexcept {
  if (!request.numbered || !request.communicator->has(request.peer))
    return;
  if (MessageCount* const count =
          countOf(*request.communicator, request.peer, wayOf(request), request.tag);
      count != nullptr)
    count->spoil();
}

// MPICH 4 does not set the status of MPI_Isendrecv: it is that of another message.
bool isUntold(const Request& request) noexcept {
  return request.sends && gSession.abi->intHandles;
}

void recordSent(const Request& request, std::uint64_t endTicks) noexcept {
  wire::Message sent = request.sent;
  sent.endTicks = endTicks;
  gSession.hooks->message(sent);
}

}  // namespace

OpenCall openMessage(const Envelope& envelope,
                     Way way,
                     std::uint32_t name,
                     std::uint64_t begin,
                     const void* frame) noexcept {
  wire::Message message = messageOf({begin, 0}, name);
  Communicator* const communicator = knownCommunicator(gSession.abi->handle(envelope.communicator));
  const int peer = intOf(envelope.peer);
  if (communicator != nullptr && communicator->has(peer))
    message.header.subject = channelTo(*communicator, peer);
  message.header.detail = way == Way::Receive ? wire::Message::kReceive : 0;
  message.bytes = wire::Collective::kUnknownBytes;
  message.tag = intOf(envelope.tag);
  return gSession.hooks->sends(message, frame);
}

// Its number is the communicator's next one, unless another thread is faster.
OpenCall openCollective(Word communicator,
                        wire::CollectiveOp op,
                        std::uint32_t name,
                        std::uint64_t begin,
                        const void* frame) noexcept {
  const Communicator* const known = knownCommunicator(gSession.abi->handle(communicator));
  if (known == nullptr || known->id == 0)
    return gSession.hooks->waits(wire::SliceKind::Api, name, begin, frame);
  wire::Collective record{};
  record.header.subject = known->id;
  record.header.detail = static_cast<std::uint8_t>(op);
  record.beginTicks = begin;
  record.seq = known->seq.load(std::memory_order_relaxed);
  record.bytes = record.sendBytes = record.recvBytes = wire::Collective::kUnknownBytes;
  record.root = record.peer = -1;
  record.name = name;
  record.probe = wire::Probe::Mpi;
  return gSession.hooks->joins(record, frame);
}

OpenCall openWait(std::uint32_t name, std::uint64_t begin, const void* frame) noexcept {
  return gSession.hooks->waits(wire::SliceKind::Wait, name, begin, frame);
}

void prepareDatatypes() noexcept {
  for (const Datatype& type : gSession.abi->types) {
    if (type.handle != 0)
      cachedAt(type.handle) = type;
  }
}

Datatype datatypeOf(Word type) noexcept {
  const Handle handle = gSession.abi->handle(type);
  const Datatype& cached = cachedAt(handle);
  return __builtin_expect(cached.handle == handle, 1) ? cached : askDatatype(handle);
}

bool fillSent(wire::Message& message, const Envelope& to, std::uint64_t bytes) noexcept {
  const int peer = intOf(to.peer);
  if (isNobody(peer))
    return false;
  Communicator* const communicator = communicatorOf(gSession.abi->handle(to.communicator));
  if (communicator == nullptr || !address(message, *communicator, peer))
    return lost();
  message.bytes = bytes;
  message.tag = intOf(to.tag);
  number(message, *communicator, peer, Way::Send);
  return true;
}

bool fillReceived(wire::Message& message, const Envelope& from, const void* status) noexcept {
  if (isNobody(intOf(from.peer)))
    return false;
  const Received received = gSession.abi->received(status);
  Communicator* const communicator = communicatorOf(gSession.abi->handle(from.communicator));
  if (communicator == nullptr || !address(message, *communicator, received.source))
    return lost();
  message.header.detail = wire::Message::kReceive;
  if (intOf(from.peer) == gSession.abi->anySource || intOf(from.tag) == kAnyTag)
    message.header.detail |= wire::Message::kAnySource;
  message.bytes = received.bytes;
  message.tag = received.tag;
  number(message, *communicator, received.source, Way::Receive);
  return true;
}

bool postSend(Request& request, const Envelope& to, std::uint64_t bytes) noexcept {
  request.kind = RequestKind::Send;
  request.peer = intOf(to.peer);
  request.tag = intOf(to.tag);
  request.bytes = bytes;
  if (isNobody(request.peer))
    return false;
  request.communicator = communicatorOf(gSession.abi->handle(to.communicator));
  return request.communicator != nullptr || lost();
}

bool postReceive(Request& request, const Envelope& from) noexcept {
  request.kind = RequestKind::Receive;
  request.peer = intOf(from.peer);
  request.tag = intOf(from.tag);
  request.anySource = request.peer == gSession.abi->anySource || request.tag == kAnyTag;
  if (isNobody(request.peer))
    return false;
  request.communicator = communicatorOf(gSession.abi->handle(from.communicator));
  return request.communicator != nullptr || lost();
}

bool postBoth(Request& request, const Exchange& exchange) noexcept {
  if (isNobody(intOf(exchange.from.peer)))
    return postSend(request, exchange.to, exchange.sent);
  request.sends = fillSent(request.sent, exchange.to, exchange.sent);
  request.sent.beginTicks = request.begin;
  request.bytes = exchange.room;
  return postReceive(request, exchange.from);
}

Crossing crossingOf(const Request& request) noexcept {
  if (request.communicator == nullptr)
    return {};
  const Envelope envelope{
      static_cast<Word>(request.communicator->handle.load(std::memory_order_relaxed)),
      static_cast<Word>(request.peer),
      static_cast<Word>(request.tag)};
  if (request.kind == RequestKind::Send)
    return enterSend(envelope);
  return request.kind == RequestKind::Receive ? enterReceive(envelope, Settled::Later) : Crossing{};
}

void start(Request& request) noexcept {
  request.started = true;
  request.numbered = false;
  request.inexact = false;
  request.cancelled = false;
  if (request.kind == RequestKind::Send)
    takeNumber(request, Way::Send);
  else if (request.kind == RequestKind::Receive && !request.anySource)
    takeNumber(request, Way::Receive);
}

void finish(const Request& request, const void* status, std::uint64_t endTicks) noexcept {
  const Hooks& hooks = *gSession.hooks;
  if (request.kind == RequestKind::Collective) {
    if (request.recorded)
      hooks.collectiveEnd(request.collective.number, endTicks);
    return;
  }
  if (request.kind == RequestKind::Other)
    return request.made == 0 ? void() : addCommunicator(request.made, &request.place);
  if (request.sends)
    recordSent(request, endTicks);
  wire::Message message = messageOf({request.begin, endTicks}, 0);
  Received received{request.peer, request.tag, false, request.bytes};
  if (request.kind == RequestKind::Receive) {
    message.header.detail = wire::Message::kReceive;
    if (isUntold(request))
      message.header.detail |= wire::Message::kInexact;
    else
      received = gSession.abi->received(status);
    if (received.cancelled)
      return forget(request);
  } else if (request.cancelled && status != nullptr && gSession.abi->received(status).cancelled) {
    return;
  }
  if (!address(message, *request.communicator, received.source)) {
    if (received.source == gSession.abi->anySource)
      request.communicator->untold.store(true, std::memory_order_relaxed);
    lost();
    return;
  }
  message.bytes = received.bytes;
  message.tag = received.tag;
  message.header.detail |= request.anySource ? wire::Message::kAnySource : 0;
  if (request.numbered) {
    const Way way = wayOf(request);
    const MessageCount* const count =
        countOf(*request.communicator, received.source, way, received.tag);
    message.ordinal = request.number;
    if (request.inexact || isOff(*request.communicator, count, way))
      message.header.detail |= wire::Message::kInexact;
  } else {
    number(message, *request.communicator, received.source, Way::Receive);
    message.header.detail |= request.inexact ? wire::Message::kInexact : 0;
  }
  hooks.message(message);
}

void spoilNumbers(const Envelope& envelope, Way way) noexcept {
  Communicator* const communicator = knownCommunicator(gSession.abi->handle(envelope.communicator));
  const int peer = intOf(envelope.peer);
  if (communicator == nullptr || !communicator->has(peer) || intOf(envelope.tag) == kAnyTag)
    return;
  if (MessageCount* const count = countOf(*communicator, peer, way, intOf(envelope.tag));
      count != nullptr)
    count->spoil();
}

void prepareToCancel(Request& request) noexcept {
  if (request.kind != RequestKind::Send && request.kind != RequestKind::Receive)
    return;
  request.cancelled = true;
  forget(request);
}

void giveUp(const Request& request) noexcept {
  if (request.kind != RequestKind::Send && request.kind != RequestKind::Receive)
    return;
  forget(request);
  gSession.hooks->lose(
      wire::RecordKind::Message, wire::LossReason::Unbalanced, request.sends ? 2 : 1);
}

void keepRequest(Word place, const Request& request, std::uint64_t end) noexcept {
  const Handle handle = gSession.abi->handleAt(place, 0);
  if (!gSession.abi->isShared(handle)) {
    if (!addRequest(handle, request))
      gSession.hooks->lose(request.kind == RequestKind::Collective
                               ? wire::RecordKind::CollectivePart
                               : wire::RecordKind::Message,
                           wire::LossReason::Definitions,
                           1);
  } else if (request.kind == RequestKind::Receive) {
    giveUp(request);
  } else {
    finish(request, nullptr, end);
  }
}

bool postMatched(Request& request, const Envelope& from, const void* status) noexcept {
  const Received received = gSession.abi->received(status);
  if (!postReceive(request, from))
    return false;
  request.peer = received.source;
  request.tag = received.tag;
  takeNumber(request, Way::Receive);
  return true;
}

void keepMatched(Handle message, const Request& request) noexcept {
  if (!addRequest(message, request))
    lost();
}

bool takeMatched(const RequestId& message, Request& request) noexcept {
  Request* const found = findRequest(message);
  if (found == nullptr)
    return false;
  request = *found;  // its communicator may not be freed before the message is received
  removeRequest(*found);
  return true;
}

}  // namespace sonde::preload::mpi
