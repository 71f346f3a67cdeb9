// The recorder's own part of the file `session`, after the part for the job's processes: the
// requests of `sonde ctl` with their answers, and facts for a recorder that takes over. Any process
// that maps the file may read all of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::recorder {

struct RecorderWords {
  // Number of records that are stored and whose spool room was given back.
  std::atomic<std::uint64_t> givenBack;

  // A request is an ascending number, shifted by 8, plus a ControlVerb. `sonde ctl` writes
  // `request` when all earlier requests are answered. The recorder writes `taken` when it has seen
  // it, then the answer, then `answered`.
  std::atomic<std::uint64_t> request;
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> answered;
  std::atomic<std::uint32_t> refused;  // 1: refused; `answer` is the reason

  std::atomic<std::uint32_t> crashDumps;  // number of crash dumps of a flight recorder

  // CLOCK_REALTIME: when the recording was last started or paused.
  std::atomic<std::int64_t> changedNs;
  std::atomic<std::uint32_t> pauses;  // number so far, including the time before --delay

  // For a flight recorder (`--last`); times of CLOCK_MONOTONIC.
  std::atomic<std::int64_t> lastNs;           // how long records are kept; 0: not a flight recorder
  std::atomic<std::int64_t> completeFromNs;   // all records from this time on are available
  std::atomic<std::int64_t> seenNs;           // when the recorder last looked
  std::atomic<std::uint64_t> discardedBytes;  // of discarded records …
  std::atomic<std::uint64_t> discardedSlots;  // … in this many slots
  std::atomic<std::uint64_t> cutShortSlots;   // of these, discarded too early: the spool was full

  char answer[1024];
  char capture[160];  // --capture as given, zero-terminated; empty: all
};

}  // namespace sonde::recorder
