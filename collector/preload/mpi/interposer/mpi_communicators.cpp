#include "collector/preload/mpi/interposer/mpi_communicators.h"

#include "collector/preload/mpi/interposer/mpi_group.h"
#include "collector/preload/mpi/interposer/mpi_hash.h"
#include "collector/preload/mpi/interposer/mpi_library.h"
#include "collector/preload/mpi/interposer/mpi_memory.h"
#include "collector/preload/mpi/interposer/mpi_text.h"
#include "collector/wire/definitions.h"

#include <cstdlib>
#include <cstring>

namespace sonde::preload::mpi {
namespace {

constexpr std::uint32_t kCommunicators = 4096;  // at a time; a power of two
constexpr std::uint32_t kProbes = 64;
constexpr Handle kTaken = ~Handle{0};  // a thread is filling in or emptying the entry
constexpr Handle kGoing = kTaken - 1;  // freed, but still has requests

constinit Communicator gPool[kCommunicators] = {};
constinit std::atomic<Communicator*> gLast{nullptr};  // the last one looked up
constinit std::uint64_t gJob = 0;                     // part of all keys

// The number of communicators with the same members.
struct SameMembers {
  std::atomic<std::uint64_t> hash;  // 0: free
  std::atomic<std::uint32_t> count;
};
constexpr std::uint32_t kGroups = 8192;
constinit SameMembers gGroups[kGroups] = {};

// The counts for further tags, by communicator, peer, direction and tag.
struct MoreTags {
  std::atomic<std::uint64_t> key;  // 0: free
  MessageCount count;
};
constexpr std::uint32_t kTags = 65536;
constinit MoreTags gTags[kTags] = {};
constexpr int kTagBits = 31;
constexpr int kPeerBits = 19;

std::uint32_t indexOf(const Communicator& communicator) noexcept {
  return static_cast<std::uint32_t>(&communicator - gPool);
}

// Returns the ordinal among communicators with the same members; 0 if there are more groups than
// the table holds: then keys may collide.
std::uint32_t ordinalOf(std::uint64_t hash) noexcept {
  for (std::uint32_t step = 0; step < kProbes; ++step) {
    SameMembers& place = gGroups[(spread(hash) + step) % kGroups];
    std::uint64_t found = 0;
    if (place.hash.compare_exchange_strong(found, hash) || found == hash)
      return place.count.fetch_add(1, std::memory_order_relaxed);
  }
  gSession.hooks->lose(wire::RecordKind::Message, wire::LossReason::Definitions, 1);
  return 0;
}

void nameSides(Communicator& communicator, const Members& own, const Members& other) noexcept {
  const bool first = own.hash < other.hash;
  communicator.side[0] = first ? 'a' : 'b';
  communicator.otherSide[0] = first ? 'b' : 'a';
  communicator.side[1] = communicator.otherSide[1] = '\0';
}

// A hash of the launcher's job id; 0: it provides none that every rank finds. Processes that
// MPI_Comm_spawn started are always another job.
std::uint64_t hashOfJob(bool spawned) noexcept {
  std::uint64_t hash = spawned ? 1 : 0;
  for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    const char* const value = std::getenv(name);
    for (const char* at = value; at != nullptr && *at != '\0'; ++at)
      hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100'0000'01b3U;
  }
  return hash;
}

// "mpi:<job and members>.<ordinal>"
void nameKey(Communicator& communicator,
             std::uint64_t group,
             const std::uint32_t* reserved) noexcept {
  const std::uint64_t members = group ^ gJob;
  communicator.members = members;
  const std::uint32_t ordinal = reserved != nullptr ? *reserved : ordinalOf(members);
  TextWriter key(communicator.key, sizeof communicator.key);
  key.text("mpi:").hexadecimal(members).text(".").number(ordinal);
}

// Creates the table of peers. Members of another MPI_COMM_WORLD are marked, because two worlds
// number their members differently.
void layTable(Communicator& communicator, const Members& peers) noexcept {
  communicator.peers = peers.size;
  communicator.table =
      static_cast<Peer*>(mapMemory(static_cast<std::size_t>(peers.size) * sizeof(Peer)));
  for (std::int32_t at = 0; communicator.table != nullptr && at < peers.size; ++at) {
    if (!peers.isOfWorld(at))
      communicator.table[at].foreign = true;
  }
}

// Fills in everything except the handle.
void fillIn(Communicator& communicator, Handle handle, const std::uint32_t* reserved) noexcept {
  Members own(handle, Members::Which::Own);
  communicator.rank = own.rank;
  communicator.size = own.size;
  communicator.inter = isInter(handle);
  communicator.seq.store(0, std::memory_order_relaxed);
  communicator.moreTags.store(0, std::memory_order_relaxed);
  communicator.side[0] = communicator.otherSide[0] = '\0';
  communicator.neighbors = {};
  if (communicator.inter) {
    const Members other(handle, Members::Which::Remote);
    layTable(communicator, other);
    nameSides(communicator, own, other);
    nameKey(communicator, own.hash ^ other.hash ^ 1, reserved);
  } else {
    layTable(communicator, own);
    communicator.neighbors = neighborsIn(handle, own.rank);
    nameKey(communicator, own.hash, reserved);
  }
  communicator.id = gSession.hooks->defineCommunicator(
      communicator.key, own.ranks, communicator.size, communicator.rank);
}

Communicator* find(Handle handle) noexcept {
  const std::uint32_t start = spread(handle);
  for (std::uint32_t step = 0; step < kProbes; ++step) {
    Communicator& place = gPool[(start + step) % kCommunicators];
    if (place.handle.load(std::memory_order_acquire) == handle)
      return &place;
  }
  return nullptr;
}

Communicator* make(Handle handle, const std::uint32_t* reserved = nullptr) noexcept {
  const std::uint32_t start = spread(handle);
  for (std::uint32_t step = 0; step < kProbes; ++step) {
    Communicator& place = gPool[(start + step) % kCommunicators];
    Handle free = 0;
    if (!place.handle.compare_exchange_strong(free, kTaken))
      continue;
    fillIn(place, handle, reserved);
    place.handle.store(handle, std::memory_order_release);
    return &place;
  }
  return nullptr;
}

// Clears the counts of a communicator that is being removed, so that the next one in its place
// starts at 0.
void forgetTags(const Communicator& communicator) noexcept {
  const std::uint64_t index = indexOf(communicator) + 1;
  for (MoreTags& place : gTags) {
    const std::uint64_t key = place.key.load(std::memory_order_relaxed);
    if (key == 0 || key >> (kTagBits + kPeerBits + 1) != index)
      continue;
    place.count.next.store(0, std::memory_order_relaxed);
    place.count.spoilt.store(false, std::memory_order_relaxed);
    place.key.store(0, std::memory_order_release);
  }
}

// Empties the entry if it is marked as freed. If several threads notice that, one does it.
void empty(Communicator& communicator) noexcept {
  Handle going = kGoing;
  if (!communicator.handle.compare_exchange_strong(going, kTaken))
    return;
  if (communicator.moreTags.load(std::memory_order_relaxed) != 0)
    forgetTags(communicator);
  unmapMemory(communicator.table, static_cast<std::size_t>(communicator.peers) * sizeof(Peer));
  communicator.table = nullptr;
  communicator.handle.store(0, std::memory_order_release);
}

void writePlace(TextWriter& to, const char* side, int number) noexcept {
  to.text("/").text(side).number(static_cast<std::uint64_t>(number));
}

MessageCount* claimCount(Communicator& communicator, int peer, Way way, int tag) noexcept {
  MessageCount& first = communicator.table[peer].first[static_cast<int>(way)];
  std::uint64_t tagged = 0;
  const std::uint64_t own = MessageCount::tagOf(tag);
  if (first.tagged.compare_exchange_strong(tagged, own) || tagged == own)
    return &first;
  if (peer >> kPeerBits != 0)
    return nullptr;
  const std::uint64_t key =
      (std::uint64_t{indexOf(communicator)} + 1) << (kTagBits + kPeerBits + 1) |
      std::uint64_t{static_cast<std::uint8_t>(way)} << (kTagBits + kPeerBits) |
      std::uint64_t{static_cast<std::uint32_t>(peer)} << kTagBits | static_cast<std::uint32_t>(tag);
  // Also looks past entries that others have freed.
  for (std::uint32_t step = 0; step < kProbes; ++step) {
    MoreTags& place = gTags[(spread(key) + step) % kTags];
    if (place.key.load(std::memory_order_acquire) == key)
      return &place.count;
  }
  for (std::uint32_t step = 0; step < kProbes; ++step) {
    MoreTags& place = gTags[(spread(key) + step) % kTags];
    std::uint64_t found = 0;
    if (place.key.compare_exchange_strong(found, key)) {
      communicator.moreTags.fetch_add(1, std::memory_order_relaxed);
      return &place.count;
    }
    if (found == key)
      return &place.count;
  }
  return nullptr;
}

}  // namespace

