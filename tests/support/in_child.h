// Runs a test's body in a process of its own: for actions that are possible once per process, or
// end it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

namespace sonde::test {

// True if `body` ended normally in a forked child and none of its expectations failed.
inline bool inChild(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace sonde::test
