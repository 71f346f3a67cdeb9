// The recorder's own part of the file `session`, behind what the processes of the run know of it:
// how `sonde ctl` asks and is answered, and what a recorder that takes over must know. Whoever maps
// the file may read all of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace sonde::recorder {

struct RecorderWords {
  // Records that are stored, and whose room in the spool was given back.
  std::atomic<std::uint64_t> givenBack;

  // A request is a number that only grows, shifted by 8, and a ControlVerb. `sonde ctl` writes
  // `request` when all before it are answered; the recorder writes `taken` when it has seen it,
  // then the answer, then `answered`.
  std::atomic<std::uint64_t> request;
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> answered;
  std::atomic<std::uint32_t> refused;  // 1: `answer` says why it was not done

  std::atomic<std::uint32_t> crashDumps;  // of a flight recorder, so far

  // CLOCK_REALTIME: since when the session is recorded, or paused.
  std::atomic<std::int64_t> changedNs;
  std::atomic<std::uint32_t> pauses;  // so far, with the time before --delay

  // Of a flight recorder (`--last`); times of CLOCK_MONOTONIC.
  std::atomic<std::int64_t> lastNs;           // how far back it is to reach; 0: it is none
  std::atomic<std::int64_t> completeFromNs;   // what was recorded from then on is all there
  std::atomic<std::int64_t> seenNs;           // when the recorder looked last
  std::atomic<std::uint64_t> discardedBytes;  // of records that were let go …
  std::atomic<std::uint64_t> discardedSlots;  // … with so many slots
  std::atomic<std::uint64_t> cutShortSlots;   // of these, before their time: the spool was full

  char answer[1024];
  char capture[160];  // --capture as it was given, zero-terminated; empty: all
};

}  // namespace sonde::recorder
