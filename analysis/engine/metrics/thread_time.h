// Where a thread's time went, by the scheduler's account and by what the probes saw it wait in:
// running, runnable without a processor, and blocked, by cause. Plain values; reading uses the
// database's thread.
//
// Running and runnable are totals of the scheduler's, read some ten times a second (probe
// `system`), so that they are exact over any stretch of time and blocked is what they leave. Which
// part of that has a cause is known between one reading and the next: as much of it as the thread
// was in calls that wait; of calls within calls the innermost counts. A call's own work is running
// time, so that calls may be longer than what the thread was blocked in them: each cause then has
// its share.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

// What a thread is blocked on. Lock: mutexes, conditions, semaphores, barriers, futexes. Message:
// sockets, pipes, polls, MPI. File: calls on files, and what no call explains while the thread had
// pages read in (major faults). Join: the end of a thread or process. Sleep: a
// time or a signal. Device: calls of a device's API.
enum class Cause : std::uint8_t { Lock, Message, File, Join, Sleep, Device };
inline constexpr std::size_t kCauses = 6;
inline constexpr std::array<const char*, kCauses> kCauseNames = {
    "lock", "message", "file", "join", "sleep", "device"};

struct ThreadTime {
  std::int64_t threadId = 0;
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
  std::int64_t wallNs = 0;  // from the first reading to the last; the sum of all below
  std::int64_t runningNs = 0;
  std::int64_t runnableNs = 0;
  std::array<std::int64_t, kCauses> blockedNs{};  // by Cause
  std::int64_t unknownNs = 0;                     // blocked, and nobody saw in what
};

// Of every thread of which there is more than one reading, in the order of their processes. Memory
// grows with the waits of all threads.
Result<std::vector<ThreadTime>> threadTimes(const store::Database& trace);

// A total at an instant, in ns.
struct TotalAt {
  std::int64_t ns = 0;
  std::int64_t total = 0;
};

struct Wait {
  Interval time;
  Cause cause;
};

// What is known of one thread. The readings of totals are in order of time, and there are two at
// least of the times; the waits are in any order and may overlap.
struct ThreadRecord {
  std::vector<TotalAt> running = {};
  std::vector<TotalAt> runnable = {};
  std::vector<TotalAt> majorFaults = {};  // how many; may be empty
  std::vector<Wait> waits = {};
};

// The arithmetic of threadTimes(): everything but the names.
ThreadTime accountFor(const ThreadRecord& record);

}  // namespace sonde::engine::metrics
