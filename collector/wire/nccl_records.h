// Records of what a collective library does on its own threads for a call that has returned. All
// are of RecordKind::CollectivePart; `detail` distinguishes them. The record of the collective
// itself may come before or after them, from another thread.
#pragma once

#include "collector/wire/records.h"

namespace sonde::wire {

// All work of the collective has ended, as far as is known now. May be written again with a later
// time; the latest is valid.
struct CollectiveEnd {
  static constexpr std::uint8_t kDetail = 0;
  static constexpr std::uint8_t kUnfinished = 0x01;  // it will never end: its end is unknown
  static constexpr std::uint8_t kDropped = 0x04;     // it does not take place and is not counted
  RecordHeader header;                               // `subject`: flags
  std::uint64_t ticks;
  std::uint64_t collective;  // Collective::number
};

// How the library carries out a collective that was called before.
struct CollectivePlan {
  static constexpr std::uint8_t kDetail = 1;
  static constexpr std::uint8_t kHasNumber = 0x01;  // `ownNumber` is set
  RecordHeader header;                              // `subject`: flags
  std::uint64_t collective;                         // Collective::number
  std::uint64_t ticks;      // the calling thread has just launched it; 0: unknown
  std::uint64_t ownNumber;  // this and the three below as in Collective
  std::uint32_t algorithm;
  std::uint32_t protocol;
  std::uint32_t channels;
  std::uint32_t reserved;
};

// The communicator is aborted: its work that has not ended by now will never end. The earliest
// record is valid. `subject`: Communicator id.
struct CommunicatorAbort {
  static constexpr std::uint8_t kDetail = 2;
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t reserved;
};

// One step of a proxy: data that the library moved through a channel in one piece. `subject`:
// Channel id.
struct ProxyStep {
  static constexpr std::uint8_t kDetail = 0x80;   // and the flags below
  static constexpr std::uint8_t kReceive = 0x01;  // else send
  static constexpr std::uint8_t kInexact = 0x02;  // `bytes` is the most that a step moves
  RecordHeader header;
  std::uint64_t beginTicks;
  std::uint64_t endTicks;    // 0: it never ended
  std::uint64_t collective;  // Collective::number; 0: unknown
  std::uint64_t offset;  // bytes sent in the same direction before, since the channel was opened
  std::uint64_t bytes;
  std::uint32_t step;  // within its channel's part of the collective
  std::uint32_t reserved;
};

static_assert(sizeof(CollectiveEnd) == 24 && sizeof(CollectivePlan) == 48);
static_assert(sizeof(CommunicatorAbort) == 24 && sizeof(ProxyStep) == 56);

}  // namespace sonde::wire
