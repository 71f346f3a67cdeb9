// Messages that are sent and received while the program waits.
#include "collector/preload/mpi/mpi_messages.h"
#include "collector/preload/mpi/mpi_wrapper.h"

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
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, peer, tag, communicator);
  wire::Message message = messageOf({begin, now()}, name());
  recordOne(
      message,
      result == kSuccess &&
          fillSent(message, {communicator, peer, tag}, bytesOf(elements<Count>(count, type))));
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
  const std::uint64_t begin = now();
  const int result = real(buffer, count, type, peer, tag, communicator, used);
  wire::Message message = messageOf({begin, now()}, name());
  if (result != kSuccess)
    spoilNumbers({communicator, peer, tag}, Way::Receive);
  recordOne(
      message,
      result == kSuccess &&
          fillReceived(message, {communicator, peer, tag}, reinterpret_cast<const void*>(used)));
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
