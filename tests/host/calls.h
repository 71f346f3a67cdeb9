// The compared calls: one function per libc function that a library of Sonde intercepts. It chooses
// the arguments, logs them, makes the call and logs the result.
#pragma once

#include "tests/host/context.h"

namespace host {

enum CallTraits : unsigned {
  kInVfork = 1,    // a child of vfork may make it
  kAlone = 2,      // its result depends on other threads
  kTableOnly = 4,  // ends the process
};

struct NamedCall {
  const char* name;
  void (*run)(Context&);
  unsigned traits;
};

struct CallList {
  const NamedCall* calls;
  int count;
};

CallList streamCalls() noexcept;
CallList fileCalls() noexcept;
CallList socketCalls() noexcept;
CallList lifeCalls() noexcept;
CallList makeCalls() noexcept;
CallList stdioCalls() noexcept;
CallList execCalls() noexcept;
CallList childCalls() noexcept;
CallList waitCalls() noexcept;
CallList lockCalls() noexcept;
CallList threadCalls() noexcept;
CallList signalCalls() noexcept;
CallList memoryCalls() noexcept;

template <std::size_t kCount>
CallList listOf(const NamedCall (&calls)[kCount]) noexcept {
  return {calls, static_cast<int>(kCount)};
}

// In a forked child: nobody owns the locks that its parent's threads held.
void forgetLocks() noexcept;

// All calls, in a fixed order.
int callCount() noexcept;
const NamedCall& callAt(int number) noexcept;

}  // namespace host
