// The signal by which threads are interrupted. It is SIGURG, of which a process that does not wait
// for it does not notice anything, so that one that comes late harms no new program. A host that
// wants it for itself gets it, and stacks are looked at no more.
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

// What is called, once, before the host gets it.
void onSignalLost(void (*lost)()) noexcept;

// In a forked child: it is that one's.
void ownSignalInChild() noexcept;

}  // namespace sonde::preload::stack
