// The life of the library in a process: attached by a constructor when the recorder's environment
// (SONDE_SESSION) is there, again in each forked child at its first emit, and signed off by a
// destructor.
#pragma once

namespace sonde::core {

// Begins recording into the spool folder. At most once in a process, before anything else of core
// is called. False when there is no session that records there, or no room; the process then goes
// on without Sonde. `testClock`: the value of SONDE_TEST_CLOCK, or nullptr.
bool attach(const char* folder, const char* testClock) noexcept;

// To be called in a child that has just been forked. When a signal handler forked it in the middle
// of a write, that goes on in the child when the handler returns: from now on in the child's own
// memory. Until it is over the child has no spool, and what it records is counted as lost.
void keepApartFromParent() noexcept;

// Nothing is recorded in this process and its forked children any more. From here on no function of
// emit.h makes a system call or reads a clock.
void stopForGood() noexcept;
bool isStoppedForGood() noexcept;

// The process is about to end with this status, as exit(3) takes it. What it records after that is
// recorded all the same. Asks the kernel for the process's id alone.
void noteExit(int status) noexcept;
// The process is about to become another program, or that has failed.
void noteExec(bool isAbout) noexcept;

}  // namespace sonde::core
