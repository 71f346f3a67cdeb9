// SpoolReader::newDefinitions: a process's definitions so far, while it continues writing.
#include "recorder/spool_file/spool_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace sonde::recorder {

using wire::DefinitionHeader;
using wire::kSlotBytes;
using wire::SlotState;

SpoolReader::DefinitionSlot* SpoolReader::definitionSlot(std::uint32_t index) {
  const auto& from = *reinterpret_cast<const wire::SlotHeader*>(slotBase(index));
  const std::uint64_t seq = from.seq.load(std::memory_order_acquire);
  if (from.committed.load(std::memory_order_acquire) == 0)
    return nullptr;
  auto found = std::find_if(definitionSlots_.begin(),
                            definitionSlots_.end(),
                            [&](const DefinitionSlot& slot) { return slot.index == index; });
  if (found != definitionSlots_.end() && found->seq == seq)
    return &*found;
  DefinitionSlot fresh{.index = index, .seq = seq, .next = from.firstRecord, .holes = {}};
  fresh.broken =
      fresh.next < sizeof(wire::SlotHeader) || fresh.next > kSlotBytes || fresh.next % 8 != 0;
  damagedDefinitions_ += fresh.broken ? 1 : 0;
  if (found == definitionSlots_.end())
    found = definitionSlots_.insert(found, DefinitionSlot{});
  *found = std::move(fresh);
  return &*found;
}

// Requires: `offset` is a multiple of 8 inside the slot.
SpoolReader::DefinitionRead SpoolReader::readDefinition(const DefinitionSlot& slot,
                                                        std::uint32_t offset,
                                                        std::uint32_t& size) {
  if (offset + sizeof(DefinitionHeader) > kSlotBytes)
    return DefinitionRead::End;
  const std::byte* at = slotBase(slot.index) + offset;
  const std::uint32_t claim =
      reinterpret_cast<const std::atomic<std::uint32_t>*>(at)->load(std::memory_order_acquire);
  if (claim == 0)
    return DefinitionRead::End;
  size = claim & DefinitionHeader::kSizeMask;
  if (size < sizeof(DefinitionHeader) || size % 8 != 0 || size > kSlotBytes - offset)
    return DefinitionRead::Broken;
  if ((claim & DefinitionHeader::kCommitted) == 0)
    return DefinitionRead::Hole;
  buffer_.resize(kSlotBytes);
  std::memcpy(buffer_.data(), at, size);
  return DefinitionRead::Committed;
}

void SpoolReader::walkDefinitions(DefinitionSlot& slot,
                                  const std::function<void(std::span<const std::byte>)>& visit) {
  std::uint32_t size = 0;
  std::erase_if(slot.holes, [&](std::uint32_t hole) {
    if (readDefinition(slot, hole, size) != DefinitionRead::Committed)
      return false;
    visit({buffer_.data(), size});
    return true;
  });
  for (;;) {
    switch (readDefinition(slot, slot.next, size)) {
      case DefinitionRead::End:
        return;
      case DefinitionRead::Broken:
        slot.broken = true;
        ++damagedDefinitions_;
        return;
      case DefinitionRead::Hole:
        slot.holes.push_back(slot.next);
        break;
      case DefinitionRead::Committed:
        visit({buffer_.data(), size});
        break;
    }
    slot.next += size;
  }
}

void SpoolReader::newDefinitions(const std::function<void(std::span<const std::byte>)>& visit) {
  const std::uint32_t count = usableSlots();
  for (std::uint32_t index = 1; index < count; ++index) {
    if (table().state[index].load(std::memory_order_acquire) != SlotState::Definitions)
      continue;
    DefinitionSlot* slot = definitionSlot(index);
    if (slot != nullptr && !slot->broken)
      walkDefinitions(*slot, visit);
  }
}

}  // namespace sonde::recorder
