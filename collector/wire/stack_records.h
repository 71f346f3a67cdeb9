// Copies of threads' stacks, for the recorder to unwind. They are written by signal handlers, into
// slots of their own (SlotHeader::kSamples).
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

// How much of a stack is copied at most.
inline constexpr std::uint32_t kMaxStackBytes = 28 * 1024;
// How far below the stack pointer that begins: functions that call nobody may use it.
inline constexpr std::uint32_t kRedZoneBytes = 128;

// A function of the interpreter, innermost first.
struct PythonFrame {
  static constexpr std::uint32_t kEntry = 0x01;  // called by native code, not by Python
  std::uint32_t name;                            // string
  std::uint32_t path;                            // string
  std::uint32_t line;                            // where the function begins; 0: not known
  std::uint32_t flags;
};

// Where its thread was. Followed by kStackRegisters u64, `pythonFrames` PythonFrame, and
// `header.subject` bytes of stack from `stackAddress` up. `detail`: flags.
struct StackSample {
  static constexpr std::uint8_t kTruncated = 0x01;  // the stack goes on above
  static constexpr std::uint8_t kEvent = 0x02;      // taken at the end of what began at `ticks`
  static constexpr std::uint8_t kBlocked = 0x04;    // in which the thread waited
  RecordHeader header;
  std::uint64_t ticks;
  std::uint64_t weight;  // CPU time that it stands for, in ns; of an event: ticks that it waited
  std::uint64_t stackAddress;
  // With StackRule::kWall, of a sample: ticks since the one before it in which the thread did not
  // wait in an event. Else 0.
  std::uint64_t otherTicks;
  std::uint32_t pythonFrames;
  std::uint32_t correlation;  // of an event: the CUDA call's that it is; 0: it is none
};

static_assert(sizeof(StackSample) == 48 && sizeof(PythonFrame) == 16);
static_assert(sizeof(StackSample) + kStackRegisters * std::size_t{8} + 512 * sizeof(PythonFrame) +
                  kMaxStackBytes <
              0xffff);

}  // namespace sonde::wire
