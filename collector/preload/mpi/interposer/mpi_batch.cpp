#include "collector/preload/mpi/interposer/mpi_batch.h"

#include "collector/preload/mpi/interposer/mpi_memory.h"

#include <atomic>

namespace sonde::preload::mpi {
namespace {

// The header of an unused block of memory: its size.
struct Spare {
  std::size_t bytes;
};
constexpr std::size_t kSpares = 16;  // for this many threads at a time
constinit std::atomic<Spare*> gSpares[kSpares] = {};

// Reuses memory, because programs test their requests a million times a second.
void takeMemory(Batch& batch, std::size_t bytes) noexcept {
  for (std::atomic<Spare*>& place : gSpares) {
    if (place.load(std::memory_order_relaxed) == nullptr)
      continue;
    Spare* const spare = place.exchange(nullptr, std::memory_order_acquire);
    if (spare == nullptr)
      continue;
    if (spare->bytes >= bytes) {
      batch.memory = spare;
      batch.memoryBytes = spare->bytes;
      return;
    }
    unmapMemory(spare, spare->bytes);
  }
  batch.memory = mapMemory(bytes);
  batch.memoryBytes = bytes;
}

}  // namespace

void openBatch(Batch& batch, Word count, Word requests, Word statuses) noexcept {
  const bool wanted = statuses == gSession.abi->ignoreStatus;
  batch.count = intOf(count) < 0 ? 0 : static_cast<std::size_t>(intOf(count));
  batch.handles = batch.fewHandles;
  batch.statuses = wanted ? reinterpret_cast<Word>(batch.fewStatuses) : statuses;
  batch.before = requestsSoFar();
  batch.memory = nullptr;
  if (batch.count > Batch::kFew) {
    takeMemory(batch, batch.count * (sizeof(Handle) + (wanted ? sizeof(Status) : 0)));
    batch.handles = static_cast<Handle*>(batch.memory);
    if (wanted)
      batch.statuses =
          batch.memory == nullptr ? statuses : reinterpret_cast<Word>(batch.handles + batch.count);
  }
  for (std::size_t at = 0; batch.handles != nullptr && at < batch.count; ++at)
    batch.handles[at] = gSession.abi->handleAt(requests, at);
  if (batch.handles == nullptr)
    gSession.hooks->lose(wire::RecordKind::Message,
                         wire::LossReason::Definitions,
                         static_cast<std::uint32_t>(batch.count));
}

void closeBatch(const Batch& batch) noexcept {
  if (batch.memory == nullptr)
    return;
  auto* const spare = static_cast<Spare*>(batch.memory);
  spare->bytes = batch.memoryBytes;
  for (std::atomic<Spare*>& place : gSpares) {
    Spare* none = nullptr;
    if (place.compare_exchange_strong(none, spare, std::memory_order_release))
      return;
  }
  unmapMemory(batch.memory, batch.memoryBytes);
}

}  // namespace sonde::preload::mpi
