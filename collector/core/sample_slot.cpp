#include "collector/core/sample_slot.h"

#include "collector/core/spool.h"

namespace sonde::core {

void releaseSamples(ThreadState* state) noexcept {
  wire::SlotHeader* slot = state->sampleSlot;
  state->sampleCursor = state->sampleEnd = nullptr;
  state->sampleSlot = nullptr;
  // A handler may run between the two and take another slot.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (slot != nullptr)
    releaseSlot(gSpool, slot, wire::SlotState::Full);
}

char* reserveSample(ThreadState* state, std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(state->sampleEnd - state->sampleCursor) >= bytes)
    return state->sampleCursor;
  releaseSamples(state);
  wire::SlotHeader* slot = claimSlot(gSpool, wire::SlotState::Writing);
  if (slot == nullptr)
    return nullptr;
  char* base = reinterpret_cast<char*>(slot);
  slot->thread = state->thread | wire::SlotHeader::kSamples;
  slot->scopeCount = 0;
  slot->firstRecord = sizeof *slot;
  state->sampleSlot = slot;
  state->sampleCursor = base + sizeof *slot;
  state->sampleEnd = base + wire::kSlotBytes;
  slot->committed.store(slot->firstRecord, std::memory_order_release);
  return state->sampleCursor;
}

void publishSample(ThreadState* state, std::size_t bytes) noexcept {
  state->sampleCursor += bytes;
  state->sampleSlot->committed.store(
      static_cast<std::uint32_t>(state->sampleCursor - reinterpret_cast<char*>(state->sampleSlot)),
      std::memory_order_release);
}

}  // namespace sonde::core
