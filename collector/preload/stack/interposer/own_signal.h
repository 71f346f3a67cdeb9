// The signal that interrupts threads. It is SIGURG: a process that does not wait for it never
// notices it, so a late one does no harm in a new program. If the host wants it, with a handler or
// by waiting for it, the host gets it and sampling stops. A host that waits for all signals does
// not mean this one, and does not get it.
#pragma once

#include <signal.h>

namespace sonde::preload::stack {

inline constexpr int kSignal = SIGURG;

using Handler = void (*)(int, siginfo_t*, void*);

// Installs the handler unless the host has one. While it runs, all signals are blocked; interrupted
// calls are restarted. False: the host has a handler.
bool takeSignal(Handler handler) noexcept;

// Whether the host has not taken the signal since.
bool hasSignal() noexcept;

// Lets the host have the signal from now on, without calling lost().
void forgetSignal() noexcept;

// Called when the host wants the signal. Set before takeSignal().
struct SignalOwner {
  // Whether the process has its own memory. A child of vfork sets signal actions only for itself,
  // and has no timers.
  bool (*hasOwnMemory)();
  // Called once, before the host gets it.
  void (*lost)();
};
void setSignalOwner(const SignalOwner& owner) noexcept;

}  // namespace sonde::preload::stack
