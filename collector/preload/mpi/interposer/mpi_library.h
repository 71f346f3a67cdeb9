// The MPI of this process, the recorder of its calls, and the callers whose calls count. Any
// thread.
#pragma once

#include "collector/preload/loading/interposed_library.h"
#include "collector/preload/mpi/interposer/mpi_abi.h"
#include "collector/preload/mpi/mpi_hooks.h"

namespace sonde::preload::mpi {

extern InterposedLibrary gMpi;

// A function of MPI that Sonde intercepts. Constant-initialised.
template <typename Function>
class RealMpi : public Interposed<Function> {
 public:
  constexpr explicit RealMpi(const char* name) noexcept : Interposed<Function>(gMpi, name) {}
};

// The state between MPI's start and end; constant meanwhile. `active` is set last.
struct Session {
  const Hooks* hooks;
  const Abi* abi;
  bool manyThreads;  // several threads may be in MPI at once
  std::atomic<bool> active;
};
extern Session gSession;

// Whether calls are inspected: MPI has started, Sonde supports it, and the run records it.
inline bool isActive() noexcept {
  return __builtin_expect(gSession.active.load(std::memory_order_acquire), 1);
}

inline std::uint64_t now() noexcept {
#if defined(__x86_64__)
  if (__builtin_expect(gSession.hooks->clock->kind == wire::ClockKind::Tsc, 1))
    return __rdtsc();
#endif
  return gSession.hooks->ticks();
}

// The recorder's table; nullptr: no recorder. Set before the program's own code runs.
const Hooks* findHooks() noexcept;

// A variable of the MPI; nullptr: it has none with this name.
void* findData(const char* symbol) noexcept;

// The caller of a wrapper.
enum class Caller : unsigned char {
  Program,  // or a library of it
  Library,  // MPI itself: calls inside its functions are not the program's
  // MPI's Fortran interface, which calls the C functions for the program, perhaps as PMPI_…
  Fortran,
};

// The code range of one object that has called. `end` is written last.
struct CallerRange {
  std::uintptr_t begin;
  std::atomic<std::uintptr_t> end;  // 0: free
  Caller caller;
};
inline constexpr std::size_t kCallerRanges = 32;
extern CallerRange gCallers[kCallerRanges];

Caller learnCaller(std::uintptr_t address) noexcept;

inline Caller callerAt(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const CallerRange& range : gCallers) {
    const std::uintptr_t end = range.end.load(std::memory_order_acquire);
    if (at < end && at >= range.begin)
      return range.caller;
  }
  return learnCaller(at);
}

// The fixed name of a function, interned at its first use. Constant-initialised.
class Name {
 public:
  constexpr explicit Name(const char* text) noexcept : text_(text) {}
  std::uint32_t operator()() noexcept {
    std::uint32_t id = id_.load(std::memory_order_relaxed);
    if (__builtin_expect(id == 0, 0)) {
      id = gSession.hooks->intern(text_);
      id_.store(id, std::memory_order_relaxed);
    }
    return id;
  }

 private:
  const char* text_;
  std::atomic<std::uint32_t> id_{0};
};

}  // namespace sonde::preload::mpi
