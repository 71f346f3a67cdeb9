// Shared by the targets of tests/e2e/sync_*_test.py: threads that are known to sleep, and the
// expected results that they print.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

inline int ownTid() {
  return static_cast<int>(syscall(SYS_gettid));
}

inline void check(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(1);
}

// Waits until the thread or process of this file has slept for a while. It sleeps only in the call
// under test.
inline void awaitSleepOf(const std::string& statFile) {
  using namespace std::chrono_literals;
  for (int asleep = 0; asleep < 5; std::this_thread::sleep_for(1ms)) {
    std::string line;
    std::getline(std::ifstream(statFile), line);
    const auto state = line.rfind(") ");
    asleep = state != std::string::npos && line[state + 2] == 'S' ? asleep + 1 : 0;
  }
}

// `tid`: 0 until the thread has started.
inline void awaitAsleep(const std::atomic<int>& tid) {
  while (tid.load() == 0)
    std::this_thread::yield();
  awaitSleepOf("/proc/self/task/" + std::to_string(tid.load()) + "/stat");
}

inline long nowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000L + now.tv_nsec;
}

inline timespec after(clockid_t clock, long milliseconds) {
  timespec until{};
  clock_gettime(clock, &until);
  until.tv_nsec += milliseconds % 1000 * 1'000'000;
  until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  return until;
}
