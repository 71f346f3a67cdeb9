// Walks over the definitions of a process while it continues writing them.
//
// Part of one SpoolReader, on its thread.
#pragma once

#include "recorder/spool_file/spool_mapping.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sonde::recorder {

class SpoolDefinitions {
 public:
  // `definition`: a copy with header.claim's size, which is at least that of a DefinitionHeader.
  using Visit = std::function<void(std::span<const std::byte> definition)>;

  // Calls `visit` for every definition committed since the last call. All calls are with one file.
  void visitNew(SpoolMapping& file, const Visit& visit);
  // Number of definition slots that were left unread because their chain of records is broken.
  std::uint32_t damagedSlots() const noexcept { return damagedSlots_; }

 private:
  struct Slot {
    std::uint32_t index = 0;
    std::uint64_t seq = 0;
    std::uint32_t next = 0;            // offset of the first record not walked over yet
    std::vector<std::uint32_t> holes;  // claimed but not yet committed
    bool broken = false;
  };
  enum class Read { Committed, Hole, End, Broken };

  Slot* slotAt(const SpoolMapping& file, std::uint32_t index);
  // Copies a definition to buffer_. Requires: `offset` is a multiple of 8 inside the slot.
  Read read(const std::byte* slot, std::uint32_t offset, std::uint32_t& size);
  void walk(const std::byte* bytes, Slot& slot, const Visit& visit);

  std::vector<Slot> slots_;
  std::vector<std::byte> buffer_;
  std::uint32_t damagedSlots_ = 0;
};

}  // namespace sonde::recorder
