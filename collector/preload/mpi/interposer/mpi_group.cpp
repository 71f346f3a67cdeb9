#include "collector/preload/mpi/interposer/mpi_group.h"

#include "collector/preload/mpi/interposer/mpi_library.h"
#include "collector/preload/mpi/interposer/mpi_memory.h"

namespace sonde::preload::mpi {
namespace {

constinit RealMpi<int (*)(Word, int*)> gRank{"PMPI_Comm_rank"};
constinit RealMpi<int (*)(Word, Handle*)> gGroup{"PMPI_Comm_group"};
constinit RealMpi<int (*)(Word, Handle*)> gRemoteGroup{"PMPI_Comm_remote_group"};
constinit RealMpi<int (*)(Word, int*)> gTestInter{"PMPI_Comm_test_inter"};
constinit RealMpi<int (*)(Word, int*)> gGroupSize{"PMPI_Group_size"};
constinit RealMpi<int (*)(Word, int, const int*, Word, int*)> gTranslate{
    "PMPI_Group_translate_ranks"};
constinit RealMpi<int (*)(Handle*)> gFree{"PMPI_Group_free"};

constinit RealMpi<int (*)(Word, const char*, Handle*)> gOfSession{"PMPI_Group_from_session_pset"};

// The session whose world is used, and that world's group; 0: MPI_COMM_WORLD is used.
constinit Handle gSessionHeld = 0;
constinit Handle gWorldHeld = 0;

bool findAll() noexcept {
  return gRank.find(nullptr) && gGroup.find(nullptr) && gRemoteGroup.find(nullptr) &&
         gGroupSize.find(nullptr) && gTranslate.find(nullptr) && gFree.find(nullptr);
}

std::uint64_t mix(std::uint64_t hash, std::int32_t value) noexcept {
  hash ^= static_cast<std::uint32_t>(value);
  hash *= 0xff51'afd7'ed55'8ccdU;
  return hash ^ hash >> 29;
}

}  // namespace

Members::Members(Handle communicator, Which which) noexcept {
  Handle group = 0;
  Handle world = 0;
  if (!findAll() || gRank()(communicator, &rank) != kSuccess)
    return;
  const auto ask = which == Which::Own ? gGroup() : gRemoteGroup();
  if (ask(communicator, &group) != kSuccess)
    return;
  gGroupSize()(group, &size);
  if (gWorldHeld != 0) {
    translate(group, gWorldHeld);
  } else if (gGroup()(gSession.abi->world, &world) == kSuccess) {
    translate(group, world);
    gFree()(&world);
  }
  gFree()(&group);
}

void Members::translate(Handle group, Handle world) noexcept {
  const std::int32_t known = size < kMaxKnown ? size : kMaxKnown;
  memory_ = static_cast<std::int32_t*>(
      mapMemory(2 * static_cast<std::size_t>(known) * sizeof(std::int32_t)));
  hash = mix(1, size);
  if (memory_ == nullptr)
    return;
  std::int32_t* const places = memory_ + known;
  for (std::int32_t at = 0; at < known; ++at)
    places[at] = at;
  gTranslate()(group, known, places, world, memory_);
  for (std::int32_t at = 0; at < known; ++at) {
    memory_[at] = memory_[at] == kUndefined ? -1 : memory_[at];
    hash = mix(hash, memory_[at]);
    allOfWorld_ = allOfWorld_ && memory_[at] >= 0;
  }
  ranks = size <= kMaxKnown ? memory_ : nullptr;
}

Members::~Members() noexcept {
  const std::int32_t known = size < kMaxKnown ? size : kMaxKnown;
  unmapMemory(memory_, 2 * static_cast<std::size_t>(known) * sizeof(std::int32_t));
}

bool holdWorldOf(Word session) noexcept {
  Handle group = 0;
  if (!gOfSession.find(nullptr) || gOfSession()(session, "mpi://WORLD", &group) != kSuccess)
    return false;
  gSessionHeld = gSession.abi->handle(session);
  gWorldHeld = group;
  return true;
}

bool dropWorldOf(Word session) noexcept {
  if (gWorldHeld == 0 || gSessionHeld != gSession.abi->handle(session))
    return false;
  if (gFree.find(nullptr))
    gFree()(&gWorldHeld);
  gWorldHeld = 0;
  return true;
}

bool isInter(Handle communicator) noexcept {
  int flag = 0;
  return gTestInter.find(nullptr) && gTestInter()(communicator, &flag) == kSuccess && flag != 0;
}

}  // namespace sonde::preload::mpi
