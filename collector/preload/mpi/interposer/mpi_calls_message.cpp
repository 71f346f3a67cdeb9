// Blocking sends and receives.
#include "collector/preload/mpi/interposer/mpi_messages.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

template <typename Count, typename Real>
int send(Real real,
         Name& name,
         Word buffer,
         Word count,
         Word type,
         Word peer,
         Word tag,
         Word communicator) {
  const Envelope to{communicator, peer, tag};
  const Crossing crossing = enterSend(to);
  const std::uint64_t begin = now();
  const OpenCall open = openMessage(to, Way::Send, name(), begin, __builtin_frame_address(0));
  const int result = real(buffer, count, type, peer, tag, communicator);
  closeCall(open);
  wire::Message message = messageOf({begin, now()}, name());
  const bool filled =
      result == kSuccess && fillSent(message, to, bytesOf(elements<Count>(count, type)));
  endCrossing(crossing, message);
  recordOne(message, filled);
  return result;
}

template <typename Count, typename Real>
int receive(Real real,
            Name& name,
            Word buffer,
            Word count,
            Word type,
            Word peer,
            Word tag,
            Word communicator,
            Word status) {
  Status own;
  const Word used = wantStatus(status, own);
  const Envelope from{communicator, peer, tag};
  const Crossing crossing = enterReceive(from, Settled::Now);
  const std::uint64_t begin = now();
  const OpenCall open = openMessage(from, Way::Receive, name(), begin, __builtin_frame_address(0));
  const int result = real(buffer, count, type, peer, tag, communicator, used);
  closeCall(open);
  wire::Message message = messageOf({begin, now()}, name());
  if (result != kSuccess)
    spoilNumbers(from, Way::Receive);
  const bool filled =
      result == kSuccess && fillReceived(message, from, reinterpret_cast<const void*>(used));
  endCrossing(crossing, message);
  recordOne(message, filled);
  return result;
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Word;

#define SONDE_MPI_SEND(name)                                                               \
  SONDE_MPI_COUNTED(                                                                       \
      name,                                                                                \
      SONDE_MPI_WORDS(Word buffer, Word count, Word type, Word peer, Word tag, Word comm), \
      SONDE_MPI_WORDS(buffer, count, type, peer, tag, comm),                               \
      mpi::send)
SONDE_MPI_SEND(Send)
SONDE_MPI_SEND(Bsend)
SONDE_MPI_SEND(Rsend)
SONDE_MPI_SEND(Ssend)

SONDE_MPI_COUNTED(
    Recv,
    SONDE_MPI_WORDS(
        Word buffer, Word count, Word type, Word peer, Word tag, Word comm, Word status),
    SONDE_MPI_WORDS(buffer, count, type, peer, tag, comm, status),
    mpi::receive)
