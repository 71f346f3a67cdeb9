#include "recorder/spool_file/spool_definitions.h"

#include "collector/wire/definitions.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace sonde::recorder {

using wire::DefinitionHeader;
using wire::kSlotBytes;
using wire::SlotState;

SpoolDefinitions::Slot* SpoolDefinitions::slotAt(const SpoolMapping& file, std::uint32_t index) {
  const wire::SlotHeader& from = file.slotHeader(index);
  const std::uint64_t seq = from.seq.load(std::memory_order_acquire);
  if (from.committed.load(std::memory_order_acquire) == 0)
    return nullptr;
  auto found = std::find_if(
      slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.index == index; });
  if (found != slots_.end() && found->seq == seq)
    return &*found;
  Slot fresh{.index = index, .seq = seq, .next = from.firstRecord, .holes = {}};
  fresh.broken =
      fresh.next < sizeof(wire::SlotHeader) || fresh.next > kSlotBytes || fresh.next % 8 != 0;
  damagedSlots_ += fresh.broken ? 1 : 0;
  if (found == slots_.end())
    found = slots_.insert(found, Slot{});
  *found = std::move(fresh);
  return &*found;
}

SpoolDefinitions::Read SpoolDefinitions::read(const std::byte* slot,
                                              std::uint32_t offset,
                                              std::uint32_t& size) {
  if (offset + sizeof(DefinitionHeader) > kSlotBytes)
    return Read::End;
  const std::byte* at = slot + offset;
  const std::uint32_t claim =
      reinterpret_cast<const std::atomic<std::uint32_t>*>(at)->load(std::memory_order_acquire);
  if (claim == 0)
    return Read::End;
  size = claim & DefinitionHeader::kSizeMask;
  if (size < sizeof(DefinitionHeader) || size % 8 != 0 || size > kSlotBytes - offset)
    return Read::Broken;
  if ((claim & DefinitionHeader::kCommitted) == 0)
    return Read::Hole;
  buffer_.assign(at, at + size);
  return Read::Committed;
}

void SpoolDefinitions::walk(const std::byte* bytes, Slot& slot, const Visit& visit) {
  std::uint32_t size = 0;
  std::erase_if(slot.holes, [&](std::uint32_t hole) {
    if (read(bytes, hole, size) != Read::Committed)
      return false;
    visit(buffer_);
    return true;
  });
  for (;;) {
    switch (read(bytes, slot.next, size)) {
      case Read::End:
        return;
      case Read::Broken:
        slot.broken = true;
        ++damagedSlots_;
        return;
      case Read::Hole:
        slot.holes.push_back(slot.next);
        break;
      case Read::Committed:
        visit(buffer_);
        break;
    }
    slot.next += size;
  }
}

void SpoolDefinitions::visitNew(SpoolMapping& file, const Visit& visit) {
  const std::uint32_t count = file.usableSlots();
  for (std::uint32_t index = 1; index < count; ++index) {
    if (file.table().state[index].load(std::memory_order_acquire) != SlotState::Definitions)
      continue;
    Slot* slot = slotAt(file, index);
    if (slot != nullptr && !slot->broken)
      walk(file.slotBase(index), *slot, visit);
  }
}

}  // namespace sonde::recorder
