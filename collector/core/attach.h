// The life of the library in a process. A constructor attaches it if the recorder's environment
// (SONDE_SESSION) is set. A forked child attaches again at its first emit. A destructor signs off.
#pragma once

namespace sonde::core {

// Begins recording into the spool folder. Call it at most once per process, before any other
// function of core. Returns false if no session records there or there is no room; the process then
// continues without Sonde. `testClock`: the value of SONDE_TEST_CLOCK, or nullptr.
bool attach(const char* folder, const char* testClock) noexcept;

// Call it in a child that has just been forked. If a signal handler forked in the middle of a
// write, that write continues in the child when the handler returns, but now in the child's own
// memory. Until the write is over the child has no spool, and its records are counted as lost.
void keepApartFromParent() noexcept;

// Stops recording in this process and its forked children. From here on no function of emit.h makes
// a system call or reads a clock.
void stopForGood() noexcept;
bool isStoppedForGood() noexcept;

// Notes that the process is about to end with this status, as exit(3) takes it. Later records are
// still recorded. The only system call is the one for the process id.
void noteExit(int status) noexcept;
// Notes that the process is about to exec (`isAbout`), or that the exec has failed.
void noteExec(bool isAbout) noexcept;

}  // namespace sonde::core
