// Finds the callers in a copy of a thread's registers and stack, through libunwind's accessors for
// another address space. Reads only that copy and the files with the code. The process itself may
// be gone. Not thread-safe.
#pragma once

#include "analysis/ingest/stacks/code_map.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sonde::ingest {

// x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8…r15 rip, in DWARF's numbering; else 0…30, sp, pc.
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
  std::span<const std::byte> stack;          // a part of its memory around the stack pointer …
  std::uint64_t stackAddress;                // … that begins here
};

struct Unwound {
  // Innermost first; each is inside the call that it waits for.
  std::vector<std::uint64_t> addresses;
  bool complete = false;  // the last one is the thread's start
};

class Unwinder {
 public:
  explicit Unwinder(CodeMap& code);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // Fills `out` and reuses its memory.
  void unwind(const ThreadCopy& thread, Unwound& out);
  // Call after CodeMap::update() found something new.
  void forget();

 private:
  struct Space;
  std::unique_ptr<Space> space_;
};

}  // namespace sonde::ingest
