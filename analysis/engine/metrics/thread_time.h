// Where a thread's time went, from the scheduler's totals and the waits that probes recorded:
// running, runnable without a processor, and blocked, by cause. Plain values; reading uses the
// database's thread.
//
// Running and runnable are totals of the scheduler, read about ten times a second (probe `system`).
// So they are exact over any stretch between readings; the rest is blocked. The cause is known per
// stretch: the part during which the thread was in calls that wait. In nested calls the innermost
// counts. A call's own work is running time, so calls may be longer than the blocked time in them;
// the causes are then scaled down.
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

// Causes of blocking. Lock: mutexes, conditions, semaphores, barriers, futexes. Message: sockets,
// pipes, polls, MPI. File: calls on files, and unexplained time in which pages of the thread were
// read in (major faults). Join: the end of a thread or process. Sleep: a time or a signal. Device:
// calls of a device's API.
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
  std::int64_t wallNs = 0;  // from the first reading to the last; sum of all below
  std::int64_t runningNs = 0;
  std::int64_t runnableNs = 0;
  std::array<std::int64_t, kCauses> blockedNs{};  // by Cause
  std::int64_t unknownNs = 0;                     // blocked, cause not recorded
};

// Covers threads with at least two readings, in the order of their processes. Memory grows with the
// waits of all threads.
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

// The records of one thread. Readings are in order of time; there are at least two of each time.
// Waits are in any order and may overlap.
struct ThreadRecord {
  std::vector<TotalAt> running = {};
  std::vector<TotalAt> runnable = {};
  std::vector<TotalAt> majorFaults = {};  // counts; may be empty
  std::vector<Wait> waits = {};
};

// The arithmetic of threadTimes(), without the names.
ThreadTime accountFor(const ThreadRecord& record);

}  // namespace sonde::engine::metrics
