// The signal by which threads are interrupted. It is SIGURG, of which a process that does not wait
// for it does not notice anything, so that one that comes late harms no new program. A host that
// wants it for itself, by a handler or by waiting for it, gets it, and stacks are looked at no
// more. One that waits for all signals there are does not mean this one, and does not get it.
#pragma once

#include <signal.h>

namespace sonde::preload::stack {

inline constexpr int kSignal = SIGURG;

using Handler = void (*)(int, siginfo_t*, void*);

// Installs the handler unless the host has one. Blocks all signals while it runs; calls that it
// interrupts go on. False: it is the host's.
bool takeSignal(Handler handler) noexcept;

// Whether the host has not taken it since.
bool hasSignal() noexcept;

// The host may have it from now on, which is not told.
void forgetSignal() noexcept;

// Who is asked when the host wants it. Before takeSignal().
struct SignalOwner {
  // Whether the process has memory of its own: a child of vfork sets what happens with signals for
  // itself alone, and has no timers.
  bool (*hasOwnMemory)();
  // Called once, before the host gets it.
  void (*lost)();
};
void setSignalOwner(const SignalOwner& owner) noexcept;

}  // namespace sonde::preload::stack
