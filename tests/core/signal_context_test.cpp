#include "collector/core/platform/signal_context.h"

#include "tests/support/in_child.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

namespace sonde::core {
namespace {

bool gInHandler = false;

// Checks the answer in a handler and, with the handler still installed, outside of it.
void expectToKnow() {
  signal(SIGUSR1, [](int) { gInHandler = maybeInSignalHandler(); });
  raise(SIGUSR1);
  EXPECT_TRUE(gInHandler);
  EXPECT_FALSE(maybeInSignalHandler());
}

// From now on the system call fails with `error`. False if that is not possible.
bool forbid(unsigned number, int error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof rules / sizeof *rules, rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#if defined(__x86_64__)
TEST(SignalContext, IsThatOfAHandler) {
  EXPECT_TRUE(test::inChild(expectToKnow));
}

// An old handler's frame further down in the stack is inside this array, which is not written.
[[gnu::noinline]] bool saysWithOldFrames() {
  char room[32768];
  asm volatile("" ::"r"(room) : "memory");
  const bool says = maybeInSignalHandler();
  asm volatile("" ::"r"(room) : "memory");
  return says;
}

[[gnu::noinline]] void raiseFurtherDown(int signal) {
  volatile char room[8192];
  room[0] = 0;
  raise(signal);
  room[1] = room[0];
}

TEST(SignalContext, IsNotThatOfAHandlerThatHasReturned) {
  EXPECT_TRUE(test::inChild([] {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE})
      signal(number, SIG_DFL);  // a sanitizer's handlers may nest
    signal(SIGUSR1, [](int) {});
    raiseFurtherDown(SIGUSR1);
    EXPECT_FALSE(saysWithOldFrames());
  }));
}

// Its own signal is not blocked while it runs, so an old frame cannot be distinguished from an
// active one.
TEST(SignalContext, IsThatOfAHandlerThatMayNest) {
  EXPECT_TRUE(test::inChild([] {
    struct sigaction action {};
    action.sa_handler = [](int) { gInHandler = maybeInSignalHandler(); };
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, nullptr);
    raiseFurtherDown(SIGUSR1);
    EXPECT_TRUE(gInHandler);
    EXPECT_TRUE(saysWithOldFrames());
  }));
}

TEST(SignalContext, IsKnownWhereAContainerForbidsToReadProcesses) {
  if (!test::inChild([] { EXPECT_TRUE(forbid(SYS_process_vm_readv, EPERM)); }))
    GTEST_SKIP() << "no system call filters here";
  for (const int error : {EPERM, ENOSYS}) {
    EXPECT_TRUE(test::inChild([&] {
      ASSERT_TRUE(forbid(SYS_process_vm_readv, error));
      expectToKnow();
    })) << error;
  }
}
#endif

TEST(SignalContext, IsNotRuledOutWhereNobodyMayLook) {
  EXPECT_TRUE(test::inChild([] {
    signal(SIGUSR1, [](int) {});
    if (!forbid(SYS_process_vm_readv, EPERM) || !forbid(SYS_openat, EACCES))
      return;  // no system call filters here
    EXPECT_TRUE(maybeInSignalHandler());
  }));
}

TEST(SignalContext, IsNoneInAProgramWithoutHandlers) {
  EXPECT_TRUE(test::inChild([] {
    for (int number = 1; number < NSIG; ++number)
      signal(number, SIG_DFL);
    EXPECT_FALSE(maybeInSignalHandler());
  }));
}

}  // namespace
}  // namespace sonde::core
