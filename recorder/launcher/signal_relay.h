// Passes signals that reach the recorder on to the job's main process, each once. Signals are
// blocked and read from a descriptor, so no code ever runs in a handler. One object a process, made
// on the main thread before any other thread exists (threads inherit the mask) and used there
// alone.
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

// What to do with one signal.
SignalAction actionFor(const signalfd_siginfo& signal);

// Whether it asks a program to end.
bool asksToEnd(const signalfd_siginfo& signal);
// … or says that it will be ended, as batch systems do by SIGUSR1, SIGUSR2 and SIGXCPU.
bool announcesEnd(const signalfd_siginfo& signal);

class SignalRelay {
 public:
  static Result<SignalRelay> install();
  SignalRelay(SignalRelay&& other) noexcept;
  SignalRelay& operator=(SignalRelay&&) = delete;
  ~SignalRelay();

  // Readable when a signal has come.
  int descriptor() const { return descriptor_; }

  // The next signal that has come, nothing when there is none.
  std::optional<signalfd_siginfo> next() const;

  // Sends `signal` to `target`, with the value it was queued with.
  static void forward(const signalfd_siginfo& signal, pid_t target);

  // Stops the recorder as Ctrl-Z would have; returns when it is continued.
  void suspendSelf() const;

  // Gives a forked child the mask and the dispositions that the recorder was started with.
  // Async-signal-safe.
  void restoreInChild() const noexcept;

 private:
  SignalRelay() = default;

  int descriptor_ = -1;
  sigset_t originalMask_{};
  struct sigaction originalPipe_ {};
  struct sigaction originalFileSize_ {};
};

// Ends this process as a child with this wait(2) status ended: with the same exit status, or by the
// same signal, without a core file of its own.
[[noreturn]] void exitLike(int waitStatus);

}  // namespace sonde::launcher