void beginCommunicators(Handle world, Handle parent) noexcept {
  gJob = hashOfJob(parent != 0);
  communicatorOf(world);
  communicatorOf(parent);
}

Communicator* communicatorOf(Handle handle) noexcept {
  Communicator* const last = gLast.load(std::memory_order_relaxed);
  if (last != nullptr && last->handle.load(std::memory_order_acquire) == handle)
    return last;
  if (handle == gSession.abi->noCommunicator || handle == 0 || handle >= kGoing)
    return nullptr;
  Communicator* found = find(handle);
  if (found == nullptr)
    found = make(handle);
  gLast.store(found, std::memory_order_relaxed);
  return found;
}

Communicator* knownCommunicator(Handle handle) noexcept {
  return handle == 0 || handle >= kGoing ? nullptr : find(handle);
}

std::uint32_t reserveCopy(const Communicator& of) noexcept {
  return ordinalOf(of.members);
}

void addCommunicator(Handle handle, const std::uint32_t* reserved) noexcept {
  if (handle == gSession.abi->noCommunicator || handle == 0)
    return;
  removeCommunicator(handle);  // a communicator that was freed without Sonde seeing it
  make(handle, reserved);
}

void removeCommunicator(Handle handle) noexcept {
  Communicator* const found = knownCommunicator(handle);
  if (found == nullptr)
    return;
  found->handle.store(kGoing);
  if (found->requests.load() == 0)
    empty(*found);
}

