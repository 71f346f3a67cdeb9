// The recording side of libsonde_mpi.so.
#include "collector/core/communication.h"
#include "collector/core/emit.h"
#include "collector/core/open_calls.h"
#include "collector/core/platform/hooks.h"
#include "collector/preload/common/process_fact.h"
#include "collector/preload/mpi/mpi_hooks.h"

namespace sonde::preload::mpi {
namespace {

using wire::Probe;

bool isSource() noexcept {
  return core::isSource(Probe::Mpi);
}

bool enabled() noexcept {
  return core::enabled(Probe::Mpi);
}

std::uint32_t internText(const char* text) noexcept {
  return core::intern(text);
}

std::uint32_t defineChannel(const char* local, const char* remote) noexcept {
  return core::defineChannel(wire::ChannelKind::Mpi, 0, local, remote);
}

std::uint32_t defineCommunicator(const char* key,
                                 const std::int32_t* ranks,
                                 std::int32_t size,
                                 std::int32_t position) noexcept {
  return core::defineCommunicator(key, ranks, size, position, Probe::Mpi);
}

void message(const wire::Message& record) noexcept {
  if (core::admits(Probe::Mpi))
    core::emitMessage(record);
}

void messages(const wire::Message& sent, const wire::Message& received) noexcept {
  if (core::admits(Probe::Mpi, 2))
    core::emitMessages(sent, received);
}

void call(wire::SliceKind kind, std::uint32_t name, Interval interval) noexcept {
  if (core::admits(Probe::Mpi))
    core::emitCall(kind, name, Probe::Mpi, interval.beginTicks, interval.endTicks);
}

bool collective(const wire::Collective& record) noexcept {
  return core::admits(Probe::Mpi) && core::emitCollective(record);
}

void collectiveEnd(std::uint64_t number, std::uint64_t ticks) noexcept {
  wire::CollectiveEnd record{};
  record.collective = number;
  record.ticks = ticks;
  core::emitCollectiveEnd(record, Probe::Mpi);
}

OpenCall sends(const wire::Message& record, const void* frame) noexcept {
  return core::enabled(Probe::Mpi) ? core::openCall(record, wire::RecordKind::Message, frame).depth
                                   : kNotShown;
}

OpenCall joins(const wire::Collective& record, const void* frame) noexcept {
  return core::enabled(Probe::Mpi)
             ? core::openCall(record, wire::RecordKind::Collective, frame).depth
             : kNotShown;
}

OpenCall waits(wire::SliceKind kind,
               std::uint32_t name,
               std::uint64_t beginTicks,
               const void* frame) noexcept {
  if (!core::enabled(Probe::Mpi))
    return kNotShown;
  wire::Call record{};
  record.header.subject = name;
  record.header.detail = static_cast<std::uint8_t>(kind);
  record.beginTicks = beginTicks;
  record.probe = Probe::Mpi;
  return core::openCall(record, wire::RecordKind::Call, frame).depth;
}

void returned(OpenCall call) noexcept {
  core::closeCall({call});
}

void lose(wire::RecordKind kind, wire::LossReason reason, std::uint32_t count) noexcept {
  core::countLoss(Probe::Mpi, kind, reason, count);
}

void unknown(const char* version) noexcept {
  sayFact("mpi", "not recorded: this MPI is neither Open MPI nor of MPICH's kind: %s", version);
}

static_assert(kNotShown == core::OpenCall::kNotShown);
constexpr Hooks kHooks = {kHooksVersion,
                          &core::gClock,
                          core::ticks,
                          isSource,
                          enabled,
                          internText,
                          defineChannel,
                          defineCommunicator,
                          message,
                          messages,
                          call,
                          collective,
                          collectiveEnd,
                          sends,
                          joins,
                          waits,
                          returned,
                          lose,
                          unknown};

}  // namespace
}  // namespace sonde::preload::mpi

SONDE_EXPORT const sonde::preload::mpi::Hooks* sonde_mpi_hooks(std::uint32_t version) {
  using namespace sonde::preload::mpi;
  return version == kHooksVersion ? &kHooks : nullptr;
}
