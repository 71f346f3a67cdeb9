// Finds who called whom from a copy of a thread's registers and stack, by libunwind's accessors for
// another address space: of memory there is only that copy and the files that the code is from.
// Nothing is asked of the process, which may be gone. Not thread-safe.
#pragma once

#include "analysis/ingest/stacks/code_map.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sonde::ingest {

// x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8…r15 rip, as DWARF numbers them; else 0…30, sp, pc.
#ifdef __x86_64__
inline constexpr std::size_t kUnwindRegisters = 17;
inline constexpr std::size_t kStackPointer = 7;
inline constexpr std::size_t kInstructionPointer = 16;
#else
inline constexpr std::size_t kUnwindRegisters = 33;
inline constexpr std::size_t kStackPointer = 31;
inline constexpr std::size_t kInstructionPointer = 32;
#endif

struct ThreadCopy {
  std::span<const std::uint64_t> registers;  // kUnwindRegisters
  std::span<const std::byte> stack;          // of its memory, around the stack pointer …
  std::uint64_t stackAddress;                // … from here on
};

struct Unwound {
  // Innermost first, each inside the call that it waits for.
  std::vector<std::uint64_t> addresses;
  bool complete = false;  // the last one is where the thread began
};

class Unwinder {
 public:
  explicit Unwinder(CodeMap& code);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // Fills `out`, whose memory is used again.
  void unwind(const ThreadCopy& thread, Unwound& out);
  // After CodeMap::update() has brought something new.
  void forget();

 private:
  struct Space;
  std::unique_ptr<Space> space_;
};

}  // namespace sonde::ingest
