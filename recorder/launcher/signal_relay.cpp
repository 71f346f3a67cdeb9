#include "recorder/launcher/signal_relay.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace sonde::launcher {

namespace {

// Not passed to the job: signals that the kernel raises for an instruction of the recorder, signals
// that stop a background process that uses the terminal, and those that the recorder ignores.
constexpr int kNotRelayed[] = {SIGSEGV,
                               SIGBUS,
                               SIGFPE,
                               SIGILL,
                               SIGTRAP,
                               SIGABRT,
                               SIGSYS,
                               SIGTTIN,
                               SIGTTOU,
                               SIGPIPE,
                               SIGXFSZ,
                               SIGSTOP,
                               SIGKILL};

bool fromTerminal(int number) {
  return number == SIGINT || number == SIGQUIT || number == SIGTSTP || number == SIGHUP ||
         number == SIGWINCH || number == SIGCONT;
}

sigset_t relayedSignals() {
  sigset_t set;
  sigfillset(&set);
  for (const int number : kNotRelayed)
    sigdelset(&set, number);
  return set;
}

}  // namespace

SignalAction actionFor(const signalfd_siginfo& signal) {
  const int number = static_cast<int>(signal.ssi_signo);
  if (number == SIGCHLD)
    return SignalAction::Reap;
  if (signal.ssi_code == SI_KERNEL && number == SIGTSTP)
    return SignalAction::Suspend;
  if (signal.ssi_code == SI_KERNEL && fromTerminal(number))
    return SignalAction::Ignore;
  return SignalAction::Forward;
}

bool asksToEnd(const signalfd_siginfo& signal) {
  const auto number = static_cast<int>(signal.ssi_signo);
  return number == SIGINT || number == SIGTERM || number == SIGQUIT || number == SIGHUP;
}

bool announcesEnd(const signalfd_siginfo& signal) {
  const auto number = static_cast<int>(signal.ssi_signo);
  return asksToEnd(signal) || number == SIGUSR1 || number == SIGUSR2 || number == SIGXCPU;
}

Result<SignalRelay> SignalRelay::install() {
  SignalRelay relay;
  const sigset_t relayed = relayedSignals();
  if (const int error = pthread_sigmask(SIG_BLOCK, &relayed, &relay.originalMask_); error != 0)
    return Error{ErrorCode::Io,
                 fmt::format("cannot block signals: {}", std::generic_category().message(error))};
  relay.descriptor_ = signalfd(-1, &relayed, SFD_CLOEXEC | SFD_NONBLOCK);
  if (relay.descriptor_ < 0)
    return Error{ErrorCode::Io,
                 fmt::format("no signalfd: {}", std::generic_category().message(errno))};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &relay.originalPipe_);
  sigaction(SIGXFSZ, &ignore, &relay.originalFileSize_);
  return relay;
}

SignalRelay::SignalRelay(SignalRelay&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      originalMask_(other.originalMask_),
      originalPipe_(other.originalPipe_),
      originalFileSize_(other.originalFileSize_) {}

SignalRelay::~SignalRelay() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

std::optional<signalfd_siginfo> SignalRelay::next() const {
  signalfd_siginfo signal{};
  const ssize_t got = read(descriptor_, &signal, sizeof signal);
  return got == sizeof signal ? std::optional(signal) : std::nullopt;
}

void SignalRelay::forward(const signalfd_siginfo& signal, pid_t target) {
  const int number = static_cast<int>(signal.ssi_signo);
  if (signal.ssi_code != SI_QUEUE) {
    kill(target, number);
    return;
  }
  sigval value{};
  value.sival_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(signal.ssi_ptr));
  sigqueue(target, number, value);
}

void SignalRelay::suspendSelf() const {
  // Uses SIGTSTP, not SIGSTOP: the kernel ignores it in an orphaned process group, which nobody
  // could continue.
  struct sigaction plain {
  }, previous{};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &plain, &previous);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  kill(getpid(), SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigaction(SIGTSTP, &previous, nullptr);
}

void SignalRelay::restoreInChild() const noexcept {
  sigaction(SIGPIPE, &originalPipe_, nullptr);
  sigaction(SIGXFSZ, &originalFileSize_, nullptr);
  sigprocmask(SIG_SETMASK, &originalMask_, nullptr);
}

void exitLike(int waitStatus) {
  if (!WIFSIGNALED(waitStatus))
    std::_Exit(WEXITSTATUS(waitStatus));
  const int number = WTERMSIG(waitStatus);
  const rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  prctl(PR_SET_DUMPABLE, 0);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(number, &plain, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  kill(getpid(), number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::_Exit(128 +
             number);  // a signal that does not end a process, so the child cannot have died of it
}

}  // namespace sonde::launcher
