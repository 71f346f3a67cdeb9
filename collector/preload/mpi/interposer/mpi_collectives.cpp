#include "collector/preload/mpi/interposer/mpi_collectives.h"

namespace sonde::preload::mpi {
namespace {

// The number of the next collective whose end is recorded separately.
constinit std::atomic<std::uint64_t> gNumber{1};

// All starts of one persistent collective share its number; the upper half counts them. Every rank
// prepares them in the same order, but may start them in any order.
constexpr std::uint64_t kOneStart = std::uint64_t{1} << 32;

}  // namespace

bool numberCollective(wire::Collective& record, Word communicator, Place& place) noexcept {
  Communicator* const found = communicatorOf(gSession.abi->handle(communicator));
  if (found == nullptr || found->id == 0) {
    gSession.hooks->lose(wire::RecordKind::Collective, wire::LossReason::Definitions, 1);
    return false;
  }
  place = placeIn(*found);
  record.header.subject = found->id;
  record.seq = found->seq.fetch_add(1, std::memory_order_relaxed);
  record.probe = wire::Probe::Mpi;
  record.peer = -1;
  return true;
}

void describe(wire::Collective& record,
              wire::CollectiveOp op,
              const CollectiveFacts& facts,
              std::uint32_t name) noexcept {
  record.header.detail = static_cast<std::uint8_t>(op);
  record.bytes = facts.amounts.bytes;
  record.sendBytes = facts.amounts.send;
  record.recvBytes = facts.amounts.receive;
  record.root = facts.root < 0 ? -1 : facts.root;
  record.dtype = facts.type == 0 ? wire::DataType::Unknown : datatypeOf(facts.type).type;
  record.name = name;
}

std::uint64_t nextCollective() noexcept {
  return gNumber.fetch_add(1, std::memory_order_relaxed);
}

void startCollective(Request& request, Interval call) noexcept {
  wire::Collective& record = request.collective;
  record.beginTicks = call.beginTicks;
  record.endTicks = call.endTicks;
  record.flags = wire::Collective::kEnqueued;
  record.number = nextCollective();
  request.recorded = gSession.hooks->collective(record);
  record.seq += kOneStart;  // for the next start
}

}  // namespace sonde::preload::mpi
