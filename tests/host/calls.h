// The calls that are compared: a function for each of libc's that a library of Sonde stands in
// front of, which chooses its arguments, logs them, calls and logs what came.
#pragma once

#include "tests/host/context.h"

namespace host {

enum CallTraits : unsigned {
  kInVfork = 1,    // a child of vfork may make it
  kAlone = 2,      // what comes of it depends on what other threads do
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

// In a forked child: what its parent's threads held is nobody's.
void forgetLocks() noexcept;

// All of them, in one order.
int callCount() noexcept;
const NamedCall& callAt(int number) noexcept;

}  // namespace host
