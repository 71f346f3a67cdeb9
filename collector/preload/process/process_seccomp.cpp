// A thread that enters seccomp's strict mode is killed at its next system call other than read,
// write and exit. One that installs a filter may be killed at any call that the filter does not
// expect. Sonde makes system calls of its own, so from then on the process records nothing, and
// wrappers only forward.

#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "collector/core/platform/hooks.h"
#include "collector/core/platform/may_read.h"
#include "collector/preload/descriptors/fd_table.h"
#include "collector/preload/stack/stack_probe.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

namespace sonde::preload {
namespace {

using PrctlCall = int (*)(int, ...);

constinit core::Real<PrctlCall> gPrctl{"prctl"};

__attribute__((constructor(102))) void resolve() {
  gPrctl();
}

void stopRecording(const char* mark) noexcept {
  if (core::enabled(wire::Probe::Process))
    core::emitMark(core::intern(mark), wire::Probe::Process);
  stopStacks();
  fd_table::stop();
  core::stopForGood();
}

}  // namespace
}  // namespace sonde::preload

// Reads the arguments as libc does, however many there are.
SONDE_EXPORT int prctl(int option, ...) {
  using namespace sonde::preload;
  va_list rest;
  va_start(rest, option);
  const unsigned long second = va_arg(rest, unsigned long);
  const unsigned long third = va_arg(rest, unsigned long);
  const unsigned long fourth = va_arg(rest, unsigned long);
  const unsigned long fifth = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_SECCOMP && second == SECCOMP_MODE_STRICT)
    stopRecording("seccomp strict mode");
  // Without a filter, the program only asks the kernel whether it supports filters.
  const auto* const filter = reinterpret_cast<const sock_fprog*>(third);
  if (option == PR_SET_SECCOMP && second == SECCOMP_MODE_FILTER &&
      sonde::core::mayReadThing(filter))
    stopRecording("seccomp filter");
  return gPrctl()(option, second, third, fourth, fifth);
}
