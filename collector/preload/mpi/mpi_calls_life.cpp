// When MPI begins and ends.
#include "collector/preload/mpi/mpi_messages.h"
#include "collector/preload/mpi/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

constexpr int kThreadMultiple = 3;
constexpr std::size_t kVersionBytes = 96;

// The environment may raise what the program has asked for.
bool givesThreads() noexcept {
  static constinit RealMpi<int (*)(int*)> ask{"PMPI_Query_thread"};
  int level = kThreadMultiple;
  return !ask.find(nullptr) || ask()(&level) != kSuccess || level == kThreadMultiple;
}

// Of a process that MPI_Comm_spawn started the communicator to those who did; 0: it did not.
Handle parent() noexcept {
  static constinit RealMpi<int (*)(Handle*)> ask{"PMPI_Comm_get_parent"};
  Handle found = 0;
  const bool told = ask.find(nullptr) && ask()(&found) == kSuccess;
  return told && found != gSession.abi->noCommunicator ? found : 0;
}

// MPI has begun.
void begin() noexcept {
  gSession.hooks = findHooks();
  if (gSession.hooks == nullptr || !gSession.hooks->isSource() || isActive())
    return;
  char version[kVersionBytes];
  gSession.abi = chooseAbi(version, sizeof version);
  if (gSession.abi == nullptr)
    return gSession.hooks->unknown(version);
  gSession.manyThreads = givesThreads();
  prepareDatatypes();
  gSession.active.store(true, std::memory_order_release);
  beginCommunicators(parent());
}

// What was not waited for is not known to have ended.
void end() noexcept {
  if (!isActive())
    return;
  if (const std::uint32_t left = requestsLeft(); left != 0)
    gSession.hooks->lose(wire::RecordKind::Message, wire::LossReason::Unbalanced, left);
  gSession.active.store(false, std::memory_order_release);
}

std::uint64_t ticksBefore() noexcept {
  const Hooks* const hooks = findHooks();
  return hooks == nullptr ? 0 : hooks->ticks();
}

void record(Name& name, std::uint64_t before) noexcept {
  if (isActive())
    gSession.hooks->call(wire::SliceKind::Api, name(), {before, now()});
}

}  // namespace
}  // namespace sonde::preload::mpi

namespace mpi = sonde::preload::mpi;
using mpi::Word;

#define SONDE_MPI_LIFE(prefix)                                                                  \
  SONDE_EXPORT int prefix##Init(Word argc, Word argv) {                                         \
    static constinit mpi::RealMpi<int (*)(Word, Word)> real{#prefix "Init"};                    \
    static constinit mpi::Name called{"MPI_Init"};                                              \
    if (!real.find(__builtin_return_address(0)))                                                \
      return mpi::kOtherError;                                                                  \
    const std::uint64_t before = mpi::ticksBefore();                                            \
    const int result = real()(argc, argv);                                                      \
    if (result == mpi::kSuccess) {                                                              \
      mpi::begin();                                                                             \
      mpi::record(called, before);                                                              \
    }                                                                                           \
    return result;                                                                              \
  }                                                                                             \
  SONDE_EXPORT int prefix##Init_thread(Word argc, Word argv, Word required, Word provided) {    \
    static constinit mpi::RealMpi<int (*)(Word, Word, Word, Word)> real{#prefix "Init_thread"}; \
    static constinit mpi::Name called{"MPI_Init_thread"};                                       \
    if (!real.find(__builtin_return_address(0)))                                                \
      return mpi::kOtherError;                                                                  \
    const std::uint64_t before = mpi::ticksBefore();                                            \
    const int result = real()(argc, argv, required, provided);                                  \
    if (result == mpi::kSuccess) {                                                              \
      mpi::begin();                                                                             \
      mpi::record(called, before);                                                              \
    }                                                                                           \
    return result;                                                                              \
  }                                                                                             \
  SONDE_EXPORT int prefix##Finalize() {                                                         \
    static constinit mpi::RealMpi<int (*)()> real{#prefix "Finalize"};                          \
    static constinit mpi::Name called{"MPI_Finalize"};                                          \
    if (!real.find(__builtin_return_address(0)))                                                \
      return mpi::kOtherError;                                                                  \
    const std::uint64_t before = mpi::ticksBefore();                                            \
    const int result = real()();                                                                \
    mpi::record(called, before);                                                                \
    mpi::end();                                                                                 \
    return result;                                                                              \
  }
SONDE_MPI_LIFE(MPI_)
SONDE_MPI_LIFE(PMPI_)
