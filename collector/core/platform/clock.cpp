#include "collector/core/platform/clock.h"

#include "collector/core/platform/syscalls.h"
#include "collector/wire/clock_source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace sonde::core {

ClockChoice gClock;

namespace {

std::int64_t readClock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);  // vDSO: no system call, no errno
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// NOLINTNEXTLINE(modernize-use-using): `using` takes no __extension__
__extension__ typedef __int128 Int128;

std::int64_t shifted(std::int64_t ns, std::int64_t monotonic) noexcept {
  const Int128 drift =
      static_cast<Int128>(monotonic - gClock.testOriginNs) * gClock.testDriftPpb / 1'000'000'000;
  return ns + gClock.testOffsetNs + static_cast<std::int64_t>(drift);
}

bool kernelTrustsTsc() noexcept {
  const long fd =
      rawSyscall(SYS_openat, AT_FDCWD, asLong(wire::kClockSourcePath), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  char name[32] = {};
  rawSyscall(SYS_read, fd, asLong(name), sizeof name - 1);
  rawSyscall(SYS_close, fd);
  return wire::trustsTsc({name, strcspn(name, "\n")});
}

}  // namespace

void chooseClock(const char* testClock) noexcept {
  gClock = ClockChoice{};
  if (testClock != nullptr && testClock[0] != '\0') {
    char* rest = nullptr;
    gClock.testOffsetNs = strtoll(testClock, &rest, 10);
    if (*rest == ',')
      gClock.testDriftPpb = strtoll(rest + 1, nullptr, 10);
    gClock.testOriginNs = readClock(CLOCK_MONOTONIC);
    return;
  }
  if (kernelTrustsTsc())
    gClock.kind = wire::ClockKind::Tsc;
}

void stopClock() noexcept {
  gClock.stopped = true;
  gClock.kind = wire::ClockKind::Monotonic;
}

std::int64_t monotonicNs() noexcept {
  if (gClock.stopped)
    return 0;
  const std::int64_t now = readClock(CLOCK_MONOTONIC);
  return shifted(now, now);
}

ClockReading readClocks() noexcept {
  ClockReading best{};
  std::int64_t bestSpan = INT64_MAX;
  for (int tries = 0; tries < 5; ++tries) {
    const std::int64_t before = readClock(CLOCK_MONOTONIC);
    const std::int64_t realtime = readClock(CLOCK_REALTIME);
    const std::uint64_t ticks = readTicks();
    const std::int64_t after = readClock(CLOCK_MONOTONIC);
    if (after - before >= bestSpan)
      continue;
    bestSpan = after - before;
    const std::int64_t middle = before + bestSpan / 2;
    best.monotonicNs = shifted(middle, middle);
    best.realtimeNs = shifted(realtime, middle);
    best.ticks =
        gClock.kind == wire::ClockKind::Tsc ? ticks : static_cast<std::uint64_t>(best.monotonicNs);
  }
  return best;
}

}  // namespace sonde::core
