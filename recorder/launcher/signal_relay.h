// Passes signals that reach the recorder on to the job's main process, each once. Signals are
// blocked and read from a descriptor, so no code runs in a handler. One object per process. It is
// created on the main thread before any other thread exists (threads inherit the mask), and used
// only there.
#pragma once

#include "base/result.h"

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

namespace sonde::launcher {

enum class SignalAction {
  Ignore,   // the job has it already (the terminal sends to the whole foreground group), or it is
            // not for the job
  Forward,  // to the main process
  Suspend,  // Ctrl-Z: the job has stopped, the recorder stops too
  Reap,     // SIGCHLD
};

// The action for one signal.
SignalAction actionFor(const signalfd_siginfo& signal);

// Whether the signal asks a program to end.
bool asksToEnd(const signalfd_siginfo& signal);
// … or announces that it will be ended, as batch systems do with SIGUSR1, SIGUSR2 and SIGXCPU.
bool announcesEnd(const signalfd_siginfo& signal);

class SignalRelay {
 public:
  static Result<SignalRelay> install();
  SignalRelay(SignalRelay&& other) noexcept;
  SignalRelay& operator=(SignalRelay&&) = delete;
  ~SignalRelay();

  // Readable if a signal has arrived.
  int descriptor() const { return descriptor_; }

  // The next signal that has arrived; unset: none.
  std::optional<signalfd_siginfo> next() const;

  // Sends `signal` to `target`, with the value with which it was queued.
  static void forward(const signalfd_siginfo& signal, pid_t target);

  // Stops the recorder as Ctrl-Z would; returns when it is continued.
  void suspendSelf() const;

  // Gives a forked child the signal mask and dispositions with which the recorder was started.
  // Async-signal-safe.
  void restoreInChild() const noexcept;

 private:
  SignalRelay() = default;

  int descriptor_ = -1;
  sigset_t originalMask_{};
  struct sigaction originalPipe_ {};
  struct sigaction originalFileSize_ {};
};

// Ends this process the way a child with this wait(2) status ended: with the same exit status, or
// by the same signal but without a core file.
[[noreturn]] void exitLike(int waitStatus);

}  // namespace sonde::launcher