void holdCommunicator(Communicator* communicator) noexcept {
  if (communicator != nullptr)
    communicator->requests.fetch_add(1);
}

void letCommunicatorGo(Communicator* communicator) noexcept {
  if (communicator != nullptr && communicator->requests.fetch_sub(1) == 1)
    empty(*communicator);
}

std::uint32_t defineChannelTo(Communicator& communicator, int peer) noexcept {
  char local[wire::kMaxAddressBytes];
  char remote[wire::kMaxAddressBytes];
  TextWriter here(local, sizeof local);
  TextWriter there(remote, sizeof remote);
  here.text(communicator.key);
  there.text(communicator.key);
  writePlace(here, communicator.side, communicator.rank);
  writePlace(here, communicator.otherSide, peer);
  writePlace(there, communicator.otherSide, peer);
  writePlace(there, communicator.side, communicator.rank);
  const std::uint32_t made = gSession.hooks->defineChannel(local, remote);
  std::uint32_t known = 0;
  return communicator.table[peer].channel.compare_exchange_strong(known, made) ? made : known;
}

MessageCount* findCount(Communicator& communicator, int peer, Way way, int tag) noexcept {
  MessageCount* const count = claimCount(communicator, peer, way, tag);
  if (count != nullptr && communicator.table[peer].foreign)
    count->spoil();
  return count;
}

}  // namespace sonde::preload::mpi
