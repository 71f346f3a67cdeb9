// Copies of threads' stacks, for the recorder to unwind. Signal handlers write them, into separate
// slots (SlotHeader::kSamples).
#pragma once

#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::wire {

// The registers as DWARF numbers them: on x86-64 rax rdx rcx rbx rsi rdi rbp rsp r8…r15 rip, on
// AArch64 x0…x30 sp pc.
#if defined(__x86_64__)
inline constexpr std::uint32_t kStackRegisters = 17;
#else
inline constexpr std::uint32_t kStackRegisters = 33;
#endif

// The most bytes of a stack that are copied.
inline constexpr std::uint32_t kMaxStackBytes = 28 * 1024;
// The copy starts this far below the stack pointer, because leaf functions may use that memory.
inline constexpr std::uint32_t kRedZoneBytes = 128;

// A function of the interpreter, innermost first.
struct PythonFrame {
  static constexpr std::uint32_t kEntry = 0x01;  // called by native code, not by Python
  std::uint32_t name;                            // string
  std::uint32_t path;                            // string
  std::uint32_t line;                            // where the function begins; 0: unknown
  std::uint32_t flags;
};

// The stack of a thread at one time. kStackRegisters u64 follow, then `pythonFrames` PythonFrame,
// then `header.subject` bytes of the stack from `stackAddress` up. `detail`: flags.
struct StackSample {
  static constexpr std::uint8_t kTruncated = 0x01;  // the stack continues above the copy
  // Taken at the end of an event that began at `ticks`
  static constexpr std::uint8_t kEvent = 0x02;
  static constexpr std::uint8_t kBlocked = 0x04;  // an event in which the thread waited
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t weight;  // for a sample: ns of CPU time it represents; for an event: ticks waited
  std::uint64_t stackAddress;
  // With StackRule::kWall, for a sample: ticks since the previous sample, without those that the
  // thread waited in events. Else 0.
  std::uint64_t otherTicks;
  std::uint32_t pythonFrames;
  std::uint32_t correlation;  // for an event: the correlation of its CUDA call; 0: not a CUDA call
};

static_assert(sizeof(StackSample) == 48 && sizeof(PythonFrame) == 16);
static_assert(sizeof(StackSample) + kStackRegisters * std::size_t{8} + 512 * sizeof(PythonFrame) +
                  kMaxStackBytes <
              0xffff);

}  // namespace sonde::wire
