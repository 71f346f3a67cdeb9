// The result of importing one file of another profiler, besides its rows. Plain values; any thread.
#pragma once

#include "analysis/model/place.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::ingest {

// Called from time to time with the number of bytes read.
using BytesRead = std::function<void(std::uint64_t)>;

struct FileFaults {
  std::uint64_t events = 0;         // unreadable ones
  std::string first;                // what is wrong with the first, and where
  std::uint64_t repaired = 0;       // bytes of invalid UTF-8, or control characters in a text
  std::uint64_t firstRepaired = 0;  // where the first is
  std::string cutShort;             // why the rest of the file was not read; empty: it was

  // Counts one more unreadable event. Calls `what` only for the first.
  template <typename What>
  void add(const What& what) {
    if (events++ == 0)
      first = what();
  }
};

// Ends of arrows (flows) without a link.
struct LooseArrows {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  // offset of the first one in the file

  void add(std::uint64_t at) { first = count++ == 0 ? at : std::min(first, at); }
};

struct ImportedFile {
  std::map<std::string, std::uint64_t, std::less<>> events;  // by category
  // Events that became rows; unset: all of `events` except those not kept.
  std::optional<std::uint64_t> kept;
  std::uint64_t notKept = 0;      // redundant events
  std::uint64_t unsupported = 0;  // events of kinds that are not imported
  std::uint64_t negative = 0;     // negative durations, treated as zero
  std::uint64_t badTimes = 0;     // events without a readable time, left out
  std::uint64_t impossible = 0;   // events with an impossible time, left out
  std::uint64_t unpaired = 0;     // ends without a begin, left out
  LooseArrows arrows;             // left out
  FileFaults faults;
  FileFaults values;  // single unreadable values: their events are kept without them
  std::vector<std::string> warnings;  // other warnings, one line each
  model::ProcessId process{};         // the file's process
  std::set<std::int64_t> ranks;
  model::OptionalInt worldSize{};
};

}  // namespace sonde::ingest
