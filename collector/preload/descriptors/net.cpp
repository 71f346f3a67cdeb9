#include "collector/preload/descriptors/net.h"

#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/platform/syscalls.h"
#include "collector/core/spool.h"
#include "collector/core/thread_state.h"
#include "collector/core/vfork.h"
#include "collector/preload/descriptors/fd_calls.h"
#include "collector/preload/descriptors/net_socket.h"

#include <sys/mman.h>

namespace sonde::preload {
namespace {

using core::rawSyscall;
using wire::Probe;

// The channel of an endpoint in this process image's spool. `key`: the generations of the endpoint
// and of the image; with any other key the cell is ignored.
struct ChannelCell {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint32_t> id;
  std::atomic<std::uint32_t> defining;  // generation of the image that is defining it
};

ChannelCell* gChannels;

constexpr int kPatience =
    200;  // yields until a thread that was stopped while it defined a channel is given up

// Returns 0 if the spool has no room for it. Also returns 0 if the TCP socket is not connected yet
// and no byte was moved: its ends have no names before.
std::uint32_t define(const FdTransfer& transfer) noexcept {
  const ChannelNames names = namesOf(transfer.fd,
                                     transfer.entry.kind(),
                                     transfer.endpoint->peerInode.load(std::memory_order_relaxed));
  const bool moved = transfer.endTicks != 0;
  if (!moved && transfer.entry.kind() == FdKind::Tcp && names.remote[0] == '\0')
    return 0;
  const bool inherited =
      transfer.endpoint->inherited || transfer.endpoint->lineage != fd_endpoints::lineage();
  const wire::ChannelKind kind = transfer.entry.kind() == FdKind::Tcp    ? wire::ChannelKind::Tcp
                                 : transfer.entry.kind() == FdKind::Unix ? wire::ChannelKind::Unix
                                                                         : wire::ChannelKind::Pipe;
  return core::defineChannel(
      kind, inherited ? wire::ChannelDefinition::kInherited : 0, names.local, names.remote);
}

// One thread defines a channel. Another thread that needs it meanwhile waits briefly; the two
// directions often begin together. It waits only briefly because its own signal handler may have
// interrupted the first thread. Returns 0 if there is no room now; a later transfer tries again.
std::uint32_t channelOf(const FdTransfer& transfer) noexcept {
  const std::uint32_t image = core::imageGeneration();
  if (image == 0)
    return 0;
  ChannelCell& cell = gChannels[transfer.entry.index()];
  const std::uint64_t key = std::uint64_t{image} << 32 | transfer.entry.generation();
  for (int tries = 0; tries < kPatience; ++tries) {
    if (cell.key.load(std::memory_order_acquire) == key)
      return cell.id.load(std::memory_order_relaxed);
    if (core::isFull(core::gSpool))
      return 0;
    std::uint32_t at = cell.defining.load(std::memory_order_relaxed);
    if (at == image ||
        !cell.defining.compare_exchange_strong(at, image, std::memory_order_acquire)) {
      rawSyscall(SYS_sched_yield);
      continue;
    }
    const bool known = cell.key.load(std::memory_order_acquire) == key;
    const std::uint32_t id = known ? cell.id.load(std::memory_order_relaxed) : define(transfer);
    if (!known && id != 0) {
      cell.id.store(id, std::memory_order_relaxed);
      cell.key.store(key, std::memory_order_release);
    }
    cell.defining.store(0, std::memory_order_release);
    return id;
  }
  return define(transfer);
}

wire::Transfer recordOf(const FdTransfer& transfer) noexcept {
  wire::Transfer record{};
  record.header.subject = channelOf(transfer);
  record.header.detail =
      static_cast<std::uint8_t>((transfer.way == Way::Receive ? wire::Transfer::kReceive : 0) |
                                (transfer.exact ? 0 : wire::Transfer::kInexact));
  record.beginTicks = transfer.beginTicks;
  record.endTicks = transfer.endTicks;
  record.offset = transfer.offset;
  record.bytes = transfer.bytes;
  return record;
}

core::OpenCall begun(const FdTransfer& transfer, const void* frame) {
  if (!core::enabled(Probe::Net) || core::inNotedVforkChild())
    return {};
  const wire::Transfer record = recordOf(transfer);
  return record.header.subject == 0 ? core::OpenCall{}
                                    : core::openCall(record, wire::RecordKind::Transfer, frame);
}

void transferred(const FdTransfer& transfer) {
  // The bytes of a vfork child have been counted, but its record would be attributed to the parent.
  if (!core::admits(Probe::Net) || core::inNotedVforkChild())
    return;
  const wire::Transfer record = recordOf(transfer);
  if (record.header.subject == 0)
    core::countLoss(Probe::Net, wire::RecordKind::Transfer, wire::LossReason::Definitions);
  else
    core::emitTransfer(record, Probe::Net);
}

// Bytes bypassed the wrappers. An empty, inexact transfer marks the offset where the count becomes
// unreliable.
void noteBypass(int fd, FdEntry entry, Endpoint& endpoint, Way way) noexcept {
  Direction& direction = endpoint.ways[static_cast<int>(way)];
  if (direction.inexact.exchange(1, std::memory_order_relaxed) != 0)
    return;
  const std::uint64_t now = core::ticks();
  transferred({fd,
               entry,
               &endpoint,
               way,
               now,
               now,
               direction.offset.load(std::memory_order_relaxed),
               0,
               false});
}

bool agrees(std::uint64_t kernel, std::uint64_t counted, bool ended) noexcept {
  return kernel == counted || (ended && kernel == counted + 1);
}

bool isQuiet(const Endpoint& endpoint) {
  return endpoint.ways[static_cast<int>(Way::Send)].running.load(std::memory_order_acquire) == 0 &&
         endpoint.ways[static_cast<int>(Way::Receive)].running.load(std::memory_order_acquire) == 0;
}

void closingTcp(int fd, FdEntry entry, Endpoint& endpoint) {
  const Direction& sends = endpoint.ways[static_cast<int>(Way::Send)];
  const Direction& receives = endpoint.ways[static_cast<int>(Way::Receive)];
  const std::uint64_t sent = sends.offset.load(std::memory_order_acquire);
  const std::uint64_t received = receives.offset.load(std::memory_order_acquire);
  TcpTotals totals{};
  // Another process or thread may also use the connection; the bytes that it moves are not a
  // bypass.
  if (!isQuiet(endpoint) || !readTcpTotals(fd, totals) || !isQuiet(endpoint) ||
      sends.offset.load(std::memory_order_acquire) != sent ||
      receives.offset.load(std::memory_order_acquire) != received)
    return;
  if (!agrees(totals.sent, sent, totals.ended))
    noteBypass(fd, entry, endpoint, Way::Send);
  if (!agrees(totals.received, received, totals.ended))
    noteBypass(fd, entry, endpoint, Way::Receive);
}

constexpr FdHandler kTcp = {begun, transferred, closingTcp};
constexpr FdHandler kStream = {begun, transferred, nullptr};

}  // namespace

void startNet() noexcept {
  constexpr std::size_t kBytes = sizeof(ChannelCell) * fd_endpoints::kEndpoints;
  const long address = rawSyscall(SYS_mmap,
                                  0,
                                  kBytes,
                                  PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                  -1,
                                  0);
  if (address < 0 && address >= -4095)
    return;
  gChannels = reinterpret_cast<ChannelCell*>(address);
  registerFdHandler(FdKind::Tcp, &kTcp);
  registerFdHandler(FdKind::Unix, &kStream);
  registerFdHandler(FdKind::Pipe, &kStream);
}

}  // namespace sonde::preload
