// The start and end of MPI.
#include "collector/preload/mpi/interposer/mpi_group.h"
#include "collector/preload/mpi/interposer/mpi_messages.h"
#include "collector/preload/mpi/interposer/mpi_wrapper.h"

namespace sonde::preload::mpi {
namespace {

constexpr int kThreadMultiple = 3;
constexpr std::size_t kVersionBytes = 96;

// Returns the actual thread level: the environment may raise the requested one.
bool givesThreads() noexcept {
  static constinit RealMpi<int (*)(int*)> ask{"PMPI_Query_thread"};
  int level = kThreadMultiple;
  return !ask.find(nullptr) || ask()(&level) != kSuccess || level == kThreadMultiple;
}

// In a process that MPI_Comm_spawn started: the communicator to the processes that called it. Else
// 0.
Handle parent() noexcept {
  static constinit RealMpi<int (*)(Handle*)> ask{"PMPI_Comm_get_parent"};
  Handle found = 0;
  const bool told = ask.find(nullptr) && ask()(&found) == kSuccess;
  return told && found != gSession.abi->noCommunicator ? found : 0;
}

// Whether the MPI that has started is to be recorded.
bool chooseMpi() noexcept {
  gSession.hooks = findHooks();
  if (gSession.hooks == nullptr || !gSession.hooks->isSource())
    return false;
  char version[kVersionBytes];
  gSession.abi = chooseAbi(version, sizeof version);
  if (gSession.abi == nullptr) {
    gSession.hooks->unknown(version);
    return false;
  }
  prepareDatatypes();
  return true;
}

// MPI_COMM_WORLD exists now; a session may have existed before.
void begin() noexcept {
  if (isActive()) {
    communicatorOf(gSession.abi->world);
    return;
  }
  if (!chooseMpi())
    return;
  gSession.manyThreads = givesThreads();
  gSession.active.store(true, std::memory_order_release);
  beginCommunicators(gSession.abi->world, parent());
}

// There is no MPI_COMM_WORLD, perhaps never. `place`: where the session's handle is.
void beginSession(Word place) noexcept {
  if (isActive() || !chooseMpi() || !holdWorldOf(gSession.abi->handleAt(place, 0)))
    return;
  gSession.manyThreads = true;
  gSession.active.store(true, std::memory_order_release);
  beginCommunicators(0, 0);
}

// For requests that were not waited for, the end is unknown.
void end() noexcept {
  if (!isActive())
    return;
  if (const std::uint32_t left = requestsLeft(); left != 0)
    gSession.hooks->lose(wire::RecordKind::Message, wire::LossReason::Unbalanced, left);
  gSession.active.store(false, std::memory_order_release);
}

// Whether MPI_Init has been called, and MPI_Finalize not yet.
bool hasWorld() noexcept {
  static constinit RealMpi<int (*)(int*)> begun{"PMPI_Initialized"};
  static constinit RealMpi<int (*)(int*)> ended{"PMPI_Finalized"};
  int flags[2] = {0, 0};
  return begun.find(nullptr) && ended.find(nullptr) && begun()(&flags[0]) == kSuccess &&
         ended()(&flags[1]) == kSuccess && flags[0] != 0 && flags[1] == 0;
}

std::uint64_t ticksBefore() noexcept {
  const Hooks* const hooks = findHooks();
  return hooks == nullptr ? 0 : hooks->ticks();
}

// A session is about to end. True: recording ends with it.
bool dropSession(Word place) noexcept {
  return isActive() && place != 0 && dropWorldOf(gSession.abi->handleAt(place, 0)) && !hasWorld();
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

// `session`: where the handle is.
#define SONDE_MPI_SESSION(prefix)                                                          \
  SONDE_EXPORT int prefix##Session_init(Word info, Word handler, Word session) {           \
    static constinit mpi::RealMpi<int (*)(Word, Word, Word)> real{#prefix "Session_init"}; \
    static constinit mpi::Name called{"MPI_Session_init"};                                 \
    if (!real.find(__builtin_return_address(0)))                                           \
      return mpi::kOtherError;                                                             \
    const std::uint64_t before = mpi::ticksBefore();                                       \
    const int result = real()(info, handler, session);                                     \
    if (result == mpi::kSuccess) {                                                         \
      mpi::beginSession(session);                                                          \
      mpi::record(called, before);                                                         \
    }                                                                                      \
    return result;                                                                         \
  }                                                                                        \
  SONDE_EXPORT int prefix##Session_finalize(Word session) {                                \
    static constinit mpi::RealMpi<int (*)(Word)> real{#prefix "Session_finalize"};         \
    static constinit mpi::Name called{"MPI_Session_finalize"};                             \
    if (!real.find(__builtin_return_address(0)))                                           \
      return mpi::kOtherError;                                                             \
    const std::uint64_t before = mpi::ticksBefore();                                       \
    const bool last = mpi::dropSession(session);                                           \
    const int result = real()(session);                                                    \
    mpi::record(called, before);                                                           \
    if (last)                                                                              \
      mpi::end();                                                                          \
    return result;                                                                         \
  }
SONDE_MPI_LIFE(MPI_)
SONDE_MPI_SESSION(MPI_)
SONDE_MPI_SESSION(PMPI_)
SONDE_MPI_LIFE(PMPI_)
