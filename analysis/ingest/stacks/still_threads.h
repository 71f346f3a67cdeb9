// The threads of another process that wait in the kernel, with what is needed to find their stacks.
// Nothing in the process is stopped, signalled or changed. Linux on x86-64; elsewhere there are
// none. A plain function; any thread.
#pragma once

#include "analysis/ingest/stacks/python_threads.h"
#include "analysis/ingest/stacks/unwinder.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::ingest {

struct StillThread {
  std::int64_t tid = 0;
  // Only the stack pointer and the instruction pointer are known; others are 0. A function that
  // keeps its frame in a register that no inner function saved ends the unwinding.
  std::array<std::uint64_t, kUnwindRegisters> registers{};
  std::vector<std::byte> stack;  // from `stackAddress` up
  std::uint64_t stackAddress = 0;
  std::vector<PythonPlace> python;  // innermost first
};

struct StillProcess {
  std::string maps;  // /proc/PID/maps
  std::vector<StillThread> threads;
};

// At most 256 threads. Threads that run, and those of a process that may not be read, are left out.
StillProcess readStillThreads(pid_t process);

}  // namespace sonde::ingest
